import type { Logger } from '../base/log.ts';
import type { Config } from '../config/schema.ts';
import { registerCompressionCodecs } from './compression.ts';
import { FileSource } from './file-source.ts';
import { KafkaSource } from './kafka-source.ts';
import type { Source } from './source.ts';

export interface OpenSourceOptions {
  readonly stdin: NodeJS.ReadableStream;
  readonly nowMs: number;
  readonly log?: Logger;
}

/** The configured source, not yet reading. */
export function openSource(config: Config, options: OpenSourceOptions): Source {
  const { stdin, nowMs, log } = options;
  const maxLineBytes = config.limits.max_message_bytes;
  switch (config.source.type) {
    case 'kafka':
      registerCompressionCodecs(config.limits.max_batch_bytes);
      return new KafkaSource(config.kafka, { log });
    case 'file':
      return new FileSource({ path: config.source.path, stdin, startedMs: nowMs, maxLineBytes });
    case 'stdin':
      return new FileSource({ path: undefined, stdin, startedMs: nowMs, maxLineBytes });
  }
}
