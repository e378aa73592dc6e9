import { MarkovChain } from './markov-chain.ts';

/** A standard normal in steps. */
export interface NormalChain {
  /** Value of each state, in ascending order. */
  readonly levels: readonly number[];
  readonly chain: MarkovChain;
}

/**
 * Approximates a standard normal autoregression of first order by a chain of evenly spaced levels. The level
 * is the sum of as many coins, each of which is turned at times (Rouwenhorst 1995). Mean, variance and
 * autocorrelations are exact, however slowly it moves (Kopecky and Suen, "Finite state Markov-chain
 * approximations to highly persistent processes", 2010).
 */
export function normalChain(keep: number, states: number): NormalChain {
  const coins = states - 1;
  const stays = (1 + keep) / 2;
  const rows = Array.from({ length: states }, (_, heads) =>
    sumOf(binomial(heads, stays), binomial(coins - heads, 1 - stays)),
  );
  const levels = rows.map((_, heads) => (2 * heads - coins) / Math.sqrt(coins));
  return { levels, chain: new MarkovChain(rows, binomial(coins, 0.5)) };
}

/** Probabilities of 0, 1, … heads of so many coins. */
function binomial(coins: number, p: number): number[] {
  // From the likelier side, where the first term is not tiny.
  if (p > 0.5) return binomial(coins, 1 - p).reverse();
  const heads = [(1 - p) ** coins];
  for (let n = 1; n <= coins; n++) {
    heads.push(((heads[n - 1] as number) * (coins - n + 1) * p) / (n * (1 - p)));
  }
  return heads;
}

/** The distribution of the sum of two independent counts. */
function sumOf(a: readonly number[], b: readonly number[]): Float64Array {
  const sum = new Float64Array(a.length + b.length - 1);
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < b.length; j++) {
      sum[i + j] = (sum[i + j] as number) + (a[i] as number) * (b[j] as number);
    }
  }
  return sum;
}
