import { totalStage } from '../../base/dimensions.ts';
import type { StageBands } from '../../baseline/series-reference.ts';
import { unaccounted } from '../../contract/anomaly-event.ts';
import { type Objective, rowOf } from '../../contract/objectives/objective.ts';
import { StageTable } from '../../contract/stage-table.ts';
import { blame } from '../../detect/event/blame.ts';
import {
  blamedQuantile,
  type CompareOptions,
  compareDefaults,
  decidingQuantiles,
  shownQuantiles,
  stageQuantiles,
} from '../compare-options.ts';
import { type ComparedMinute, orderedMinutes, paired } from '../compared-minute.ts';
import type { Comparison, QuantileComparison, StageComparison, Verdict } from '../comparison.ts';
import { inBlocks } from '../minute-blocks.ts';
import { missingRequests } from '../missing-requests.ts';
import { ratioInterval } from '../ratio-interval.ts';
import { type BadCount, shareOf } from '../share-test.ts';
import { TailMinutes } from '../tail-minutes.ts';
import { VersionTest } from '../version-test.ts';
import type { KnownNames } from './absent-reason.ts';
import { stageChoice } from './stage-choice.ts';
import { type NamedObjective, reasonOf } from './verdict-reason.ts';

/** The data of a verdict. */
export interface CompareInput {
  readonly candidate: string;
  readonly baseline: string;
  /** Complete minutes of one range, in any order; each of them once. */
  readonly minutes: readonly ComparedMinute[];
  /** The stages of requests of each size, in the same range. @default no blame */
  readonly bands?: {
    readonly candidate: ReadonlyMap<string, StageBands>;
    readonly baseline: ReadonlyMap<string, StageBands>;
  };
  /**
   * Percentiles of the same minutes that were joined elsewhere, where all places are to show the same
   * numbers. Not used for other blocks than single ones. @default those of the minutes' digests
   */
  readonly joined?: JoinedQuantiles;
  /** End of the last minute that was complete. @default not known */
  readonly untilMs?: number;
  /**
   * Minutes that the compared ranges can still get: 0 of ranges and files that lie in the past.
   * @default {Infinity} both versions go on serving
   */
  readonly remainingMinutes?: number;
  /** Length of what `minutes` has. @default {1} */
  readonly minutesEach?: number;
  /** Read where no minute has requests of both versions. @default not known */
  readonly known?: KnownNames;
  /** Numbers that are shown with the verdict. @default `shownQuantiles`, and stages with intervals */
  readonly shown?: {
    readonly quantiles: readonly number[];
    /** Intervals of all stages cost most of the time. */
    readonly hasStageIntervals: boolean;
  };
  /** Milestones by it have no part of the excess, and decide. @default standard names */
  readonly table?: StageTable;
  /**
   * Stages whose durations decide, and `goodput` for that of objectives. @default whole requests, milestones and
   * measures of both, and goodput
   */
  readonly tested?: readonly string[] | undefined;
  /** Joint objectives that may be of the model. @default none */
  readonly objectives?: readonly Objective[];
  /** Names of both sides in sentences. @default "version v2" */
  readonly phrases?: Phrases;
}

/** Milliseconds of a percentile of a stage; undefined where it is not known. */
export type JoinedQuantiles = (
  side: 'candidate' | 'baseline',
  stage: string,
  q: number,
) => number | undefined;

/** Names of both sides in sentences. */
export interface Phrases {
  readonly candidate: string;
  readonly baseline: string;
}

/**
 * Compares two versions of a model over the same minutes. The verdict may be asked after every minute: `fail`
 * of a version that is slower by less than `equalPart` of the margin, and `pass` of one that is worse than
 * the margin, each ever occur with a probability of at most `errorShare`, over all stages and objectives
 * together. The range must begin at the same minute each time. Its grounds: docs/explained/verdict.md.
 *
 * @throws OperatorError TAILMARK_USAGE for names in `tested` that no compared request has.
 * Cost: about a millisecond per minute and stage.
 */
export function compareVersions(
  input: CompareInput,
  given: Partial<CompareOptions> = {},
): Comparison {
  const options = { ...compareDefaults, ...given };
  const minutes = inBlocks(orderedMinutes(input.minutes), options.blockMinutes);
  const whole = wholeStage(minutes);
  const { tested: asked, table = StageTable.standard } = input;
  const named = namedObjectives(input);
  const objectives = [...named.keys()];
  const choice = stageChoice({ minutes, whole, asked, objectives, table });
  const test = new VersionTest(options, choice);
  for (const minute of minutes) test.observe(minute);
  const verdict = verdictOf(test);
  const joined = options.blockMinutes === 1 ? input.joined : undefined;
  const shown = input.shown?.quantiles ?? shownQuantiles;
  const quantiles = quantilesOf(test.tail, whole, shown, { options, joined });
  const stages = stagesOf(minutes, test, { ...input, joined, whole }, options);
  const { failed, candidate, baseline } = test;
  const missing = verdict === 'inconclusive' ? missingRequests(test, options) : 0;
  const missing_requests = canCome(missing, test, input) ? missing : 0;
  return {
    verdict,
    reason: reasonOf({
      ...input,
      phrases: phrasesOf(input),
      verdict,
      test,
      quantiles,
      stages,
      missing_requests,
      options,
      objectives: named,
    }),
    missing_requests,
    minutes: test.minutes,
    requests: { candidate: candidate.requests, baseline: baseline.requests },
    failures: failuresOf(candidate, baseline),
    failed_at: failed === undefined ? null : new Date(failed.startMs).toISOString(),
    failed_by: failed?.at ?? null,
    failed_stage: failed?.stage ?? null,
    failed_objective: named.get(failed?.objective ?? '')?.name ?? null,
    tested_stages: test.stages,
    tested_objectives: test.objectives.map((row) => named.get(row)?.name ?? row),
    quantiles,
    stages,
  };
}

/**
 * True where the missing requests of the candidate can still come; nobody is asked for those of the past.
 */
function canCome(
  missing: number,
  { candidate, minutes }: VersionTest,
  { remainingMinutes = Number.POSITIVE_INFINITY, minutesEach = 1 }: CompareInput,
): boolean {
  if (!Number.isFinite(remainingMinutes)) return true;
  const perMinute = minutes === 0 ? 0 : candidate.requests / (minutes * minutesEach);
  return missing <= perMinute * remainingMinutes;
}

function phrasesOf({ candidate, baseline, phrases }: CompareInput): Phrases {
  return phrases ?? { candidate: `version ${candidate}`, baseline: `version ${baseline}` };
}

function verdictOf(test: VersionTest): Verdict {
  if (test.failed !== undefined) return 'fail';
  return test.passes ? 'pass' : 'inconclusive';
}

/** `total`, otherwise the stage with most requests. */
function wholeStage(minutes: readonly ComparedMinute[]): string {
  const requests = new Map<string, number>();
  for (const { candidate, baseline } of minutes) {
    for (const [stage, { count }] of [...(candidate?.stages ?? []), ...(baseline?.stages ?? [])]) {
      requests.set(stage, (requests.get(stage) ?? 0) + count);
    }
  }
  if (requests.has(totalStage)) return totalStage;
  return [...requests].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? totalStage;
}

/**
 * Joint objectives of the model by their rows. Those of the same thresholds are counted as one, and have the names
 * of all.
 */
function namedObjectives({ objectives = [] }: CompareInput): ReadonlyMap<string, NamedObjective> {
  const named = new Map<string, NamedObjective>();
  for (const each of objectives) {
    const known = named.get(rowOf(each));
    const name = known === undefined ? each.name : `${known.name}, ${each.name}`;
    named.set(rowOf(each), { name, thresholds: each.thresholds });
  }
  return named;
}

function failuresOf(candidate: BadCount, baseline: BadCount): Comparison['failures'] {
  return {
    candidate: candidate.bad,
    baseline: baseline.bad,
    candidate_share: shareOf(candidate),
    baseline_share: shareOf(baseline),
  };
}

function quantilesOf(
  { candidate, baseline, minutes }: TailMinutes,
  stage: string,
  quantiles: readonly number[],
  {
    options: { errorShare },
    joined,
  }: {
    readonly options: CompareOptions;
    readonly joined: JoinedQuantiles | undefined;
  },
): QuantileComparison[] {
  return quantiles.map((q) => {
    const ownRatio = candidate.quantile(q) / baseline.quantile(q);
    const candidateMs = joined?.('candidate', stage, q) ?? candidate.quantile(q);
    const baselineMs = joined?.('baseline', stage, q) ?? baseline.quantile(q);
    const ratio = candidateMs / baselineMs;
    const [ownLow, ownHigh] = ratioInterval(minutes, q, ownRatio, errorShare);
    // Digests that are joined elsewhere have other centroids: the ratio is never beyond its interval.
    const [low, high] = [ownLow === 0 ? 0 : Math.min(ownLow, ratio), Math.max(ownHigh, ratio)];
    return {
      q,
      candidate_ms: finite(candidateMs),
      baseline_ms: finite(baselineMs),
      ratio: finite(ratio),
      ratio_low: low === 0 ? null : low,
      ratio_high: finite(high),
    };
  });
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Part of all that rose from which time that no stage measured is listed: sums are stored within 0.05 %. */
const leastUnaccounted = 0.005;

interface StagesInput extends Pick<CompareInput, 'bands' | 'shown' | 'table'> {
  readonly joined: JoinedQuantiles | undefined;
  /** Stage that stands for whole requests. */
  readonly whole: string;
}

function stagesOf(
  minutes: readonly ComparedMinute[],
  test: VersionTest,
  { whole, bands, shown, joined, table = StageTable.standard }: StagesInput,
  options: CompareOptions,
): StageComparison[] {
  const names = new Set<string>();
  for (const { candidate, baseline } of minutes) {
    for (const stage of candidate?.stages.keys() ?? []) names.add(stage);
    for (const stage of baseline?.stages.keys() ?? []) names.add(stage);
  }
  names.delete(whole);
  const quantilesAt = (stage: string) => {
    const tested = test.tailOf(stage);
    const shownAt = { options, joined };
    if (tested !== undefined) return quantilesOf(tested, stage, decidingQuantiles, shownAt);
    if (shown?.hasStageIntervals === false || stage === unaccounted) return [];
    return quantilesOf(tailOf(minutes, stage), stage, stageQuantiles, shownAt);
  };
  const parts = bands && blame(bands.candidate, bands.baseline, blamedQuantile, table);
  const rest = parts?.find(({ stage }) => stage === unaccounted);
  const risenMs = (parts ?? []).reduce((sum, { excess_ms }) => sum + Math.max(0, excess_ms), 0);
  if (rest !== undefined && Math.abs(rest.excess_ms) >= leastUnaccounted * risenMs) {
    names.add(unaccounted);
  }
  return [...names]
    .map((stage) => {
      const part = parts?.find((each) => each.stage === stage);
      return {
        stage,
        quantiles: quantilesAt(stage),
        excess_ms: part?.excess_ms ?? null,
        share_of_excess: part?.share ?? null,
      };
    })
    .toSorted((a, b) => (b.excess_ms ?? 0) - (a.excess_ms ?? 0) || (a.stage < b.stage ? -1 : 1));
}

function tailOf(minutes: readonly ComparedMinute[], stage: string): TailMinutes {
  const tail = new TailMinutes();
  for (const minute of minutes) {
    const before = minute.baseline?.stages.get(stage);
    if (before === undefined) continue;
    tail.observe(paired(minute)?.candidate.stages.get(stage), before);
  }
  return tail;
}
