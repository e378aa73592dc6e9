import { invariant } from '../../base/invariant.ts';
import { logGamma } from './log-gamma.ts';

/** Correlation above which a beta-binomial would be U-shaped, which no latency count is. */
const maxCorrelation = 0.5;
/** Correlation below which the beta-binomial equals the binomial to the last digit that matters. */
const minCorrelation = 1e-9;
/** Part of a sum below which further terms no longer change it. */
const negligible = 1e-15;

/**
 * Natural logarithm of P(K >= k), where K counts how many of n requests exceed a threshold that each exceeds
 * with probability p, and the variance of K is `dispersion` times the binomial one. Logarithmic, so that a
 * p-value of 1e-400 still compares.
 *
 * K is beta-binomial of that variance, with correlation ρ = (dispersion - 1) / (n - 1). `PeaksOverThreshold`
 * covers the extremes of an overdispersed series, which a variance does not bound.
 *
 * @param k exceedances; a fraction is interpolated between its neighbours, in the logarithm.
 * @param n requests, a whole number.
 * Cost: nine logarithm-gammas and some `dispersion * 35` terms, a microsecond or two.
 */
export function logExceedanceTail(k: number, n: number, p: number, dispersion: number): number {
  invariant(p > 0 && p < 1, `a probability must lie in (0, 1): it is ${p}`);
  invariant(dispersion >= 1, `a dispersion must be at least 1: it is ${dispersion}`);
  if (k > n) return Number.NEGATIVE_INFINITY;
  const correlation = n > 1 ? Math.min((dispersion - 1) / (n - 1), maxCorrelation) : 0;
  const pmf = correlation < minCorrelation ? binomial(n, p) : betaBinomial(n, p, correlation);
  const low = Math.floor(k);
  const fraction = k - low;
  const atLow = logTail(low, n, pmf, n * p);
  if (fraction === 0 || low >= n) return atLow;
  return atLow + fraction * (logTail(low + 1, n, pmf, n * p) - atLow);
}

function logTail(k: number, n: number, pmf: Pmf, mean: number): number {
  if (k <= 0) return 0;
  if (k > n) return Number.NEGATIVE_INFINITY;
  if (k > mean) {
    // Terms only fall above the mean: factoring out the first one avoids underflow.
    let term = 1;
    let sum = 1;
    for (let j = k; j < n; j++) {
      const ratio = pmf.ratio(j);
      term *= ratio;
      sum += term;
      if (ratio < 1 && term < negligible * sum * (1 - ratio)) break;
    }
    return Math.min(0, pmf.log(k) + Math.log(sum));
  }
  let term = Math.exp(pmf.log(k - 1));
  let below = term;
  for (let j = k - 2; j >= 0; j--) {
    const ratio = pmf.ratio(j);
    term /= ratio;
    below += term;
    if (ratio > 1 && term < negligible * below * (1 - 1 / ratio)) break;
  }
  return Math.log1p(-Math.min(below, 1 - 1e-16));
}

interface Pmf {
  /** ln P(K = j). */
  log(j: number): number;
  /** P(K = j + 1) / P(K = j). */
  ratio(j: number): number;
}

function logChoose(n: number, k: number): number {
  return logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1);
}

function binomial(n: number, p: number): Pmf {
  const odds = p / (1 - p);
  return {
    log: (j) => logChoose(n, j) + j * Math.log(p) + (n - j) * Math.log1p(-p),
    ratio: (j) => ((n - j) / (j + 1)) * odds,
  };
}

function betaBinomial(n: number, p: number, correlation: number): Pmf {
  const mass = (1 - correlation) / correlation;
  const a = p * mass;
  const b = (1 - p) * mass;
  const logBeta = (x: number, y: number) => logGamma(x) + logGamma(y) - logGamma(x + y);
  return {
    log: (j) => logChoose(n, j) + logBeta(j + a, n - j + b) - logBeta(a, b),
    ratio: (j) => ((n - j) / (j + 1)) * ((j + a) / (n - j - 1 + b)),
  };
}
