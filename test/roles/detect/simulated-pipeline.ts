import type { PartitionLog } from '../../../src/kafka/liveness/lag-probe.ts';
import { ArrivalCompleteness } from '../../../src/roles/detect/completeness/arrival-completeness.ts';
import {
  ArrivalLog,
  type ArrivedPartition,
} from '../../../src/roles/detect/completeness/arrival-log.ts';
import type { Completeness } from '../../../src/roles/detect/completeness/completeness.ts';
import type { PartitionProgress } from '../../../src/sink/windows/window-progress.ts';

const startMs = 1_790_000_000_000;
const flushMs = 5_000;

/** Traffic of one partition: when records arrive, and how old their events are then. */
export interface Traffic {
  /** Interval between records; 0 for none. */
  everyMs: number;
  /** Age of events at arrival; negative: their clock is ahead. */
  delayMs: number;
  /** True where it is ingested. */
  isStored: boolean;
  /** Most records stored in a flush. */
  mostPerFlush: number;
  /** True where its events decode. */
  isGood: boolean;
}

class SimulatedPartition implements Traffic {
  everyMs = 1_000;
  delayMs = 0;
  isStored = true;
  mostPerFlush = Number.POSITIVE_INFINITY;
  isGood = true;
  /** Event times of records, by offset; NaN for garbage. */
  readonly records: number[] = [];
  stored = 0;
  watermarkMs = 0;
  flushedMs = 0;
  newestMs = 0;
  endOffset = 0;
}

/** Kafka, ingesters and the ledger in simulated time, a second a step, as the detector sees them. */
export class SimulatedPipeline {
  nowMs = startMs;
  readonly partitions: SimulatedPartition[];
  isKafkaAway = false;
  isStoreAway = false;
  last: Completeness | undefined;
  readonly completeness: ArrivalCompleteness;
  readonly #arrivals: ArrivalLog;

  constructor(count: number, set: (n: number) => Partial<Traffic> = () => ({})) {
    this.partitions = Array.from({ length: count }, (_, n) =>
      Object.assign(new SimulatedPartition(), set(n)),
    );
    const clock = { nowMs: () => this.nowMs } as never;
    this.#arrivals = new ArrivalLog(
      { probe: async () => this.#logs(), close: () => undefined, clusterId: '' },
      clock,
    );
    this.completeness = this.newDetector();
  }

  /** Starts a detector that shares the observations of Kafka. */
  newDetector(): ArrivalCompleteness {
    return new ArrivalCompleteness({
      arrivals: this.#arrivals,
      readProgress: async () => this.#progress(),
      nowMs: () => this.nowMs,
      idleMs: 35_000,
      maxWaitMs: 30_000,
      normalLagMs: 10_000,
      fromEarliest: true,
    });
  }

  get seen(): ReadonlyMap<string, ArrivedPartition> {
    return this.#arrivals.partitions;
  }

  /** Seconds since the start. */
  get second(): number {
    return (this.nowMs - startMs) / 1000;
  }

  /** End of complete windows, in seconds since the start. */
  get completeSecond(): number {
    return ((this.last?.completeMs ?? Number.NaN) - startMs) / 1000;
  }

  set(partition: number, traffic: Partial<Traffic>): void {
    Object.assign(this.partitions[partition] as SimulatedPartition, traffic);
  }

  /** Advances time and traffic, with or without observations of the detector. */
  async pass(seconds: number, isWatched = true): Promise<void> {
    for (let n = 0; n < seconds; n++) {
      this.nowMs += 1_000;
      for (const [at, partition] of this.partitions.entries()) this.#advance(partition, at);
      if (!isWatched) continue;
      await this.#arrivals.probe();
      this.last = await this.completeness.probe();
    }
  }

  #advance(partition: SimulatedPartition, at: number): void {
    const { everyMs, delayMs, isGood, records, mostPerFlush } = partition;
    const sinceMs = this.nowMs - startMs;
    for (let ms = sinceMs - 999; ms <= sinceMs; ms++) {
      if (everyMs === 0 || ms % everyMs !== 0) continue;
      records.push(isGood ? startMs + ms - delayMs : Number.NaN);
    }
    // Partitions are flushed one after the other.
    const isDue = (this.second + at) % (flushMs / 1000) === 0;
    if (!isDue || !partition.isStored || this.isStoreAway) return;
    const end = Math.min(records.length, partition.stored + mostPerFlush);
    const taken = records.slice(partition.stored, end);
    if (taken.length === 0) return;
    partition.stored = end;
    partition.endOffset = end;
    const good = taken.filter((ms) => Number.isFinite(ms));
    if (good.length === 0) return;
    partition.newestMs = Math.max(...good);
    partition.watermarkMs = Math.max(partition.watermarkMs, partition.newestMs);
    partition.flushedMs = this.nowMs;
  }

  #logs(): ReadonlyMap<string, PartitionLog> {
    if (this.isKafkaAway) throw new Error('no answer within 5 s');
    return new Map(
      this.partitions.map(({ records }, at) => [
        `t/${at}`,
        { lowOffset: 0, endOffset: records.length, committedOffset: undefined },
      ]),
    );
  }

  #progress(): PartitionProgress[] {
    if (this.isStoreAway) throw new Error('connect ECONNREFUSED');
    return this.partitions.flatMap(({ endOffset, watermarkMs, flushedMs, newestMs }, partition) =>
      endOffset === 0
        ? []
        : [{ topic: 't', partition, watermarkMs, flushedMs, newestMs, endOffset }],
    );
  }
}
