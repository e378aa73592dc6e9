import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import type { LagProbe, PartitionLog } from '../../../kafka/liveness/lag-probe.ts';
import type { Outage } from './completeness.ts';

/** A partition at the last probe, with its history. */
export interface ArrivedPartition {
  readonly log: PartitionLog;
  readonly history: ArrivalHistory;
}

const PROBE_INTERVAL_MS = 1_000;

/**
 * Probes Kafka every second for the records that have arrived, whatever consumes them. It also runs on
 * standby, so that a new leader knows the last minutes.
 */
export class ArrivalLog {
  readonly #probe: Pick<LagProbe, 'probe' | 'close' | 'clusterId'>;
  readonly #clock: Clock;
  #partitions: ReadonlyMap<string, ArrivedPartition> = new Map();
  #probedMs = Number.NEGATIVE_INFINITY;
  #outage: Outage | undefined;
  #isProbing = false;
  #stopTicking: () => void = () => undefined;

  constructor(probe: Pick<LagProbe, 'probe' | 'close' | 'clusterId'>, clock: Clock) {
    this.#probe = probe;
    this.#clock = clock;
  }

  /** The brokers' cluster; '' while it is not known. */
  get clusterId(): string {
    return this.#probe.clusterId;
  }

  /** Every partition that Kafka has, by `topic/partition`. */
  get partitions(): ReadonlyMap<string, ArrivedPartition> {
    return this.#partitions;
  }

  /** Start of the last successful probe; -Infinity before one. */
  get probedMs(): number {
    return this.#probedMs;
  }

  /** Start and reason of an outage of Kafka; undefined while it responds. */
  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** Probes once, then every second. Never rejects. */
  async start(): Promise<void> {
    await this.probe();
    this.#stopTicking = this.#clock.every(PROBE_INTERVAL_MS, () => void this.probe());
  }

  stop(): void {
    this.#stopTicking();
    this.#probe.close();
  }

  /** Probes once, unless a probe is running. */
  async probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    const startedMs = this.#clock.nowMs();
    try {
      this.#add(startedMs, await this.#probe.probe());
      this.#outage = undefined;
    } catch (error) {
      const sinceMs = this.#outage?.sinceMs ?? startedMs;
      this.#outage = { sinceMs, reason: messageOf(error) };
    } finally {
      this.#isProbing = false;
    }
  }

  #add(atMs: number, logs: ReadonlyMap<string, PartitionLog>): void {
    const partitions = new Map<string, ArrivedPartition>();
    for (const [name, log] of logs) {
      const history = this.#partitions.get(name)?.history ?? new ArrivalHistory();
      history.add(atMs, log.endOffset);
      partitions.set(name, { log, history });
    }
    this.#partitions = partitions;
    this.#probedMs = atMs;
  }
}

/** An end offset of the log, and when it was first and last seen. */
export interface SeenEnd {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Offset after the last record that had arrived. */
  readonly endOffset: number;
}

/** With one probe per second: eight minutes of lag at full resolution, an hour at 8 s. */
const mostEnds = 512;

/**
 * The end offsets of a partition's log over time, by the prober's clock. When it is full, every second entry
 * but the first and the last is dropped. Old lag is then known more coarsely, and never too optimistically.
 *
 * Cost: O(dropped entries) per call. Memory: at most 512 entries.
 */
class ArrivalHistory {
  #ends: SeenEnd[] = [];

  /** Adds a probe by its start. A log that ends earlier than before is another log. */
  add(atMs: number, endOffset: number): void {
    const last = this.#ends.at(-1);
    if (last !== undefined && endOffset < last.endOffset) this.#ends = [];
    const lastMs = Math.max(atMs, last?.lastMs ?? atMs);
    if (last?.endOffset === endOffset) this.#ends[this.#ends.length - 1] = { ...last, lastMs };
    else this.#ends.push({ firstMs: lastMs, lastMs, endOffset });
    if (this.#ends.length <= mostEnds) return;
    const newest = this.#ends.length - 1;
    this.#ends = this.#ends.filter((_, i) => i % 2 === 0 || i === newest);
  }

  /** Returns the last probe whose records are all stored, and drops those before it. */
  storedUntil(storedOffset: number): SeenEnd | undefined {
    let next = 0;
    while ((this.#ends[next]?.endOffset ?? Number.POSITIVE_INFINITY) <= storedOffset) next++;
    if (next > 1) this.#ends.splice(0, next - 1);
    return next === 0 ? undefined : this.#ends[0];
  }
}
