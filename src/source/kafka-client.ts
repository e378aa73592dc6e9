import { readFileSync } from 'node:fs';
import kafkajs, { type KafkaConfig, type SASLOptions } from 'kafkajs';
import { exitCodes } from '../base/exit-codes.ts';
import type { Logger } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config/schema.ts';
import { registerCompressionCodecs } from './compression.ts';

const { Kafka, logLevel } = kafkajs;

export interface KafkaClientOptions {
  /** Where kafkajs' own lines go, at debug; undefined drops them. */
  readonly log?: Logger | undefined;
  /** Attempts before an unreachable cluster is an error. @default {5} */
  readonly retries?: number;
  /** Longest wait for one answer. @default {30_000} */
  readonly requestTimeoutMs?: number;
}

/** A kafkajs client of the configured cluster. */
export function createKafkaClient(config: Config['kafka'], options: KafkaClientOptions = {}) {
  const { log, retries = 5, requestTimeoutMs = 30_000 } = options;
  registerCompressionCodecs();
  const client: KafkaConfig = {
    clientId: config.client_id,
    brokers: config.brokers,
    connectionTimeout: 3_000,
    requestTimeout: requestTimeoutMs,
    retry: { initialRetryTime: 100, maxRetryTime: 5_000, retries },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      const { message, ...rest } = entry.log;
      log?.debug({ kafkajs: { ...rest, timestamp: undefined } }, message);
    },
  };
  if (config.tls !== undefined) client.ssl = tlsOf(config.tls);
  if (config.sasl !== undefined) client.sasl = saslOf(config.sasl);
  return new Kafka(client);
}

function tlsOf(tls: NonNullable<Config['kafka']['tls']>) {
  return {
    ...(tls.ca_file === undefined ? {} : { ca: [readFileSync(tls.ca_file)] }),
    ...(tls.cert_file === undefined ? {} : { cert: readFileSync(tls.cert_file) }),
    ...(tls.key_file === undefined ? {} : { key: readFileSync(tls.key_file) }),
    ...(tls.server_name === undefined ? {} : { servername: tls.server_name }),
  };
}

function saslOf(sasl: NonNullable<Config['kafka']['sasl']>): SASLOptions {
  return {
    mechanism: sasl.mechanism as 'plain',
    username: sasl.username,
    password: sasl.password ?? '',
  };
}

/** Says what went wrong between us and Kafka, in the operator's terms. */
export function kafkaError(error: unknown, doing: string, config: Config['kafka']): OperatorError {
  if (error instanceof OperatorError) return error;
  const root = rootOf(error);
  const detail = root.message.split('\n', 1)[0] ?? '';
  const type = 'type' in root && typeof root.type === 'string' ? root.type : root.name;
  const brokers = config.brokers.join(', ');
  if (/SASL|authentication/i.test(`${type} ${detail}`)) {
    return new OperatorError(
      'TAILMARK_KAFKA_AUTH',
      `Cannot ${doing} as Kafka must accept kafka.sasl: it answered "${detail}"`,
      {
        hint: 'Check kafka.sasl.mechanism, username and password_file (TAILMARK_KAFKA_SASL_PASSWORD).',
        exitCode: exitCodes.config,
        cause: error,
      },
    );
  }
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') {
    return new OperatorError(
      'TAILMARK_KAFKA_TOPIC_MISSING',
      `Cannot ${doing} as the topic must exist: ${detail}`,
      {
        hint: 'Create it, or correct kafka.topics.',
        exitCode: exitCodes.unavailable,
        cause: error,
      },
    );
  }
  if (/Connection|Broker|ECONN|ENOTFOUND|timeout/i.test(`${root.name} ${detail}`)) {
    return new OperatorError(
      'TAILMARK_KAFKA_UNREACHABLE',
      `Cannot ${doing} as a broker must answer at kafka.brokers: it is ${brokers} (${detail})`,
      {
        hint: 'Start Kafka (`tailmark up` runs one here) or set kafka.brokers or TAILMARK_KAFKA_BROKERS.',
        exitCode: exitCodes.unavailable,
        cause: error,
      },
    );
  }
  return new OperatorError('TAILMARK_KAFKA_FAILED', `Cannot ${doing}: ${detail}`, {
    hint: `Kafka answered ${type}; the brokers' logs have more.`,
    exitCode: exitCodes.unavailable,
    cause: error,
  });
}

/** The innermost cause: kafkajs wraps what happened in what it did about it. */
function rootOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
