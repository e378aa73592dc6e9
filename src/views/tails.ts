import type { AttributeName } from '../base/dimensions.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import {
  boundedQuantiles,
  type CensoredColumns,
  type Extremes,
} from '../sink/windows/bounded-quantiles.ts';
import { coarsePart, groupedBy } from '../sink/windows/read-tails.ts';
import type { TailRow, TailsAnswer } from './answers/tails.ts';
import { baselineSlots, slotOf } from './baseline-slots.ts';
import { answeredRange, isoTime, parametersOf, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { rangeState, stateOf, windowsOf } from './window-states.ts';

/** Groupings of the rows of tails. */
export const tailsBy = ['time', 'stage', 'version', 'region', 'request_type', 'start'] as const;

type TailsBy = (typeof tailsBy)[number] | AttributeName;

export interface TailsQuestion extends Question {
  readonly by: TailsBy;
  /** '' for all of them. */
  readonly stage: string;
  readonly quantiles: readonly number[];
  /** Quantile of the baseline over time. */
  readonly baselineQuantile?: number | undefined;
}

interface StoredTail extends CensoredColumns {
  readonly requests: string;
  readonly failed: string;
  readonly mean_ms: number | null;
  readonly min_ms: number | null;
  readonly max_ms: number | null;
  readonly quantiles_ms: readonly number[];
}

/** The query of an answer returns the very numbers of its rows. */
const repeatable = { isRepeatable: true } as const;

/** Rows of one answer; beyond them are the values with the fewest requests. */
const mostRows = 1_000;

/**
 * Quantiles of a model over time, or by a dimension. Each is of the merged digests of exactly its row, those of
 * requests that were given up among them (`CensoredDigest`).
 *
 * @throws UnknownName
 */
export async function tailsView(
  client: ClickHouseClient,
  question: TailsQuestion,
): Promise<TailsAnswer> {
  const { range, bounds, filters, by } = question;
  const { rows, sql, left_out } =
    by === 'time' ? await overTime(client, question) : await byValue(client, question, by);
  const isEmpty = rows.every(({ requests }) => requests === 0);
  const unknown = isEmpty ? await unknownNames(client, filters, question.stage) : {};
  const isStepped = by === 'time';
  const whole = { ...range, stepSeconds: range.toSeconds - range.fromSeconds };
  return {
    range: answeredRange(range, isStepped),
    windows: windowsOf(isStepped ? range : whole, bounds),
    rows,
    left_out,
    sql,
    ...unknown,
  };
}

async function overTime(client: ClickHouseClient, question: TailsQuestion) {
  const { range, bounds, quantiles, stage } = question;
  const baselines = await baselinesOf(client, question);
  const slots = baselineSlots(range);
  type Row = StoredTail & { readonly at_seconds: number };
  const { rows, sql } = await viewRows<Row>(
    client,
    'view_tails_by_time',
    {
      ...parametersOf(question),
      ...{ stage, quantiles, stepSeconds: range.stepSeconds },
    },
    repeatable,
  );
  return {
    sql,
    left_out: { rows: 0, requests: 0 },
    rows: rows.map((row) => ({
      at: isoTime(row.at_seconds),
      by: '',
      state: stateOf((row.at_seconds + range.stepSeconds) * 1000, bounds),
      ...numbersOf(row, quantiles),
      baseline: baselines.get(slotOf(row.at_seconds, slots)) ?? null,
    })),
  };
}

async function byValue(
  client: ClickHouseClient,
  question: TailsQuestion,
  by: Exclude<TailsBy, 'time'>,
) {
  const { sql, rows, left_out } = await rangeTails(client, { ...question, by });
  const state = rangeState(question.range, question.bounds);
  return {
    ...{ sql, left_out },
    rows: rows.map(({ by: value, ...row }) => ({
      ...{ at: null, by: value, state },
      ...row,
      baseline: null,
    })),
  };
}

/**
 * Quantiles of a range as one, a row a value. Uses coarser windows where they fit: a day of minutes takes a digest
 * an hour and series.
 */
export async function rangeTails(
  client: ClickHouseClient,
  question: Pick<TailsQuestion, 'filters' | 'range' | 'stage' | 'quantiles'> & {
    readonly by: Exclude<TailsBy, 'time'>;
  },
) {
  const { range, quantiles, stage, by } = question;
  const coarse = coarsePart(range.resolution, range.fromSeconds, range.toSeconds);
  type Row = StoredTail & {
    readonly by: string;
    readonly all_rows: string;
    readonly all_requests: string;
  };
  const { rows, sql } = await viewRows<Row>(
    client,
    'view_tails',
    {
      ...parametersOf(question),
      ...{ stage, quantiles, limit: mostRows },
      ...groupedBy(by === 'start' ? 'cold_start' : by),
      coarseTable: coarse.table,
      coarseFromSeconds: coarse.fromSeconds,
      coarseToSeconds: coarse.toSeconds,
    },
    repeatable,
  );
  const kept = rows.reduce((sum, { requests }) => sum + Number(requests), 0);
  return {
    sql,
    left_out: {
      rows: Number(rows[0]?.all_rows ?? 0) - rows.length,
      requests: Number(rows[0]?.all_requests ?? 0) - kept,
    },
    rows: rows.map((row) => ({
      by: by === 'start' ? startOf(row.by) : row.by,
      ...numbersOf(row, quantiles),
    })),
  };
}

const startOf = (coldStart: string) => (coldStart === 'true' ? 'cold' : 'warm');

function numbersOf(row: StoredTail, quantiles: readonly number[]) {
  return {
    requests: Number(row.requests),
    failed: Number(row.failed),
    mean_ms: row.mean_ms,
    min_ms: row.min_ms,
    max_ms: row.max_ms,
    censored: Number(row.censored),
    quantiles: boundedQuantiles(quantiles, row.quantiles_ms, row).map((quantile, i) => ({
      q: quantiles[i] as number,
      ms: quantile?.ms ?? null,
      at_least: quantile?.isAtLeast ?? false,
    })),
  };
}

/** The least, the median and the largest of each part of the day, over the seven days before the range. */
async function baselinesOf(client: ClickHouseClient, question: TailsQuestion) {
  const { range, stage, baselineQuantile: q } = question;
  const found = new Map<number, NonNullable<TailRow['baseline']>>();
  if (q === undefined) return found;
  type Row = CensoredColumns & Extremes & { slot_seconds: number; ms: number };
  const { baselineFromSeconds, baselineToSeconds, ...slots } = baselineSlots(range);
  const { rows } = await viewRows<Row>(
    client,
    'view_tails_baseline',
    {
      ...{ ...parametersOf(question), ...slots, stage, quantiles: [q], table: 'latency_1h' },
      ...{ fromSeconds: baselineFromSeconds, toSeconds: baselineToSeconds },
    },
    repeatable,
  );
  const bySlot = new Map<number, number[]>();
  for (const row of rows) {
    const [quantile] = boundedQuantiles([q], [row.ms], row);
    if (quantile === undefined) continue;
    bySlot.set(row.slot_seconds, [...(bySlot.get(row.slot_seconds) ?? []), quantile.ms]);
  }
  for (const [slot, ms] of bySlot) {
    const sorted = ms.toSorted((a, b) => a - b);
    const at = (place: number) => sorted[Math.floor(place * sorted.length)] as number;
    found.set(slot, { low_ms: at(0), median_ms: at(0.5), high_ms: sorted.at(-1) as number });
  }
  return found;
}
