import { cleanText } from '../../alert/message/clean-text.ts';
import { totalStage } from '../../base/dimensions.ts';
import type { CompareOptions } from '../../compare/compare-options.ts';
import type { Comparison, QuantileComparison } from '../../compare/comparison.ts';
import { compareMixes } from '../../compare/like-with-like.ts';
import { compareVersions } from '../../compare/verdict/compare-versions.ts';
import { type ConfiguredObjective, jointObjectives } from '../../contract/objectives/objective.ts';
import type { StageTable } from '../../contract/stage-table.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { anomalyOfModel } from '../anomalies/anomaly-of.ts';
import { incidentTimes } from '../anomalies/incident-times.ts';
import { withStoredBaseline } from '../anomalies/stored-baseline.ts';
import type { CompareAnswer } from '../answers/compare.ts';

import { ImpossibleQuestion } from '../impossible-question.ts';
import { type Filters, isoTime, parametersOf } from '../question.ts';
import { unknownNames } from '../unknown-name.ts';
import type { WindowBounds } from '../window-states.ts';
import { type AskedSide, comparedBlocks } from './compared-blocks.ts';
import { comparedGoodput } from './compared-goodput.ts';
import { comparisonTitle } from './comparison-title.ts';
import {
  asOfIncident,
  incidentFinding,
  isOfIncident,
  namedIncident,
} from './incident-comparison.ts';
import {
  boundsOf,
  type ComparedSide,
  joinedQuantiles,
  readMixes,
  readSides,
  rowOf,
  type SideRow,
  type SidesQuery,
} from './read-sides.ts';

export interface CompareQuestion {
  /** Of both sides; its version is that of a side that names none. */
  readonly filters: Filters;
  readonly a: AskedSide;
  readonly b: AskedSide;
  readonly bounds: WindowBounds;
  /** From when on 1-minute windows are kept. */
  readonly minutesFromMs: number;
  /** `configuredMargin` of the configuration. */
  readonly margin: Partial<CompareOptions>;
  readonly stages: StageTable;
  /** What decides beside failures. @default that of `compareVersions` */
  readonly tested?: readonly string[] | undefined;
  readonly objectives: readonly ConfiguredObjective[];
  /** Id of the incident that A and B are before and during of; '' for none. */
  readonly incident: string;
  readonly nowMs: number;
}

type Quantile = CompareAnswer['quantiles'][number];

const stageQuantiles = [0.5, 0.95, 0.99] as const;
/** Longest range: the time that minutes are kept for, by default. */
const longestMs = 60 * 86_400_000;

/**
 * Compares B with A: two versions, or two ranges, block by block of the same length. Only blocks count in
 * which both have requests: of versions the same times, of ranges the same distance from their starts. Of an
 * incident its own test decides.
 *
 * @throws UnknownName
 * @throws ImpossibleQuestion
 */
export async function compareView(
  client: ClickHouseClient,
  question: CompareQuestion,
): Promise<CompareAnswer> {
  const { query, remainingMinutes } = queryOf(question);
  const { a, b, blockSeconds } = query;
  const sides = a.version === b.version ? 'ranges' : 'versions';
  const ofIncident = await incidentOf(client, question);
  const { rows, sql, ...read } = await readSides(client, query);
  const comparedByReleases = compareVersions(
    {
      ...{ candidate: b.version, baseline: a.version, ...read },
      shown: { quantiles: joinedQuantiles, hasStageIntervals: false },
      phrases: { candidate: 'B', baseline: 'A' },
      ...{ remainingMinutes, minutesEach: blockSeconds / 60 },
      ...{ table: question.stages, tested: question.tested },
      objectives: jointObjectives(question.objectives, query.model),
    },
    question.margin,
  );
  const comparison =
    ofIncident === undefined
      ? comparedByReleases
      : asOfIncident(comparedByReleases, ofIncident.event);
  const unknown = comparison.minutes === 0 ? await unknownSide(client, question) : undefined;
  const bounds = sideBounds(rows, totalStage);
  const quantiles = comparison.quantiles.map((quantile) => sidesOf(quantile, bounds));
  const mixes = compareMixes(comparison, await readMixes(client, query, read.minutes));
  return {
    range: {
      from: isoTime(b.fromSeconds),
      to: isoTime(b.toSeconds),
      step_seconds: blockSeconds,
    },
    a: sideOf(a, rows, 'a', query),
    b: sideOf(b, rows, 'b', query),
    verdict: comparison.verdict,
    incident: ofIncident?.named ?? null,
    title: comparisonTitle(
      comparison,
      quantiles,
      sides,
      ofIncident && incidentFinding(ofIncident.event),
    ),
    reason: unknown ?? cleanText(comparison.reason, reasonChars),
    missing_requests: comparison.missing_requests,
    quantiles,
    stages: stagesOf(comparison, rows),
    goodput: await comparedGoodput(client, question.objectives, query, read.minutes),
    mix: mixes.mix.map((sentence) => cleanText(sentence, reasonChars)),
    like_with_like: mixes.like_with_like?.map((quantile) => sidesOf(quantile, bounds)) ?? null,
    sql,
  };
}

/**
 * A sentence on a side that has never had a request.
 *
 * @throws UnknownName for a model.
 */
async function unknownSide(client: ClickHouseClient, { filters, a, b }: CompareQuestion) {
  for (const { version } of [a, b]) {
    const { unknown } = await unknownNames(client, { ...filters, version });
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

const reasonChars = 500;

/**
 * The incident whose test decides, and what A is; undefined where the sides are others than its time and one
 * before.
 *
 * @throws UnknownName for an incident that is none of the model.
 */
async function incidentOf(client: ClickHouseClient, question: CompareQuestion) {
  const { incident, filters, a, b, nowMs } = question;
  if (incident === '') return undefined;
  const event = await anomalyOfModel(client, incident, filters.model);
  if (!isOfIncident(event, a, b, nowMs)) return undefined;
  return {
    event: await withStoredBaseline(client, event),
    named: namedIncident(event, (await incidentTimes(client, event, nowMs, b.toMs)).times, a),
  };
}

/** @throws ImpossibleQuestion */
function queryOf({ filters, a, b, bounds, minutesFromMs }: CompareQuestion): {
  readonly query: SidesQuery;
  readonly remainingMinutes: number;
} {
  if (Math.min(a.toMs - a.fromMs, b.toMs - b.fromMs) > longestMs) {
    throw new ImpossibleQuestion('A and B must span at most 60 days each.');
  }
  const range = { fromSeconds: 0, toSeconds: 0, stepSeconds: 60, resolution: '1m' } as const;
  const { model, region, requestType, coldStart, attributePairs } = parametersOf({
    filters,
    range,
  });
  const { remainingMinutes, ...blocks } = comparedBlocks({
    ...{ a, b, minutesFromMs, completeMs: bounds.completeMs },
  });
  const of = { ...{ model, region, requestType, coldStart, attributePairs }, ...blocks };
  const isSame =
    a.version === b.version &&
    of.a.fromSeconds === of.b.fromSeconds &&
    of.a.toSeconds === of.b.toSeconds;
  // Versions that serve side by side go on while their range does.
  const areLive = remainingMinutes > 0 && a.version !== b.version && a.fromMs === b.fromMs;
  const remaining = areLive ? Number.POSITIVE_INFINITY : remainingMinutes;
  if (!isSame) return { query: of, remainingMinutes: remaining };
  throw new ImpossibleQuestion('A and B must differ: name two versions, or two ranges.');
}

function sideOf(
  { version, fromSeconds, toSeconds }: ComparedSide,
  rows: readonly SideRow[],
  side: SideRow['side'],
  { a, b }: SidesQuery,
): CompareAnswer['a'] {
  const total = rowOf(rows, side, totalStage);
  const requests = Number(total?.requests ?? 0);
  const [from, to] = [isoTime(fromSeconds), isoTime(toSeconds)];
  const isRange = a.version === b.version;
  return {
    label: isRange ? `${minuteText(from)} to ${minuteText(to)} UTC` : version,
    version: version === '' ? null : version,
    ...{ from, to, requests },
    failed_share: requests === 0 ? 0 : Number(total?.failed) / requests,
  };
}

/** "2026-11-20 10:15". */
function minuteText(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

function stagesOf({ stages }: Comparison, rows: readonly SideRow[]): CompareAnswer['stages'] {
  return stages.map(({ stage, quantiles, excess_ms, share_of_excess }) => {
    const bounds = sideBounds(rows, stage);
    const [ofA, ofB] = (['a', 'b'] as const).map((side) => rowOf(rows, side, stage)?.quantiles_ms);
    return {
      stage,
      quantiles: stageQuantiles.map((q) => {
        // Stages that decide have intervals.
        const { ratio_low = null, ratio_high = null } = quantiles.find((at) => at.q === q) ?? {};
        const i = joinedQuantiles.indexOf(q);
        const [a_ms, b_ms] = [ofA?.[i] ?? null, ofB?.[i] ?? null];
        const ratio = a_ms !== null && b_ms !== null && a_ms > 0 ? b_ms / a_ms : null;
        return { q, a_ms, b_ms, ...bounds(q), ratio, ratio_low, ratio_high };
      }),
      ...{ excess_ms, share_of_excess },
    };
  });
}

type Weighted = Pick<QuantileComparison, 'q' | 'candidate_ms' | 'baseline_ms' | 'ratio'>;

/** A quantile with the sides' own names; without an interval where none is known. */
function sidesOf(quantile: Weighted & Partial<QuantileComparison>, bounds: SideBounds): Quantile {
  const { q, baseline_ms: a_ms, candidate_ms: b_ms, ratio } = quantile;
  const { ratio_low = null, ratio_high = null } = quantile;
  return { q, a_ms, b_ms, ...bounds(q), ratio, ratio_low, ratio_high };
}

type SideBounds = (q: number) => Pick<Quantile, 'a_at_least' | 'b_at_least'>;

/** Tells of one of `joinedQuantiles` on which sides of a stage it is a lower bound. */
function sideBounds(rows: readonly SideRow[], stage: string): SideBounds {
  const [a, b] = (['a', 'b'] as const).map((side) => boundsOf(rows, side, stage));
  return (q) => {
    const i = joinedQuantiles.indexOf(q);
    return { a_at_least: a?.[i] === true, b_at_least: b?.[i] === true };
  };
}
