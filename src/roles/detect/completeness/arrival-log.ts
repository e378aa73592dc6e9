import type { Clock } from '../../../base/clock.ts';
import type { PartitionLog } from '../../../kafka/liveness/lag-probe.ts';
import { ArrivalHistory } from './arrival-history.ts';

/** Whom to ask where partitions end. */
export interface EndProbe {
  /** @throws where the brokers do not answer in time. */
  probe(): Promise<ReadonlyMap<string, PartitionLog>>;
  close(): void;
}

/** How a partition stood at the last look, and how it came to it. */
export interface ArrivedPartition {
  readonly log: PartitionLog;
  readonly history: ArrivalHistory;
}

const LOOK_EVERY_MS = 1_000;

/**
 * Asks Kafka every second which records have arrived, whoever reads them and however they fare. It goes on while
 * the process stands by: a detector that takes the lead knows the last minutes.
 */
export class ArrivalLog {
  readonly #probe: EndProbe;
  readonly #clock: Clock;
  #partitions: ReadonlyMap<string, ArrivedPartition> = new Map();
  #lookedMs = Number.NEGATIVE_INFINITY;
  #failingSinceMs: number | undefined;
  #failure = '';
  #isLooking = false;
  #stopTicking: () => void = () => undefined;

  constructor(probe: EndProbe, clock: Clock) {
    this.#probe = probe;
    this.#clock = clock;
  }

  /** Every partition that Kafka has, by `topic/partition`. */
  get partitions(): ReadonlyMap<string, ArrivedPartition> {
    return this.#partitions;
  }

  /** When the last look began that was answered; -Infinity before the first. */
  get lookedMs(): number {
    return this.#lookedMs;
  }

  /** Since when Kafka does not answer, and why; undefined while it does. */
  get outage(): { readonly sinceMs: number; readonly reason: string } | undefined {
    if (this.#failingSinceMs === undefined) return undefined;
    return { sinceMs: this.#failingSinceMs, reason: this.#failure };
  }

  /** Looks once, then every second. Never rejects. */
  async start(): Promise<void> {
    await this.probe();
    this.#stopTicking = this.#clock.every(LOOK_EVERY_MS, () => void this.probe());
  }

  stop(): void {
    this.#stopTicking();
    this.#probe.close();
  }

  /** One look, unless one is under way. */
  async probe(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const beganMs = this.#clock.nowMs();
    try {
      this.#add(beganMs, await this.#probe.probe());
      this.#failingSinceMs = undefined;
    } catch (error) {
      this.#failingSinceMs ??= beganMs;
      this.#failure = error instanceof Error ? error.message : String(error);
    } finally {
      this.#isLooking = false;
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
    this.#lookedMs = atMs;
  }
}
