import { pino } from 'pino';
import { vi } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { KafkaSource } from '../../src/kafka/kafka-source.ts';
import { WatchedSource } from '../../src/kafka/liveness/watched-source.ts';
import type { RecordBatch } from '../../src/source/record.ts';
import { type Claim, ClaimLostError, type SourceHandler } from '../../src/source/source.ts';
import { testConfig } from '../ingest/test-config.ts';
import { type FakeKafka, topic } from './fake-kafka.ts';
import { allOf } from './record-batch.ts';

/** The clock of the timers that the test has faked. */
const fakedClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  yieldToEventLoop: () => Promise.resolve(),
  every: (ms, action) => {
    const timer = setInterval(action, ms);
    return () => clearInterval(timer);
  },
};

type OnBatch = (
  claim: Claim,
  batch: RecordBatch,
  keepAlive: () => Promise<void>,
) => Promise<void> | void;

/** A watched KafkaSource on a fake cluster, in simulated time, whose handler commits at once. */
export class WatchedRun implements SourceHandler {
  readonly metrics = createMetrics();
  readonly source: WatchedSource;
  /** Action of the test on a batch before it is handled and committed. */
  onClaim: () => Promise<void> | void = () => undefined;
  meddle: OnBatch = () => undefined;
  storeWaitMs = 0;
  /** How many records before the committed offset reading begins. */
  readBack = 0;
  /** Handled records, as `partition@offset`. */
  readonly handled: string[] = [];
  /** The first problem that made it unready, and its time since the start or `forget`. */
  unready: { readonly afterMs: number; readonly problem: string | undefined } | undefined;
  end: { readonly afterMs: number; readonly error: OperatorError } | undefined;
  readonly #kafka: FakeKafka;
  #sinceMs = Date.now();

  constructor(kafka: FakeKafka) {
    this.#kafka = kafka;
    const defaults = testConfig();
    const config = { ...defaults, kafka: { ...defaults.kafka, topics: [topic] } };
    this.source = new WatchedSource(
      {
        config,
        kafka: kafka.client(),
        probeKafka: kafka.probeClient(),
        clock: fakedClock,
        storeWaitMs: () => this.storeWaitMs,
        log: pino({ level: 'silent' }),
        metrics: this.metrics,
      },
      (client) =>
        new KafkaSource(config.kafka, {
          kafka: client,
          clock: fakedClock,
          log: pino({ level: 'silent' }),
        }),
    );
    this.source.done.catch((error: unknown) => this.#ended(error));
  }

  /** Starts to read, and reads the existing records. */
  async begin(): Promise<void> {
    this.source.start(this).catch((error: unknown) => this.#ended(error));
    await this.pass(3);
    this.forget();
  }

  /** Restarts the time of later measurements. */
  forget(): void {
    this.#sinceMs = Date.now();
    this.unready = undefined;
  }

  /** Advances so many seconds, or up to the end. */
  async pass(seconds: number, each: () => void = () => undefined): Promise<void> {
    for (let second = 0; second < seconds && this.end === undefined; second++) {
      each();
      await vi.advanceTimersByTimeAsync(1_000);
      const [problem] = this.source.problems();
      if (problem === undefined) continue;
      this.unready ??= { afterMs: Date.now() - this.#sinceMs, problem };
    }
  }

  async onClaimed(claim: Claim) {
    await this.onClaim();
    const knownTo = this.#kafka.committed.get(claim.partition) ?? 0;
    return { offset: knownTo - this.readBack, knownTo, leaderEpoch: 0 };
  }

  async onBatch(claim: Claim, batch: RecordBatch, keepAlive: () => Promise<void>): Promise<void> {
    await this.meddle(claim, batch, keepAlive);
    if (claim.isLost) throw new ClaimLostError('t');
    for (const { offset } of allOf(batch.records))
      this.handled.push(`${batch.partition}@${offset}`);
    await claim.commit(batch.nextOffset, '');
  }

  onLost(): void {}

  #ended(error: unknown): void {
    if (!(error instanceof OperatorError)) throw error;
    this.end ??= { afterMs: Date.now() - this.#sinceMs, error };
  }
}
