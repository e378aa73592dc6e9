import { cleanText } from '../../alert/message/clean-text.ts';
import { totalStage } from '../../base/dimensions.ts';
import type { StageBands } from '../../baseline/series-reference.ts';
import type { CompareOptions } from '../../compare/compare-options.ts';
import { type CompareInput, compareVersions } from '../../compare/compare-versions.ts';
import type { ComparedMinute } from '../../compare/compared-minute.ts';
import type { Comparison } from '../../compare/comparison.ts';
import { likeWithLike } from '../../compare/like-with-like.ts';
import type { ClickHouseClient } from '../../sink/clickhouse.ts';
import { sortedBands } from '../../sink/read-comparison.ts';
import { type ComparedSide, readMixes, readSides, type SidesQuery } from '../../sink/read-sides.ts';
import type { CompareAnswer } from '../answers/compare.ts';
import { ImpossibleQuestion } from '../impossible-question.ts';
import { type Filters, isoTime, parametersOf } from '../question.ts';
import { unknownNames } from '../unknown-name.ts';
import { viewRows } from '../view-rows.ts';
import type { WindowBounds } from '../window-states.ts';
import { comparedBlocks } from './compared-blocks.ts';
import { comparisonTitle, tooShort } from './comparison-title.ts';

/** One side: a version, or ('') all versions, over a range. */
export interface AskedSide {
  readonly version: string;
  readonly fromMs: number;
  readonly toMs: number;
}

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
}

type Quantile = CompareAnswer['quantiles'][number];

const levels = {
  shown: [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999],
  stage: [0.5, 0.95, 0.99],
} as const;

interface Row {
  readonly side: 'a' | 'b';
  readonly stage: string;
  readonly requests: string | number;
  readonly failed: string | number;
  readonly quantiles_ms: readonly number[];
  readonly amounts: Readonly<Record<string, number>>;
  readonly amounts_ms: Readonly<Record<string, number>>;
}

/**
 * Compares B with A: two versions, or two ranges, block by block of the same length. Only blocks count in which both
 * have requests: of versions the same times, of ranges the same distance from their starts.
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
  const [minutes, { rows, sql }] = await Promise.all([
    readSides(client, query),
    readStages(client, query),
  ]);
  const comparison = compareVersions(
    {
      ...{ candidate: b.version, baseline: a.version, minutes },
      bands: bandsOfSides(rows),
      shown: { quantiles: levels.shown, hasStageIntervals: false },
      phrases: { candidate: 'B', baseline: 'A' },
      ...{ remainingMinutes, minutesEach: blockSeconds / 60 },
    },
    question.margin,
  );
  const unknown = comparison.minutes === 0 ? await unknownSide(client, question) : undefined;
  const quantiles = levels.shown.map((q, i) => {
    const interval = comparison.quantiles.find((each) => each.q === q);
    return quantileOf(q, msOf(rows, 'a', totalStage, i), msOf(rows, 'b', totalStage, i), interval);
  });
  const { mix, like_with_like } = await mixOf(client, query, minutes, quantiles);
  return {
    range: {
      from: isoTime(b.fromSeconds),
      to: isoTime(b.toSeconds),
      step_seconds: blockSeconds,
    },
    a: sideOf(a, rows, 'a', query),
    b: sideOf(b, rows, 'b', query),
    verdict: comparison.verdict,
    title: comparisonTitle(comparison, quantiles, sides),
    reason: unknown ?? cleanText(reasonText(comparison, sides), reasonChars),
    missing_requests: comparison.missing_requests,
    quantiles,
    stages: stagesOf(comparison, rows),
    ...{ mix, like_with_like, sql },
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

/** Whoever comes from an incident has seen that it was certain: by another test. */
function reasonText({ reason }: Comparison, sides: 'versions' | 'ranges'): string {
  const isShort = sides === 'ranges' && reason.startsWith(tooShort);
  if (!isShort) return reason;
  return `${reason}. The test of incidents needs less: it knows hours of the past, not A alone`;
}

/** @throws ImpossibleQuestion */
function queryOf({ filters, a, b, bounds, minutesFromMs }: CompareQuestion): {
  readonly query: SidesQuery;
  readonly remainingMinutes: number;
} {
  const range = { fromSeconds: 0, toSeconds: 0, stepSeconds: 60, resolution: '1m' } as const;
  const { model, region, requestType, coldStart } = parametersOf({ filters, range });
  const { remainingMinutes, ...blocks } = comparedBlocks({
    ...{ a, b, minutesFromMs, completeMs: bounds.completeMs },
  });
  const of = { ...{ model, region, requestType, coldStart }, ...blocks };
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

function readStages(client: ClickHouseClient, { a, b, ...of }: SidesQuery) {
  const parameters = {
    ...{ ...of, quantiles: levels.shown },
    ...{ aVersion: a.version, aFromSeconds: a.fromSeconds, aToSeconds: a.toSeconds },
    ...{ bVersion: b.version, bFromSeconds: b.fromSeconds, bToSeconds: b.toSeconds },
  };
  return viewRows<Row>(client, 'view_compare', parameters, { isRepeatable: true });
}

type SideBands = NonNullable<CompareInput['bands']>;

/** What the requests of both sides were made of, for the blame of a comparison. */
export async function readSideBands(
  client: ClickHouseClient,
  query: SidesQuery,
): Promise<SideBands> {
  return bandsOfSides((await readStages(client, query)).rows);
}

function bandsOfSides(rows: readonly Row[]): SideBands {
  return { candidate: bandsOf(rows, 'b'), baseline: bandsOf(rows, 'a') };
}

function sideOf(
  { version, fromSeconds, toSeconds }: ComparedSide,
  rows: readonly Row[],
  side: Row['side'],
  { a, b }: SidesQuery,
): CompareAnswer['a'] {
  const total = rows.find((row) => row.side === side && row.stage === totalStage);
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

function stagesOf({ stages }: Comparison, rows: readonly Row[]): CompareAnswer['stages'] {
  return stages.map(({ stage, excess_ms, share_of_excess }) => ({
    stage,
    quantiles: levels.stage.map((q) => {
      const i = levels.shown.indexOf(q);
      return quantileOf(q, msOf(rows, 'a', stage, i), msOf(rows, 'b', stage, i), undefined);
    }),
    ...{ excess_ms, share_of_excess },
  }));
}

function msOf(rows: readonly Row[], side: Row['side'], stage: string, i: number): number | null {
  const row = rows.find((each) => each.side === side && each.stage === stage);
  return row?.quantiles_ms[i] ?? null;
}

/** @param interval of the same ratio, from digests with other centroids: never beyond it. */
function quantileOf(
  q: number,
  a_ms: number | null,
  b_ms: number | null,
  interval: Pick<Quantile, 'ratio_low' | 'ratio_high'> | undefined,
): Quantile {
  const ratio = a_ms !== null && b_ms !== null && a_ms > 0 ? b_ms / a_ms : null;
  const { ratio_low: low = null, ratio_high: high = null } = interval ?? {};
  return {
    ...{ q, a_ms, b_ms, ratio },
    ratio_low: ratio === null || low === null ? null : Math.min(low, ratio),
    ratio_high: ratio === null || high === null ? null : Math.max(high, ratio),
  };
}

function bandsOf(rows: readonly Row[], side: Row['side']): Map<string, StageBands> {
  return new Map(
    rows
      .filter((row) => row.side === side)
      .map(({ stage, amounts, amounts_ms }) => [
        stage,
        { bands: sortedBands(amounts), bandsMs: sortedBands(amounts_ms) },
      ]),
  );
}

/** In what requests the sides differ, and the quantiles as if they did not. */
async function mixOf(
  client: ClickHouseClient,
  query: SidesQuery,
  minutes: readonly ComparedMinute[],
  quantiles: readonly Quantile[],
): Promise<Pick<CompareAnswer, 'mix' | 'like_with_like'>> {
  const mixes = await readMixes(client, query, minutes);
  if (mixes === undefined) return { mix: [], like_with_like: null };
  const { sentences, weighted } = likeWithLike(...mixes);
  return {
    mix: sentences.map((sentence) => cleanText(sentence, reasonChars)),
    like_with_like:
      weighted === undefined
        ? null
        : quantiles.map(({ q, a_ms }) => {
            const b_ms = weighted.quantile(q);
            return quantileOf(q, a_ms, Number.isFinite(b_ms) ? b_ms : null, undefined);
          }),
  };
}
