import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { createMetrics, type Metrics } from '../../../src/base/telemetry/metrics.ts';
import type { Config } from '../../../src/config/schema.ts';
import { Ingester } from '../../../src/ingest/ingester.ts';
import { ingestClient } from '../../../src/ingest/open-source.ts';
import { KafkaSource } from '../../../src/kafka/kafka-source.ts';
import { type ChunkStore, ClickHouseChunkStore } from '../../../src/sink/chunks/chunk-store.ts';
import type { Source } from '../../../src/source/source.ts';
import type { Rig } from './rig.ts';

export interface IngesterParts {
  readonly config?: Config;
  /** Wraps the real store. */
  readonly wrapStore?: (store: ChunkStore) => ChunkStore;
  /** Wraps the real source. */
  readonly wrapSource?: (source: Source) => Source;
  /** Chunks are sealed only when they are full, not by age, however slow the machine. */
  readonly sealsOnlyFull?: boolean;
  /** Clock of the ingester. */
  readonly clock?: Clock;
  /** @default a set of its own */
  readonly metrics?: Metrics;
  /** Database that it says to have. @default none */
  readonly storeId?: string;
}

/** The ingest role alone, with wrappers. */
export async function startIngester(rig: Rig, parts: IngesterParts = {}): Promise<Ingester> {
  const { config = rig.config, wrapStore = (store) => store } = parts;
  const { wrapSource = (source) => source, sealsOnlyFull = false, clock = systemClock } = parts;
  const { storeId } = parts;
  const neverTicks = { ...clock, every: () => () => undefined };
  const ingester = new Ingester({
    config,
    source: wrapSource(
      new KafkaSource(config.kafka, {
        log: rig.log,
        kafka: ingestClient(config, rig.log),
        storeId,
      }),
    ),
    store: wrapStore(new ClickHouseChunkStore(rig.client, 'test')),
    ...(storeId === undefined ? {} : { storeId }),
    publisher: rig.publisher,
    log: rig.log,
    metrics: parts.metrics ?? createMetrics(),
    clock: sealsOnlyFull ? neverTicks : clock,
  });
  await ingester.start();
  return ingester;
}
