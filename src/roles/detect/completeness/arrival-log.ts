import type { Clock } from '../../../base/clock.ts';
import type { PartitionLog } from '../../../kafka/liveness/lag-probe.ts';
import { ArrivalHistory } from './arrival-history.ts';

/** Reads the end offsets of partitions. */
export interface EndProbe {
  /** @throws where the brokers do not respond in time. */
  probe(): Promise<ReadonlyMap<string, PartitionLog>>;
  close(): void;
}

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
  readonly #probe: EndProbe;
  readonly #clock: Clock;
  #partitions: ReadonlyMap<string, ArrivedPartition> = new Map();
  #probedMs = Number.NEGATIVE_INFINITY;
  #failingSinceMs: number | undefined;
  #failure = '';
  #isProbing = false;
  #stopTicking: () => void = () => undefined;

  constructor(probe: EndProbe, clock: Clock) {
    this.#probe = probe;
    this.#clock = clock;
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
  get outage(): { readonly sinceMs: number; readonly reason: string } | undefined {
    if (this.#failingSinceMs === undefined) return undefined;
    return { sinceMs: this.#failingSinceMs, reason: this.#failure };
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
      this.#failingSinceMs = undefined;
    } catch (error) {
      this.#failingSinceMs ??= startedMs;
      this.#failure = error instanceof Error ? error.message : String(error);
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
