import { createLog } from '../../src/base/log.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import type { Config } from '../../src/config/schema.ts';
import { type PartitionContext, PartitionIngest } from '../../src/ingest/partition-ingest.ts';
import { RowBinaryWriter } from '../../src/sink/row-binary-writer.ts';
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

/** How a process ended; `undefined` while it runs. */
export type ProcessEnd = 'done' | 'drained' | 'lost' | 'dead';

/** What a PartitionIngest of a process needs, asked of the world under the process's number. */
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
    writer: new RowBinaryWriter(1 << 12),
    store: store.of(process),
    publisher: publisher.of(process),
    deadLetterSuffix: '.dlq',
    sleep: (ms) =>
      world.ask(process, 'sleep', () => {
        world.nowMs += ms;
      }),
    breathe: () => world.ask(process, 'breathe', () => undefined),
    nowMs: () => world.nowMs,
    onFailure,
    log,
    metrics,
  };
}

/** A process that reads the partition to its end as KafkaSource does, then drains. */
export class FakeProcess {
  readonly number: number;
  end: ProcessEnd | undefined;
  /** Errors that no failure we made explains. */
  readonly problems: string[] = [];
  readonly #servers: FakeServers;
  readonly #context: PartitionContext;
  readonly #generation: number;
  readonly #batchSize: () => number;
  #position: number;
  #claim: FakeClaim;
  #ingest: PartitionIngest;
  #quiet = false;

  /** @param runsAhead offsets beyond the committed one at which reading begins. */
  constructor(
    number: number,
    servers: FakeServers,
    options: {
      readonly config: Config;
      readonly batchSize: () => number;
      readonly runsAhead: number;
    },
  ) {
    this.number = number;
    this.#servers = servers;
    this.#batchSize = options.batchSize;
    this.#context = contextOf(servers, options.config, number, (error) => this.#problem(error));
    this.#generation = servers.broker.join();
    const { committed, records } = servers.broker;
    const ahead =
      (committed.offset ?? 0) + (committed.offset === undefined ? 0 : options.runsAhead);
    // A source that has run ahead has the rest before it; at the end it would wait for more.
    const last = records.at(-1)?.offset ?? 0;
    this.#position = Math.max(committed.offset ?? 0, Math.min(ahead, last));
    this.#claim = this.#newClaim();
    this.#ingest = new PartitionIngest(this.#claim, this.#context);
    void this.#read();
  }

  /** The flush timer. */
  tick(): void {
    if (this.end === undefined) this.#ingest.sealIfDue(0);
  }

  /** Is told to end: reads no more and stores what it has. */
  stop(): void {
    if (this.#quiet || this.end !== undefined) return;
    this.#quiet = true;
    this.#drain('drained');
  }

  die(): void {
    this.end = 'dead';
    this.#servers.world.kill(this.number);
  }

  async #read(): Promise<void> {
    for (;;) {
      try {
        const batch = this.#servers.broker.batch(this.#position, this.#batchSize());
        if (batch === undefined) break;
        await this.#ingest.onBatch(batch, this.#claim.keepAlive);
        if (this.#quiet) return;
        this.#position = batch.nextOffset;
      } catch (error) {
        if (!(error instanceof ClaimLostError || error instanceof MadeFailure))
          this.#problem(error);
        const { rewoundTo } = this.#claim;
        this.#claim.isLost = true;
        if (this.#quiet) return;
        if (rewoundTo === undefined) {
          this.end ??= 'lost';
          return;
        }
        this.#position = rewoundTo;
        this.#claim = this.#newClaim();
        this.#ingest = new PartitionIngest(this.#claim, this.#context);
      }
    }
    this.#quiet = true;
    this.#drain('done');
  }

  #drain(end: ProcessEnd): void {
    const claim = this.#claim;
    this.#ingest.drain().then(
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

  #newClaim(): FakeClaim {
    const { broker, world } = this.#servers;
    return new FakeClaim(broker, world, this.number, this.#generation);
  }

  #problem(error: unknown): void {
    this.problems.push(`process ${this.number}: ${String(error)}`);
  }
}
