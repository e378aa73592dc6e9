import { systemClock } from '../base/clock.ts';
import type { Config } from '../config/schema.ts';
import type { Publisher } from '../kafka/client/publisher.ts';
import { ClickHouseChunkStore } from '../sink/chunks/chunk-store.ts';
import { ObservedStore } from '../sink/chunks/observed-store.ts';
import type { ClickHouseClient } from '../sink/clickhouse.ts';
import { Ingester, instanceName } from './ingester.ts';
import { openSource, type SourceOptions } from './open-source.ts';

export interface IngestOptions extends SourceOptions {
  readonly client: ClickHouseClient;
  /** Receives dead letters; a file has none. */
  readonly publisher: Publisher | undefined;
}

/** The ingest role, in one thread or several. */
export interface RunningIngest {
  /** Resolves at the end of a finite source; rejects when the work cannot continue. */
  readonly done: Promise<void>;
  /** Reasons why it is unhealthy; empty when it is healthy. */
  problems(): readonly string[];
  /** Stops reading, stores what was read, and releases the partitions. */
  stop(): Promise<void>;
}

/** ClickHouse's client times out by itself; a call that lasts this much longer is lost. */
const CALL_GRACE_MS = 10_000;

export async function startIngestThread(
  config: Config,
  options: IngestOptions,
): Promise<RunningIngest> {
  const chunkStore = new ClickHouseChunkStore(options.client, instanceName());
  const longestCallMs = config.clickhouse.request_timeout + CALL_GRACE_MS;
  const store = new ObservedStore(chunkStore, systemClock, longestCallMs);
  const source = openSource(config, options, store.waitMs.bind(store));
  const { publisher, log, metrics } = options;
  const ingester = new Ingester({ config, source, store, publisher, log, metrics });
  await ingester.start();
  const done = Promise.race([source.done, ingester.failed]);
  done.catch(() => undefined);
  return {
    done,
    problems: () => [...(source.problems?.() ?? []), ...ingester.problems()],
    stop: () => ingester.drain(),
  };
}
