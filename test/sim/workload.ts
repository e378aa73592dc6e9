import { dayMs } from '../../src/base/time.ts';
import type { SeededRandom } from '../base/seeded-random.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { PartitionLog } from './partition-log.ts';
import type { SimWorld } from './sim-world.ts';
import type { Truth, TruthEvent } from './truth.ts';

const stageNames = ['queue', 'features', 'forward', 'postprocess', 'rerank-v2'];
const GARBAGE: readonly (string | null)[] = [
  '{"ts":1',
  null,
  '',
  'not json',
  '{"model":"m1","total_ms":3}',
  '{"ts":1790000000000,"model":"m1","total_ms":-1}',
  '[{"ts":',
];
/** Requests end this long before the clock: for every clock, the event is no future one. */
const BEHIND_MS = 3 * 3_600_000;
/** Longer than any lag of a partition: no clock makes the event late. */
const LONG_BEHIND_MS = 30 * 3_600_000;
/** As configured; an event at the edge is nearer to it than clocks are to each other. */
const MAX_FUTURE_MS = 300_000;
const EDGE_MS = 20_000;

/** Writes records, and keeps their expected results. */
export class Workload {
  readonly #random: SeededRandom;
  readonly #faults: FaultPlan;
  readonly #truth: Truth;
  readonly #epochMs: number;
  /** Events behind the allowed lateness are late only behind one that is read before them. */
  readonly #hasLate: boolean;
  readonly #behindMs: number;
  readonly #started = new Set<PartitionLog>();
  readonly #storms = new Map<PartitionLog, { kind: 'late' | 'poison'; left: number }>();
  #producers = 0;

  constructor({ random, faults, epochMs, isLive }: SimWorld, truth: Truth) {
    this.#random = random;
    this.#faults = faults;
    this.#truth = truth;
    this.#epochMs = epochMs;
    // A counted event at the edge moves the watermark up to the clock.
    const mayBeLong = !faults.has('clock_edge');
    const isLong = mayBeLong && random.chance(0.3);
    // Further behind than clocks are, which limits the watermark.
    this.#behindMs = isLive ? 500 : isLong ? LONG_BEHIND_MS : BEHIND_MS;
    this.#hasLate = !(
      [
        'retention',
        'log_emptied',
        'deleted_while_stopped',
        'compaction',
        'start_from_latest',
      ] as const
    ).some((kind) => faults.has(kind));
  }

  /** Appends a few records to a log at this moment of the run. */
  write(log: PartitionLog, count: number, atMs: number): void {
    const timestampMs = this.#epochMs + Math.floor(atMs);
    const isAborting = this.#faults.strikes('aborted_transactions', 2);
    const isLast = isAborting && this.#random.chance(0.5);
    if (isAborting && !isLast) this.#abort(log, timestampMs);
    for (let left = count; left > 0; ) {
      const size = Math.min(left, this.#random.between(1, 5));
      const values: (Buffer | null)[] = [];
      for (let i = 0; i < size; i++) {
        const { value, events } = this.#record(log, timestampMs);
        const offset = log.high + values.length;
        this.#truth.add({ log, offset, timestampMs, isFirst: atMs === 0, events });
        values.push(value === null ? null : Buffer.from(value));
      }
      log.append(values, timestampMs);
      left -= size;
    }
    if (isLast && this.#faults.isActive) this.#abort(log, timestampMs);
  }

  /** Appends an aborted transaction alone, in runs that have some. */
  abortSome(log: PartitionLog, atMs: number): void {
    if (!this.#faults.strikes('aborted_transactions', 20)) return;
    this.#abort(log, this.#epochMs + Math.floor(atMs));
  }

  /** Appends records that stay invisible, and the marker of their abort. */
  #abort(log: PartitionLog, timestampMs: number): void {
    const producer = ++this.#producers;
    const write = () => {
      const count = this.#random.between(1, 8);
      return Array.from({ length: count }, () => Buffer.from(this.#event(timestampMs).text));
    };
    log.append(write(), timestampMs, 'aborted', producer);
    // Another one that starts after it and ends before it.
    if (this.#random.chance(0.5)) {
      const other = ++this.#producers;
      log.append(write(), timestampMs, 'aborted', other);
      log.append([null], timestampMs, 'marker', other);
    }
    log.append([null], timestampMs, 'marker', producer);
  }

  #record(log: PartitionLog, timestampMs: number): { value: string | null; events: TruthEvent[] } {
    const random = this.#random;
    const storm = this.#stormOf(log);
    if (storm === 'poison' || random.chance(0.04))
      return { value: random.pick(GARBAGE), events: [] };
    const events: TruthEvent[] = [];
    const texts: string[] = [];
    const count = random.between(1, 3);
    for (let i = 0; i < count; i++) {
      let fate: TruthEvent['fate'] = 'counted';
      if (this.#hasLate && this.#started.has(log) && (storm === 'late' || random.chance(0.04))) {
        fate = 'late';
      } else if (random.chance(0.02)) fate = 'future';
      else if (this.#faults.strikes('clock_edge')) fate = 'edge';
      const { text, event } = this.#event(timestampMs, fate);
      events.push(event);
      texts.push(text);
      if (fate === 'counted') this.#started.add(log);
    }
    const value = random.chance(0.2) ? `[${texts.join(',')}]` : texts.join('\n');
    return { value, events };
  }

  #stormOf(log: PartitionLog): 'late' | 'poison' | undefined {
    const storm = this.#storms.get(log);
    if (storm !== undefined && storm.left-- > 0) return storm.kind;
    if (this.#faults.strikes('late_storm', 0.3)) {
      this.#storms.set(log, { kind: 'late', left: this.#random.between(3, 25) });
    } else if (this.#faults.strikes('poison', 0.3)) {
      this.#storms.set(log, { kind: 'poison', left: this.#random.between(3, 25) });
    }
    return undefined;
  }

  #event(timestampMs: number, fate: TruthEvent['fate'] = 'counted') {
    const random = this.#random;
    const shift = fate === 'late' ? -2 * dayMs : fate === 'future' ? 2 * dayMs : 0;
    const latestMs =
      fate === 'edge'
        ? timestampMs + MAX_FUTURE_MS + random.between(-EDGE_MS, EDGE_MS)
        : timestampMs - this.#behindMs + shift - random.between(0, 9_000);
    const model = `m${random.between(1, 3)}`;
    const region = random.pick(['', 'eu', 'us']);
    const isCold = random.chance(0.1);
    const isError = random.chance(0.1);
    const stages: [string, number][] = [];
    for (const name of stageNames) if (random.chance(0.4)) stages.push([name, this.#duration()]);
    const isPartial = stages.length > 0 && random.chance(0.15);
    const json: Record<string, unknown> = { ts: 0, model };
    if (region !== '') json.region = region;
    if (isCold) json.cold_start = true;
    if (isError) json.status = 'error';
    if (random.chance(0.3)) json.host = `h${random.between(1, 4)}`;
    if (random.chance(0.3)) json.batch_size = random.between(1, 40);
    if (stages.length > 0) json.stages_ms = Object.fromEntries(stages);
    if (isPartial) json.partial = true;
    else if (stages.length === 0 || random.chance(0.5)) {
      const totalMs = this.#duration();
      json.total_ms = totalMs;
      stages.push(['total', totalMs]);
    } else stages.push(['total', stages.reduce((sum, [, ms]) => sum + ms, 0)]);
    const { ts, endMs } = timesOf(latestMs, stages);
    json.ts = ts;
    const hasFacet = 'host' in json || 'batch_size' in json;
    const event: TruthEvent = { endMs, model, region, isCold, isError, hasFacet, stages, fate };
    return { text: JSON.stringify(json), event };
  }

  /** Log-uniform over seven decades, to the microsecond: up to 100 s, which is many windows. */
  #duration(): number {
    return Math.round(10 ** (this.#random.unit() * 7 - 2) * 1000) / 1000;
  }
}

/** Draws start and end of a request that has ended by `latestMs`, at most a millisecond before. */
function timesOf(latestMs: number, stages: readonly (readonly [string, number])[]) {
  const total = stages.find(([name]) => name === 'total')?.[1];
  const lastsMs = total ?? stages.reduce((sum, [, ms]) => sum + ms, 0);
  const ts = latestMs - Math.ceil(lastsMs);
  return { ts, endMs: Math.floor(ts + lastsMs) };
}
