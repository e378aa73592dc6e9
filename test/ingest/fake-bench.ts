import { setImmediate as turn } from 'node:timers/promises';
import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import type { Config } from '../../src/config/schema.ts';
import { decodeMetadata } from '../../src/ingest/commit-metadata.ts';
import { type PartitionContext, PartitionIngest } from '../../src/ingest/partition-ingest.ts';
import type { StartPosition } from '../../src/ingest/start-position.ts';
import type { SourceRecord } from '../../src/source/record.ts';
import { FakeBroker, FakeClaim } from './fake-broker.ts';
import { FakeChunkStore } from './fake-chunk-store.ts';
import { logNowMs, logStartMs } from './fake-log.ts';
import { contextOf } from './fake-process.ts';
import { FakePublisher } from './fake-publisher.ts';
import { FakeWorld } from './fake-world.ts';
import { testConfig } from './test-config.ts';

/** One PartitionIngest in a world whose responses the test controls. */
export class FakeBench {
  readonly world = new FakeWorld(logNowMs);
  readonly store = new FakeChunkStore(this.world);
  readonly publisher = new FakePublisher(this.world);
  readonly broker: FakeBroker;
  readonly claim: FakeClaim;
  readonly ingest: PartitionIngest;
  readonly failures: unknown[] = [];
  readonly metrics = createMetrics();
  /** Lines of the log, at any level. */
  readonly lines: string[] = [];

  constructor(
    broker: FakeBroker,
    config: Config = testConfig(),
    world?: { readonly sleep: () => Promise<void> },
    more: Partial<PartitionContext> = {},
    position: Partial<StartPosition> = {},
  ) {
    this.broker = broker;
    this.claim = new FakeClaim(broker, this.world, 0, broker.join());
    const log = createLog({ level: 'silent' });
    const note = (_: object, message: string) => this.lines.push(message);
    const context = contextOf(this, config, 0, (error) => this.failures.push(error));
    const { clock } = context;
    const start = { ...startAtCommit(broker), ...position };
    this.ingest = new PartitionIngest(this.claim, start, {
      ...context,
      ...more,
      metrics: this.metrics,
      clock: { ...clock, ...world },
      log: Object.assign(Object.create(log), { info: note, warn: note, error: note }),
    });
  }

  /** Responds to all calls but the held ones, until none is left or enough have responses. */
  async respondToAll(hold: readonly string[] = [], atMost = 1_000): Promise<void> {
    for (let step = 0; step < atMost; step++) {
      await turn();
      const index = this.world.open.findIndex((op) => !hold.includes(op.name));
      if (index < 0) return;
      this.world.removeAt(index).respond();
    }
  }

  /** Names of calls without a response. */
  get open(): string[] {
    return this.world.open.map((op) => op.name);
  }

  /** Delivers all records from an offset on, as one batch. */
  batch(fetchOffset: number): Promise<void> {
    const batch = this.broker.batch(fetchOffset, 1_000_000);
    if (batch === undefined) throw new Error(`no record from ${fetchOffset} on`);
    return this.ingest.onBatch(batch, this.claim.keepAlive);
  }

  /** The metric of what was removed, by how well it is known. */
  async removed(): Promise<Record<string, number>> {
    const { values } = await this.metrics.eventsRemoved.get();
    const of = (count: string) => values.find(({ labels }) => labels.count === count)?.value ?? 0;
    return { exact: of('exact'), at_most: of('at_most') };
  }

  /** Ranges of the ledger. */
  get ranges(): [number, number][] {
    return this.store.ledger.map((row) => [row.start_offset, row.end_offset]);
  }
}

/** Start position at the group's commit, or at the first record. */
function startAtCommit({ committed, found }: FakeBroker): StartPosition {
  const note = decodeMetadata(committed.metadata);
  const startOffset = committed.offset ?? found.startOffset;
  return {
    reason: 'committed',
    logId: 'c/t',
    leaderEpoch: -1,
    truncatedAt: undefined,
    lost: undefined,
    startOffset,
    readOffset: startOffset,
    watermarkMs: note?.watermarkMs,
    intent: note?.intent,
    lostOffsets: 0,
    removedFrom: startOffset,
    mustCommit: false,
  };
}

/** A record of one event, by default a second after the one before. */
export function recordAt(offset: number, tsMs = logStartMs + offset * 1_000): SourceRecord {
  const event = { ts: tsMs - 2, model: 'm', stages_ms: { forward: 2 } };
  return { offset, timestampMs: logStartMs + offset, value: Buffer.from(JSON.stringify(event)) };
}

/** A log of such records at the offsets given, or [0, count). */
export function logOf(offsets: number | readonly number[], endOffset?: number): FakeBroker {
  const list = typeof offsets === 'number' ? Array.from({ length: offsets }, (_, i) => i) : offsets;
  return new FakeBroker(
    list.map((offset) => recordAt(offset)),
    endOffset ?? (list.at(-1) ?? -1) + 1,
  );
}
