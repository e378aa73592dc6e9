import { systemClock } from './base/clock.ts';
import type { Logger } from './base/telemetry/log.ts';
import {
  createMetrics,
  type Metrics,
  readMetrics,
  renderMetrics,
} from './base/telemetry/metrics.ts';
import type { Config } from './config/schema.ts';
import { LedgerWatch } from './ingest/ledger-watch.ts';
import { openIngest, type RunningIngest } from './ingest/open-ingest.ts';
import { openKafkaPublisher } from './kafka/client/kafka-publisher.ts';
import { ensureTopics, requireTopics } from './kafka/client/kafka-topics.ts';
import type { Publisher } from './kafka/client/publisher.ts';
import { startWatchLoop } from './roles/detect/detect-role.ts';
import type { WatchLoop } from './roles/detect/leader-loop.ts';
import { startHttpServer } from './serve/http-server.ts';
import { openClickHouse } from './sink/clickhouse.ts';
import { requireSchema } from './sink/require-schema.ts';
import { startWorkers, type WorkerPool } from './workers/worker-pool.ts';

/** What a process does: any of them, each scalable alone. */
export const roles = ['ingest', 'detect', 'serve'] as const;
export type Role = (typeof roles)[number];

export interface PipelineOptions {
  readonly roles: readonly Role[];
  readonly stdin: NodeJS.ReadableStream;
  readonly log: Logger;
  /** @default a set of its own */
  readonly metrics?: Metrics;
  /** A file for where CPU time went: worker n writes `FILE.n`. */
  readonly profile?: string | undefined;
}

export interface Pipeline {
  /** Address of /healthz, /readyz and /metrics; undefined without the role `serve`. */
  readonly url: string | undefined;
  /** Resolves at the end of a source that has one; rejects when the work cannot go on. */
  readonly done: Promise<void>;
  /** Stores what was read, judges what is complete, gives everything back. */
  stop(): Promise<void>;
}

/**
 * The whole flow:
 *
 *     source ─> decode ─> window + sketch ─> sink ─> ClickHouse      ingest: Ingester, in N workers
 *     ClickHouse ─> baseline ─> detect ─> alert ─> Kafka, webhooks   detect: Watcher, in one process of all
 *     /healthz  /readyz  /metrics                                    serve
 *
 * @throws OperatorError when a server, topic or table it needs is not there.
 */
export async function startPipeline(config: Config, options: PipelineOptions): Promise<Pipeline> {
  const { log, stdin, metrics = createMetrics() } = options;
  const has = (role: Role) => options.roles.includes(role);
  /** Undoes what was begun, the last first. */
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const client = openClickHouse(config.clickhouse);
    undo.push(() => client.close());
    await requireSchema(client, config.clickhouse);
    const ingest = openIngest(config, { client, stdin, log, metrics });
    const { groupId } = ingest;
    const writes = config.source.type === 'kafka' && (has('ingest') || has('detect'));
    const publisher = writes ? await openTopics(config, has('ingest')) : undefined;
    if (publisher !== undefined) undo.push(() => publisher.close());

    let watch: WatchLoop | undefined;
    if (has('detect')) {
      watch = await startWatchLoop({ config, groupId, client, publisher, log, metrics });
      undo.push(watch.stop.bind(watch));
    }

    let ingesting: RunningIngest | undefined;
    let pool: WorkerPool | undefined;
    if (has('ingest')) {
      const intervalMs = config.ingest.verify_interval;
      const clock = systemClock;
      const ledger = new LedgerWatch({ client, groupId, intervalMs, clock, log, metrics });
      ledger.start();
      // Before the ingester, so that it ends after it: a slow look is not to hold up the drain.
      undo.push(ledger.stop.bind(ledger));
      if (config.ingest.workers > 1) {
        pool = await startWorkers(config, { clock: systemClock, profile: options.profile });
      }
      ingesting = pool ?? (await ingest.start(publisher));
      undo.push(ingesting.stop);
    }

    let url: string | undefined;
    if (has('serve')) {
      const problems = () => [...(ingesting?.problems() ?? []), ...(watch?.problems() ?? [])];
      const page = async () => {
        if (pool === undefined) return metrics.registry.metrics();
        return renderMetrics([await readMetrics(metrics), ...(await pool.metrics())]);
      };
      const notes = () => watch?.notes() ?? [];
      const http = await startHttpServer(config.http.listen, { problems, notes, metrics: page });
      undo.push(() => http.close());
      url = http.url;
    }
    const never = new Promise<never>(() => undefined);
    const done = Promise.race([ingesting?.done ?? never, watch?.done ?? never]);
    done.catch(() => undefined);
    return { url, done, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A publisher, and the topics that are ours to write to. */
async function openTopics(config: Config, isIngesting: boolean): Promise<Publisher> {
  const { topics, dead_letter_suffix } = config.kafka;
  // First, so that a mistyped topic leaves no dead-letter topic behind.
  if (isIngesting) await requireTopics(config.kafka, topics);
  const deadLetters = topics.map((topic) => ({ topic: `${topic}${dead_letter_suffix}` }));
  await ensureTopics(config.kafka, [
    ...(isIngesting ? deadLetters : []),
    { topic: config.alert.topic },
  ]);
  return openKafkaPublisher(config.kafka);
}
