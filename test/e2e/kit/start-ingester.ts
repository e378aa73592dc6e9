import { createMetrics } from '../../../src/base/metrics.ts';
import type { Config } from '../../../src/config/schema.ts';
import { Ingester } from '../../../src/ingest/ingester.ts';
import { type ChunkStore, ClickHouseChunkStore } from '../../../src/sink/chunk-store.ts';
import { KafkaSource } from '../../../src/source/kafka-source.ts';
import type { Source } from '../../../src/source/source.ts';
import type { Rig } from './rig.ts';

export interface IngesterParts {
  readonly config?: Config;
  /** Stands between the ingester and the real store. */
  readonly wrapStore?: (store: ChunkStore) => ChunkStore;
  /** Stands between the ingester and the real source. */
  readonly wrapSource?: (source: Source) => Source;
}

/** The ingest role alone, with something put in between. */
export async function startIngester(rig: Rig, parts: IngesterParts = {}): Promise<Ingester> {
  const { config = rig.config, wrapStore = (store) => store } = parts;
  const { wrapSource = (source) => source } = parts;
  const ingester = new Ingester({
    config,
    source: wrapSource(new KafkaSource(config.kafka, { log: rig.log })),
    store: wrapStore(new ClickHouseChunkStore(rig.client, 'test')),
    publisher: rig.publisher,
    log: rig.log,
    metrics: createMetrics(),
  });
  await ingester.start();
  return ingester;
}
