import { wholeOf } from '../../contract/blame-text.ts';
import { formatShare, formatSignedMs, wholePercent } from '../../contract/format.ts';
import { perUnit, stageLabel } from '../../contract/measure-unit.ts';
import type { Objective } from '../../contract/objectives/objective.ts';
import { missedText } from '../../contract/objectives/objective-text.ts';
import { blamedQuantile, type CompareOptions, decidingQuantiles } from '../compare-options.ts';
import type { ComparedMinute } from '../compared-minute.ts';
import type { QuantileComparison, StageComparison, Verdict } from '../comparison.ts';
import { type BadCount, shareOf } from '../share-test.ts';
import { marginOf } from '../stage-test.ts';
import type { Endpoint, VersionTest } from '../version-test.ts';
import { absentReason, type KnownNames } from './absent-reason.ts';

/** Share of the excess from which on a stage is named. */
const namedShare = 0.3;

/** An objective, or several of the same thresholds. */
export type NamedObjective = Pick<Objective, 'name' | 'thresholds'>;

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
  /** Joint objectives of the model, by their rows. */
  readonly objectives: ReadonlyMap<string, NamedObjective>;
}

/** Says why, in a sentence. Names of versions are as they came: escape them where they are shown. */
export function reasonOf(of: Reasoned): string {
  if (of.verdict === 'fail') return failReason(of);
  return of.verdict === 'pass' ? passReason(of) : inconclusiveReason(of);
}

function failReason(of: Reasoned): string {
  const { failed } = of.test;
  const isOver = failed !== undefined && !of.test.isBeyondMargin(failed);
  const since = isOver ? `; failed at ${new Date(failed.startMs).toISOString()}` : '';
  return `${differenceText(of)}${since}`;
}

function differenceText(of: Reasoned): string {
  const { test, phrases } = of;
  const { failed, whole } = test;
  if (failed?.at === 'failures') {
    const now = formatShare(shareOf(test.candidate));
    return `${now} of requests fail, against ${formatShare(shareOf(test.baseline))} of ${phrases.baseline}`;
  }
  if (failed?.objective !== undefined) return goodputText(of, failed.objective);
  if (failed?.stage !== undefined && failed.stage !== whole) return stageText(of, failed);
  return wholeText(of, failed?.at);
}

/** "p99 is 1.5 times that of version v1 (412 ms against 275 ms); queue explains 71 % of its rise (…)". */
function wholeText({ test, phrases, quantiles, stages }: Reasoned, at?: Endpoint['at']): string {
  // The deepest tail says most, and is what is blamed on stages.
  const worst = deepestOf(test, test.whole) ?? at;
  const text = ratioText(
    quantiles.find(({ q }) => q === worst),
    phrases,
  );
  const [stage] = stages;
  const share = stage?.share_of_excess;
  if (stage === undefined || share == null) return text;
  if (share < namedShare || worst !== blamedQuantile) return text;
  const slowest = wholeOf({ isDrift: false, quantile: blamedQuantile });
  const meanMs = stages.reduce((sum, { excess_ms }) => sum + (excess_ms ?? 0), 0);
  const rise = `${slowest}: mean ${formatSignedMs(meanMs)}`;
  return `${text}; ${stage.stage} explains ${wholePercent(share)} of its rise (${rise})`;
}

/** The deepest quantile of a stage whose measured difference is beyond the margin. */
function deepestOf(test: VersionTest, stage: string) {
  return decidingQuantiles.findLast((at) => test.isBeyondMargin({ stage, at }));
}

/** "TTFT (first_token) p99 is 1.62 times that of version v1 (412 ms against 254 ms; interval …)". */
function stageText(of: Reasoned, { stage = '', at }: Endpoint): string {
  const worst = deepestOf(of.test, stage) ?? at;
  const text = ofStageText(of, stage, worst);
  const ofWhole = of.quantiles.find(({ q }) => q === worst);
  if (ofWhole?.ratio == null) return text;
  const times = isAboutOne(ofWhole.ratio) ? 'about the same' : timesText(ofWhole.ratio);
  return `${text}; ${quantileName(ofWhole.q)} of whole requests is ${times}`;
}

/**
 * "goodput is 90.1 %, against 98.9 % of version v1: 9.9 % of requests missed one of first_token 500 ms, total 10 s,
 * or failed (objective chat)"; and what is slower beyond the margin, of the stages that have thresholds.
 */
function goodputText(of: Reasoned, row: string): string {
  const { name = row, thresholds = {} } = of.objectives.get(row) ?? {};
  const missed = formatShare(missedShares(of, row).candidate);
  const slower = of.test.stages.flatMap((stage) => {
    const at = Object.hasOwn(thresholds, stage) ? deepestOf(of.test, stage) : undefined;
    if (at === undefined) return [];
    return [stage === of.test.whole ? wholeText(of) : ofStageText(of, stage, at)];
  });
  const goodput = `${sharesText(of, row)}: ${missed} of requests ${missedText(thresholds)} (objective ${name})`;
  return [goodput, ...slower].join('; ');
}

/** "goodput is 90.1 %, against 98.9 % of version v1". */
function sharesText(of: Reasoned, row: string): string {
  const { candidate, baseline } = missedShares(of, row);
  const before = `${formatShare(1 - baseline)} of ${of.phrases.baseline}`;
  return `goodput is ${formatShare(1 - candidate)}, against ${before}`;
}

function missedShares({ test }: Reasoned, row: string) {
  const none: BadCount = { requests: 0, bad: 0 };
  const { candidate = none, baseline = none } = test.goodputOf(row) ?? {};
  return { candidate: shareOf(candidate), baseline: shareOf(baseline) };
}

function ofStageText({ stages, phrases }: Reasoned, stage: string, at: Endpoint['at']): string {
  const found = stages.find((each) => each.stage === stage)?.quantiles.find(({ q }) => q === at);
  return `${stageLabel(stage)} ${ratioText(found, phrases, stage)}`;
}

function passReason(of: Reasoned): string {
  const { phrases, quantiles, test, options } = of;
  const goodput = test.objectives.map((row) => sharesText(of, row));
  if (test.stages.length === 0) return [...goodput, 'durations do not decide'].join('; ');
  const [deepest] = decidingQuantiles.slice(-1);
  const [first = test.whole] = test.stages;
  const ofFirst =
    first === test.whole
      ? ratioText(
          quantiles.find(({ q }) => q === deepest),
          phrases,
        )
      : ofStageText(of, first, deepest as Endpoint['at']);
  const places = listText(decidingQuantiles.map(quantileName));
  const isWholeAlone = test.stages.every((stage) => stage === test.whole);
  const { minEffectRatio, minEffectMs } = options;
  // Of times per token only the ratio counts.
  const byMs = test.stages.filter((stage) => marginOf(stage, options) === options);
  const byRatio = test.stages.filter((stage) => !byMs.includes(stage));
  const within = (margin: string, stages: readonly string[]) =>
    stages.length === 0
      ? []
      : [`within ${margin} at ${places} of ${listText(stages.map(stageLabel))}`];
  const bound = isWholeAlone
    ? `within ${minEffectRatio} times or ${minEffectMs} ms at ${places}`
    : [
        ...within(`${minEffectRatio} times or ${minEffectMs} ms`, byMs),
        ...within(`${minEffectRatio} times`, byRatio),
      ].join('; ');
  return [ofFirst, bound, ...goodput].join('; ');
}

function inconclusiveReason(of: Reasoned): string {
  const { phrases, test, missing_requests } = of;
  const { candidate, baseline } = phrases;
  if (test.minutes === 0) return absentReason(of);
  if (test.absent.length > 0) {
    const isObjective = (name: string) => of.objectives.has(name);
    const stages = test.absent.filter((name) => !isObjective(name)).map(stageLabel);
    const goodput = test.absent.some(isObjective) ? ['goodput'] : [];
    const what = stages.length === 0 ? [] : [`durations of ${listText(stages)}`];
    return `no minute has ${listText([...what, ...goodput])} of both ${candidate} and ${baseline}`;
  }
  if (missing_requests === 0) return tooShortReason(of);
  const about = roughly(missing_requests).toLocaleString('en-US');
  const known = leastKnownText(test);
  const least = known === '' ? '' : `; least is known of ${known}`;
  return `needs about ${about} more requests of ${candidate} while ${baseline} serves too${least}`;
}

/** "TTFT (first_token) p99", "goodput"; '' of whole requests and of failures. */
function leastKnownText({ leastKnown: { stage, at }, whole }: VersionTest): string {
  if (at === 'goodput') return at;
  if (stage === undefined || stage === whole || at === 'failures') return '';
  return `${stageLabel(stage)} ${quantileName(at)}`;
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

/**
 * "p99 is 1.5 times that of version v1 (412 ms against 275 ms)".
 *
 * @param stage whose interval and unit it has too. @default whole requests
 */
function ratioText(
  at: QuantileComparison | undefined,
  { baseline }: Reasoned['phrases'],
  stage?: string,
): string {
  if (at === undefined || at.candidate_ms === null || at.baseline_ms === null)
    return 'no durations';
  const { q, ratio, candidate_ms, baseline_ms, ratio_low, ratio_high } = at;
  const unit = stage === undefined ? '' : perUnit(stage);
  const isKnown = stage !== undefined && ratio_low !== null && ratio_high !== null;
  const interval = isKnown ? `; interval ${ratio_low.toFixed(2)} to ${ratio_high.toFixed(2)}` : '';
  const ms = `${milliseconds(candidate_ms)} against ${milliseconds(baseline_ms)}${unit}${interval}`;
  // Of nothing there is no ratio.
  if (ratio === null && candidate_ms === baseline_ms) {
    return `${quantileName(q)} is that of ${baseline} (${ms})`;
  }
  const times = ratio === null ? 'above' : isAboutOne(ratio) ? 'about' : timesText(ratio);
  return `${quantileName(q)} is ${times} that of ${baseline} (${ms})`;
}

/** "1.5 times". */
function timesText(ratio: number): string {
  return `${Number(ratio.toFixed(2))} times`;
}

/** True of a ratio that would read as "1 times". */
function isAboutOne(ratio: number): boolean {
  return Number(ratio.toFixed(2)) === 1;
}

/** "p50, p95 and p99". */
function listText(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
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
