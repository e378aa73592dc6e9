import { wholeOf } from '../../contract/blame-text.ts';
import { formatShare, formatSignedMs, wholePercent } from '../../contract/format.ts';
import { blamedQuantile, type CompareOptions, decidingQuantiles } from '../compare-options.ts';
import type { ComparedMinute } from '../compared-minute.ts';
import type { QuantileComparison, StageComparison, Verdict } from '../comparison.ts';
import { shareOf, type VersionTest } from '../version-test.ts';
import { absentReason, type KnownNames } from './absent-reason.ts';

/** Share of the excess from which on a stage is named. */
const namedShare = 0.3;

export interface Reasoned {
  readonly candidate: string;
  readonly baseline: string;
  readonly minutes: readonly ComparedMinute[];
  readonly known?: KnownNames;
  readonly phrases: { readonly candidate: string; readonly baseline: string };
  readonly verdict: Verdict;
  readonly test: VersionTest;
  readonly quantiles: readonly QuantileComparison[];
  readonly stages: readonly StageComparison[];
  /** 0 where no more can come. */
  readonly missing_requests: number;
  readonly minutesEach?: number;
  readonly options: CompareOptions;
}

/** Says why, in a sentence. Names of versions are as they came: escape them where they are shown. */
export function reasonOf(of: Reasoned): string {
  if (of.verdict === 'fail') return failReason(of);
  return of.verdict === 'pass' ? passReason(of) : inconclusiveReason(of);
}

function failReason(of: Reasoned): string {
  const { failed } = of.test;
  const isOver = failed !== undefined && !of.test.isBeyondMargin(failed.endpoint);
  const since = isOver ? `; failed at ${new Date(failed.startMs).toISOString()}` : '';
  return `${differenceText(of)}${since}`;
}

function differenceText({ test, phrases, quantiles, stages }: Reasoned): string {
  const endpoint = test.failed?.endpoint;
  if (endpoint === 'failures') {
    const now = formatShare(shareOf(test.candidate));
    return `${now} of requests fail, against ${formatShare(shareOf(test.baseline))} of ${phrases.baseline}`;
  }
  // The deepest tail says most, and is what is blamed on stages.
  const worst = decidingQuantiles.findLast((q) => test.isBeyondMargin(q)) ?? endpoint;
  const text = ratioText(
    quantiles.find(({ q }) => q === worst),
    phrases,
  );
  const [stage] = stages;
  const share = stage?.share_of_excess;
  if (stage === undefined || share == null) return text;
  if (share < namedShare || worst !== blamedQuantile) return text;
  const whole = wholeOf({ isDrift: false, quantile: blamedQuantile });
  const meanMs = stages.reduce((sum, { excess_ms }) => sum + (excess_ms ?? 0), 0);
  const rise = `${whole}: mean ${formatSignedMs(meanMs)}`;
  return `${text}; ${stage.stage} explains ${wholePercent(share)} of its rise (${rise})`;
}

function passReason({ phrases, quantiles, options }: Reasoned): string {
  const { minEffectRatio, minEffectMs } = options;
  const deepest = quantiles.find(({ q }) => q === decidingQuantiles.at(-1));
  const names = decidingQuantiles.map(quantileName);
  const bound = `within ${minEffectRatio} times or ${minEffectMs} ms at ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return `${ratioText(deepest, phrases)}; ${bound}`;
}

function inconclusiveReason(of: Reasoned): string {
  const { phrases, test, missing_requests } = of;
  if (test.minutes === 0) return absentReason(of);
  if (missing_requests === 0) return tooShortReason(of);
  const about = roughly(missing_requests).toLocaleString('en-US');
  return `needs about ${about} more requests of ${phrases.candidate} while ${phrases.baseline} serves too`;
}

/** The lack of ranges that lie in the past. More requests of them will not come. */
function tooShortReason({ phrases, test, options, minutesEach = 1 }: Reasoned): string {
  const { candidate, baseline, minutes, logNeeded } = test;
  const { minRequests, blockMinutes } = options;
  const count = (requests: number) => requests.toLocaleString('en-US');
  const each = minutesEach * blockMinutes;
  const plural = minutes === 1 ? '' : 's';
  const unit = each === 1 ? `minute${plural}` : `block${plural} of ${each} minutes`;
  // A minute at most doubles the evidence.
  const least = Math.ceil(logNeeded / Math.LN2);
  if (minutes < least) {
    return `too short for a release verdict: ${minutes} ${unit} ${minutes === 1 ? 'has' : 'have'} requests of both, and it takes at least ${least}`;
  }
  if (Math.min(candidate.requests, baseline.requests) < minRequests) {
    const found = `${count(candidate.requests)} requests of ${phrases.candidate} and ${count(baseline.requests)} of ${phrases.baseline}`;
    return `too short for a release verdict: it has ${found}, and it takes ${count(minRequests)} of each`;
  }
  return `too short for a release verdict: ${minutes} ${unit} of both show neither that the difference is beyond the margin nor that it is within it`;
}

/** "p99 is 1.5 times that of version v1 (412 ms against 275 ms)". */
function ratioText(at: QuantileComparison | undefined, { baseline }: Reasoned['phrases']): string {
  if (at === undefined || at.candidate_ms === null || at.baseline_ms === null)
    return 'no durations';
  const { q, ratio, candidate_ms, baseline_ms } = at;
  const ms = `${milliseconds(candidate_ms)} against ${milliseconds(baseline_ms)}`;
  // Of nothing there is no ratio.
  if (ratio === null && candidate_ms === baseline_ms) {
    return `${quantileName(q)} is that of ${baseline} (${ms})`;
  }
  const times = ratio === null ? 'above' : `${Number(ratio.toFixed(2))} times`;
  return `${quantileName(q)} is ${times} that of ${baseline} (${ms})`;
}

function quantileName(q: number): string {
  return `p${Number((q * 100).toPrecision(6))}`;
}

function milliseconds(ms: number): string {
  return `${Number(ms.toPrecision(3)).toLocaleString('en-US')} ms`;
}

/** Two significant digits. */
function roughly(requests: number): number {
  return Number(requests.toPrecision(2));
}
