import { readFileSync } from 'node:fs';
import kafkajs, { type KafkaConfig, type Mechanism, type SASLOptions } from 'kafkajs';
import { invariant } from '../../base/invariant.ts';
import { tlsFailure } from '../../base/network/tls-failure.ts';
import { type ErrorCode, OperatorError } from '../../base/operator-error.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Config } from '../../config/schema.ts';
import { registerCompressionCodecs } from '../compression/compression.ts';
import { brokerErrorType } from '../errors/broker-error.ts';
import { loginsOf, lostHint } from '../login/logins.ts';
import { oauthBearer } from '../login/oauth-bearer.ts';
import { useWholeFrames } from '../patches/connection/use-whole-frames.ts';
import { fetchInPlace } from '../patches/fetch-in-place.ts';
import { FramePool } from '../protocol/frame-pool.ts';
import { frameSockets } from '../protocol/frame-socket.ts';
import type { RecordBatchReader } from '../protocol/record-batch-reader.ts';
import { setTraffic, Traffic } from '../traffic/traffic.ts';
import { brokerName, ipv6Sockets } from './ipv6-brokers.ts';
import { kafkajsInternals, patchKafkajs } from './patch-kafkajs.ts';

const { Kafka, logLevel } = kafkajs;
/** The type of kafkajs' client. Other folders use this name, not kafkajs. */
export type KafkaClient = InstanceType<typeof Kafka>;

export interface KafkaClientOptions {
  /** Receives kafkajs' log lines at debug level; undefined drops them. */
  readonly log?: Logger | undefined;
  /** Attempts before an unreachable cluster is an error. @default {5} */
  readonly retries?: number;
  /** Longest wait for one response. @default {30_000} */
  readonly requestTimeoutMs?: number;
  /**
   * Makes consumers deliver `FetchPlaceholder`s with the records that this reader decodes.
   * @default kafkajs' own messages
   */
  readonly reader?: RecordBatchReader;
}

/** Options for probes: fail fast instead of waiting. */
export const probing = { retries: 1, requestTimeoutMs: 4_000 };

export function createKafkaClient(config: Config['kafka'], options: KafkaClientOptions = {}) {
  const { log, retries = 5, requestTimeoutMs = 30_000, reader } = options;
  registerCompressionCodecs();
  patchKafkajs();
  const client: KafkaConfig = {
    clientId: config.client_id,
    brokers: config.brokers.map(brokerName),
    connectionTimeout: 3_000,
    requestTimeout: requestTimeoutMs,
    retry: { initialRetryTime: 100, maxRetryTime: 5_000, retries },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      const { message, ...rest } = entry.log;
      log?.debug({ kafkajs: { ...rest, timestamp: undefined } }, message);
    },
  };
  const { Broker, Connection, socketFactory } = kafkajsInternals();
  const pool = new FramePool();
  const sockets = ipv6Sockets(reader === undefined ? socketFactory() : frameSockets(pool));
  client.socketFactory = sockets;
  if (reader !== undefined) {
    useWholeFrames(Connection);
    fetchInPlace(Broker, sockets, { reader, pool });
  }
  if (config.tls !== undefined) client.ssl = tlsOf(config.tls);
  if (config.sasl !== undefined)
    client.sasl = Object.assign(saslOf(config.sasl), { logins: loginsOf(config) });
  const kafka = new Kafka(client);
  const traffic = new Traffic();
  setTraffic(sockets, traffic);
  setTraffic(kafka, traffic);
  return kafka;
}

function tlsOf(tls: NonNullable<Config['kafka']['tls']>) {
  return {
    ...(tls.ca_file === undefined ? {} : { ca: [readFileSync(tls.ca_file)] }),
    ...(tls.cert_file === undefined ? {} : { cert: readFileSync(tls.cert_file) }),
    ...(tls.key_file === undefined ? {} : { key: readFileSync(tls.key_file) }),
    ...(tls.server_name === undefined ? {} : { servername: tls.server_name }),
  };
}

function saslOf(sasl: NonNullable<Config['kafka']['sasl']>): SASLOptions | Mechanism {
  const { mechanism, username = '', password = '', token_file } = sasl;
  if (mechanism !== 'oauthbearer') return { mechanism: mechanism as 'plain', username, password };
  invariant(token_file !== undefined, 'a login by token has no token_file');
  return { mechanism, authenticationProvider: oauthBearer(token_file) };
}

export function kafkaError(error: unknown, doing: string, config: Config['kafka']): OperatorError {
  const known = operatorErrorIn(error);
  const isKnownLogin = known?.code === 'TAILMARK_KAFKA_AUTH' && loginsOf(config).wereAccepted;
  if (known !== undefined && !isKnownLogin) return known;
  const root = rootOf(error);
  const detail = knownSecrets.hide(root.message.split('\n', 1)[0] ?? '');
  const type = brokerErrorType(root) ?? root.name;
  const brokers = config.brokers.join(', ');
  const made = (code: ErrorCode, message: string, hint: string) =>
    new OperatorError(code, `Cannot ${doing}${message}`, { hint, cause: error });
  if (isKnownLogin || /SASL|authentication/i.test(`${type} ${detail}`)) {
    if (loginsOf(config).wereAccepted) {
      return made(
        'TAILMARK_KAFKA_LOGIN_LOST',
        `: the broker refused kafka.sasl, which it accepted before: "${detail}"`,
        lostHint,
      );
    }
    return made(
      'TAILMARK_KAFKA_AUTH',
      `: the broker rejected kafka.sasl: "${detail}"`,
      authHint(config, type),
    );
  }
  if (/_AUTHORIZATION_FAILED$/.test(type)) {
    return made(
      'TAILMARK_KAFKA_DENIED',
      `: the user of kafka.sasl or kafka.tls lacks a right: ${detail}`,
      'Grant it (kafka-acls.sh --add): docs/how-to/security.md has what each role needs.',
    );
  }
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') {
    return made(
      'TAILMARK_KAFKA_TOPIC_MISSING',
      `: the topic does not exist: ${detail}`,
      'Create it, or correct kafka.topics.',
    );
  }
  const handshake = config.tls === undefined ? undefined : tlsFailure(root);
  if (handshake !== undefined) {
    return made(
      'TAILMARK_KAFKA_TLS',
      `: TLS handshake with kafka.brokers failed: ${handshake} (${brokers}: ${withoutOpenSsl(detail)})`,
      'See kafka.tls: ca_file is the CA of the brokers, cert_file and key_file are the client ' +
        'certificate, server_name is the name to expect. Remove kafka.tls for a port without TLS.',
    );
  }
  if (/Connection|Broker|ECONN|ENOTFOUND|timeout/i.test(`${root.name} ${detail}`)) {
    return made(
      'TAILMARK_KAFKA_UNREACHABLE',
      `: no broker in kafka.brokers responds: ${brokers} (${detail})`,
      unreachableHint(config, detail),
    );
  }
  return made(
    'TAILMARK_KAFKA_FAILED',
    `: ${detail}`,
    `Kafka responded with ${type}; see the brokers' logs.`,
  );
}

function authHint({ sasl }: Config['kafka'], type: string): string {
  if (sasl === undefined) return 'The listener requires a login: set kafka.sasl.';
  if (type === 'ILLEGAL_SASL_STATE') return 'The listener accepts no login: remove kafka.sasl.';
  return sasl.mechanism === 'oauthbearer'
    ? 'Check the token in kafka.sasl.token_file: the brokers must accept its expiry, audience and issuer.'
    : 'Check kafka.sasl.mechanism, username and password_file (TAILMARK_KAFKA_SASL_PASSWORD).';
}

/**
 * A broker closes the connection without a message when a client speaks another protocol than the listener.
 */
function unreachableHint({ tls, sasl }: Config['kafka'], detail: string): string {
  if (/closed|ECONNRESET|socket hang up/i.test(detail)) {
    const wants = [
      ...(tls === undefined ? ['TLS (kafka.tls)'] : ['a client certificate (kafka.tls.cert_file)']),
      ...(sasl === undefined ? ['a login (kafka.sasl)'] : []),
    ];
    return `The broker closed the connection; its listener may require ${wants.join(' or ')}.`;
  }
  return 'Start Kafka (`tailmark up` runs one here) or set kafka.brokers or TAILMARK_KAFKA_BROKERS.';
}

/** Extracts the reason from OpenSSL's error line, which also names functions and source files. */
function withoutOpenSsl(detail: string): string {
  return /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/i.exec(detail)?.[1] ?? detail;
}

function operatorErrorIn(error: unknown): OperatorError | undefined {
  if (error instanceof OperatorError) return error;
  return error instanceof Error ? operatorErrorIn(error.cause) : undefined;
}

/** Returns the innermost cause, of several the first; kafkajs wraps errors several times. */
export function rootOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return rootOf(error.errors[0]);
  }
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}
