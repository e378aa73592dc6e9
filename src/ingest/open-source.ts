import { systemClock } from '../base/clock.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import { createKafkaClient, type KafkaClient, probing } from '../kafka/client/kafka-client.ts';
import { KafkaSource } from '../kafka/kafka-source.ts';
import { WatchedSource } from '../kafka/liveness/watched-source.ts';
import { RecordBatchReader } from '../kafka/protocol/record-batch-reader.ts';
import { FileSource } from '../source/file-source.ts';
import type { Source } from '../source/source.ts';

export interface SourceOptions {
  readonly stdin: NodeJS.ReadableStream;
  /** Start of this run. */
  readonly startedMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The database that events go to. */
  readonly storeId?: string | undefined;
}

/** A client whose consumers read records in place, as KafkaSource needs. */
export function ingestClient(config: Config, log?: Logger): KafkaClient {
  const reader = new RecordBatchReader(config.limits.max_batch_bytes);
  return createKafkaClient(config.kafka, { log, reader });
}

/**
 * The configured source, before it reads.
 *
 * @param storeWaitMs returns how long a partition has waited for ClickHouse.
 */
export function openSource(
  config: Config,
  { stdin, startedMs, log, metrics, storeId }: SourceOptions,
  storeWaitMs: (topic: string, partition: number) => number,
): Source {
  if (config.source.type === 'kafka') {
    const kafka = ingestClient(config, log);
    const probeKafka = createKafkaClient(config.kafka, probing);
    return new WatchedSource(
      { config, kafka, probeKafka, clock: systemClock, storeWaitMs, log, metrics },
      (observed) => new KafkaSource(config.kafka, { log, kafka: observed, storeId }),
    );
  }
  const path = config.source.type === 'file' ? config.source.path : undefined;
  const maxLineBytes = config.limits.max_message_bytes;
  return new FileSource({ path, stdin, startedMs, maxLineBytes });
}
