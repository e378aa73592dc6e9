import { systemClock } from '../base/clock.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { Config } from '../config/schema.ts';
import { createKafkaClient, type KafkaClient } from '../kafka/client/kafka-client.ts';
import { KafkaSource } from '../kafka/kafka-source.ts';
import { WatchedSource } from '../kafka/liveness/watched-source.ts';
import { RecordBatchReader } from '../kafka/protocol/record-batch-reader.ts';
import { FileSource } from '../source/file-source.ts';
import type { Source } from '../source/source.ts';

export interface OpenSourceOptions {
  readonly stdin: NodeJS.ReadableStream;
  readonly nowMs: number;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  /** How long a partition has waited for ClickHouse. @default {() => 0} */
  readonly storeWaitMs?: (topic: string, partition: number) => number;
}

/** A client whose consumers read records in place, as KafkaSource needs. */
export function ingestClient(config: Config, log?: Logger): KafkaClient {
  const reader = new RecordBatchReader(config.limits.max_batch_bytes);
  return createKafkaClient(config.kafka, { log, reader });
}

/** Client options for probes: fail fast instead of waiting. */
export const probing = { retries: 1, requestTimeoutMs: 4_000 };

/** The configured source, before it reads. */
export function openSource(config: Config, options: OpenSourceOptions): Source {
  const { stdin, nowMs, log, metrics, storeWaitMs = () => 0 } = options;
  const maxLineBytes = config.limits.max_message_bytes;
  switch (config.source.type) {
    case 'kafka':
      return new WatchedSource(
        {
          config,
          kafka: ingestClient(config, log),
          probeKafka: createKafkaClient(config.kafka, probing),
          clock: systemClock,
          storeWaitMs,
          log,
          metrics,
        },
        (kafka) => new KafkaSource(config.kafka, { log, kafka }),
      );
    case 'file':
      return new FileSource({ path: config.source.path, stdin, startedMs: nowMs, maxLineBytes });
    case 'stdin':
      return new FileSource({ path: undefined, stdin, startedMs: nowMs, maxLineBytes });
  }
}
