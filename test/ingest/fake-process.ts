import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import type { Config } from '../../src/config/schema.ts';
import { DeadLetterBudget } from '../../src/ingest/letters/dead-letter-budget.ts';
import { type PartitionContext, PartitionIngest } from '../../src/ingest/partition-ingest.ts';
import { PausedPartitions } from '../../src/ingest/paused-partitions.ts';
import { resolveStartPosition, type StartPosition } from '../../src/ingest/start-position.ts';
import { ChunkBlock } from '../../src/sink/chunks/chunk-block.ts';
import { ClaimLostError } from '../../src/source/source.ts';
import { type FakeBroker, FakeClaim } from './fake-broker.ts';
import type { FakeChunkStore } from './fake-chunk-store.ts';
import type { FakePublisher } from './fake-publisher.ts';
import { type FakeWorld, MadeFailure } from './fake-world.ts';

const log = createLog({ level: 'silent' });
const metrics = createMetrics();

export interface FakeServers {
  readonly world: FakeWorld;
  readonly broker: FakeBroker;
  readonly store: FakeChunkStore;
  readonly publisher: FakePublisher;
}

/** End of a process; `undefined` while it runs. */
export type ProcessEnd = 'done' | 'drained' | 'lost' | 'dead';

/** Context of a PartitionIngest, whose calls go to the world under the process's number. */
export function contextOf(
  servers: FakeServers,
  config: Config,
  process: number,
  onFailure: (error: unknown) => void,
): PartitionContext {
  const { world, store, publisher } = servers;
  return {
    config,
    groupId: 'g',
    block: new ChunkBlock(),
    store: store.of(process),
    publisher: publisher.of(process),
    deadLetterSuffix: '.dlq',
    letterBudget: new DeadLetterBudget(1e9),
    clock: {
      nowMs: () => world.nowMs,
      elapsedMs: () => world.nowMs,
      sleep: (ms) =>
        world.ask(process, 'sleep', () => {
          world.nowMs += ms;
        }),
      yieldToEventLoop: () => world.ask(process, 'yieldToEventLoop', () => undefined),
      every: () => () => undefined,
    },
    guardMs: 5_000,
    onFailure,
    lateShare: { count: () => undefined },
    paused: new PausedPartitions(metrics, log),
    log,
    metrics,
  };
}

/** A process that reads the partition to its end as KafkaSource does, then drains. */
export class FakeProcess {
  readonly number: number;
  end: ProcessEnd | undefined;
  /** Errors that no injected failure explains. */
  readonly problems: string[] = [];
  readonly #servers: FakeServers;
  readonly #context: PartitionContext;
  readonly #batchSize: () => number;
  readonly #claim: FakeClaim;
  #ingest: PartitionIngest | undefined;
  #isStopping = false;

  constructor(
    number: number,
    servers: FakeServers,
    options: { readonly config: Config; readonly batchSize: () => number },
  ) {
    const { broker, world } = servers;
    this.number = number;
    this.#servers = servers;
    this.#batchSize = options.batchSize;
    this.#context = contextOf(servers, options.config, number, (error) => this.#problem(error));
    this.#claim = new FakeClaim(broker, world, number, broker.join());
    void this.#run();
  }

  /** The flush timer. */
  tick(): void {
    if (this.end === undefined) this.#ingest?.sealIfDue(0);
  }

  /** Stops reading and stores what it has. */
  stop(): void {
    if (this.#isStopping || this.end !== undefined) return;
    this.#isStopping = true;
    this.#drain('drained');
  }

  die(): void {
    this.end = 'dead';
    this.#servers.world.kill(this.number);
  }

  async #run(): Promise<void> {
    try {
      const place = await this.#place();
      this.#ingest = new PartitionIngest(this.#claim, place, this.#context);
      await this.#read(this.#ingest, place.readOffset);
    } catch (error) {
      if (!isExpected(error)) this.#problem(error);
      this.#claim.isLost = true;
      if (!this.#isStopping) this.end ??= 'lost';
      return;
    }
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#drain('done');
  }

  /** Retries until it has a response, as a source does. */
  async #place(): Promise<StartPosition> {
    const { store } = this.#context;
    for (;;) {
      try {
        const found = await this.#claim.find();
        return await resolveStartPosition(this.#claim, found, {
          groupId: 'g',
          startFrom: 'earliest',
          store,
          nowMs: this.#context.clock.nowMs(),
        });
      } catch (error) {
        if (!(error instanceof MadeFailure)) throw error;
      }
    }
  }

  async #read(ingest: PartitionIngest, from: number): Promise<void> {
    for (let position = from; !this.#isStopping; ) {
      const batch = this.#servers.broker.batch(position, this.#batchSize());
      if (batch === undefined) return;
      await ingest.onBatch(batch, this.#claim.keepAlive);
      position = batch.nextOffset;
    }
  }

  #drain(end: ProcessEnd): void {
    const claim = this.#claim;
    (this.#ingest?.drain() ?? Promise.resolve()).then(
      () => {
        claim.isLost = true;
        this.end ??= end;
      },
      (error: unknown) => {
        if (!(error instanceof ClaimLostError)) this.#problem(error);
        claim.isLost = true;
        this.end ??= 'lost';
      },
    );
  }

  #problem(error: unknown): void {
    this.problems.push(`process ${this.number}: ${String(error)}`);
  }
}

/** True for an error that an injected failure or a lost claim explains. */
function isExpected(error: unknown): boolean {
  return error instanceof ClaimLostError || error instanceof MadeFailure;
}
