import {
  type Dimension,
  dimensions,
  inRequestOrder,
  kindOfName,
} from '../../src/base/dimensions.ts';
import { bandOf } from '../../src/sketch/band.ts';
import type { TimingEventText } from './timing-event-text.ts';

/** Expected contents of a row. */
export interface ReferenceRow {
  requests: number;
  sumUs: number;
  minMs: number;
  maxMs: number;
  errors: number;
  timeouts: number;
  cancelled: number;
  /** Requests that were given up in this row's stage, and in the total. */
  censored: number;
  /** Total: requests per band. Stages: milliseconds per band, over events that have a total. */
  bands: Map<number, number>;
  /** Total only: milliseconds per band. */
  bandsMs: Map<number, number>;
  /** Milliseconds over events that have a total. */
  wholeMs: number;
}

export interface ReferenceOptions {
  readonly dimensions: readonly Dimension[];
  readonly allowedLatenessMs: number;
  readonly maxFutureMs: number;
  readonly graceMs: number;
  readonly nowMs: number;
  readonly watermarkMs: number;
}

/** The contract of a chunk, in maps and objects: slow, and simple enough to be right. */
export function referenceChunk(events: readonly TimingEventText[], options: ReferenceOptions) {
  const rows = new Map<string, ReferenceRow>();
  const counts = { aggregated: 0, late: 0, future: 0, lateMerged: 0 };
  let watermarkMs = options.watermarkMs;
  for (const event of events) {
    const atMs = completionOf(event);
    if (atMs < Math.min(watermarkMs, options.nowMs) - options.allowedLatenessMs) {
      counts.late++;
      continue;
    }
    if (atMs > options.nowMs + options.maxFutureMs) {
      counts.future++;
      continue;
    }
    const endMs = (Math.floor(atMs / 10_000) + 1) * 10_000;
    if (endMs + options.graceMs <= Math.min(watermarkMs, options.nowMs)) counts.lateMerged++;
    watermarkMs = Math.max(watermarkMs, atMs);
    counts.aggregated++;
    const totalMs = totalOf(event);
    for (const [stage, ms] of Object.entries(event.stages_ms ?? {})) {
      const row = rowOf(rows, rowKey(event, stage, options.dimensions));
      addTo(row, ms, event);
      if (totalMs === undefined) continue;
      addToBand(row.bands, bandOf(totalMs), ms);
      row.wholeMs += ms;
    }
    const givenUpIn = givenUp(event) ? lastPartOf(event) : undefined;
    if (givenUpIn !== undefined) {
      rowOf(rows, rowKey(event, givenUpIn, options.dimensions)).censored++;
    }
    for (const ms of event.itl_ms ?? []) {
      const row = rowOf(rows, rowKey(event, 'inter_token_latency', options.dimensions));
      // A gap does not fail, its request does.
      addTo(row, ms, { ...event, status: 'ok' });
    }
    if (totalMs === undefined) continue;
    const row = rowOf(rows, rowKey(event, 'total', options.dimensions));
    addTo(row, totalMs, event);
    addToBand(row.bands, bandOf(totalMs), 1);
    addToBand(row.bandsMs, bandOf(totalMs), totalMs);
    row.wholeMs += totalMs;
    if (givenUp(event)) row.censored++;
  }
  return { rows, counts, watermarkMs };
}

function givenUp({ status }: TimingEventText): boolean {
  return status === 'timeout' || status === 'cancelled';
}

/** The part that a request reached last. */
function lastPartOf({ stages_ms = {} }: TimingEventText): string | undefined {
  const parts = Object.keys(stages_ms).filter((stage) => kindOfName(stage) === 'part');
  return inRequestOrder(parts.map((stage) => ({ stage }))).at(-1)?.stage;
}

/** The total of an event: given, else the sum of its stages, unless it is partial. */
export function totalOf(event: TimingEventText): number | undefined {
  if (event.total_ms !== undefined) return event.total_ms;
  if (event.partial === true) return undefined;
  return stageSumOf(event);
}

/** End of an event's request, in whole milliseconds: the time at which it counts. */
export function completionOf(event: TimingEventText): number {
  return Math.floor(event.ts + (totalOf(event) ?? stageSumOf(event)));
}

function stageSumOf(event: TimingEventText): number {
  return Object.values(event.stages_ms ?? {}).reduce((sum, ms) => sum + ms, 0);
}

/** Window, series and stage of a row, as text. */
export function rowKey(
  event: TimingEventText,
  stage: string,
  enabled: readonly Dimension[],
): string {
  const values = dimensions.map((name) => {
    if (!enabled.includes(name)) return '';
    if (name === 'cold_start') return event.cold_start === true ? '1' : '';
    return event[name] ?? '';
  });
  return [Math.floor(completionOf(event) / 10_000) * 10_000, ...values, stage].join('|');
}

function rowOf(rows: Map<string, ReferenceRow>, key: string): ReferenceRow {
  let row = rows.get(key);
  if (row === undefined) {
    row = {
      requests: 0,
      sumUs: 0,
      minMs: Number.POSITIVE_INFINITY,
      maxMs: Number.NEGATIVE_INFINITY,
      errors: 0,
      timeouts: 0,
      cancelled: 0,
      censored: 0,
      bands: new Map(),
      bandsMs: new Map(),
      wholeMs: 0,
    };
    rows.set(key, row);
  }
  return row;
}

function addTo(row: ReferenceRow, ms: number, event: TimingEventText): void {
  row.requests++;
  row.sumUs += Math.round(ms * 1000);
  row.minMs = Math.min(row.minMs, ms);
  row.maxMs = Math.max(row.maxMs, ms);
  if (event.status === 'error') row.errors++;
  if (event.status === 'timeout') row.timeouts++;
  if (event.status === 'cancelled') row.cancelled++;
}

function addToBand(bands: Map<number, number>, band: number, amount: number): void {
  // A band of no milliseconds equals an absent one: it is not written.
  const sum = (bands.get(band) ?? 0) + amount;
  if (sum !== 0) bands.set(band, sum);
}
