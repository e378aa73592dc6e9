import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { rootCertificates } from 'node:tls';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
} from '@clickhouse/client';
import { tlsFailure } from '../../base/network/tls-failure.ts';
import { type ErrorCode, OperatorError } from '../../base/operator-error.ts';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import type { Config } from '../../config/schema.ts';
import { reliedSettings } from './query-settings.ts';

export type { ClickHouseClient };

/**
 * A client of the configured server. It drops idle sockets before the server does (after 3 s at least),
 * because a request on a closing socket has an unknown outcome.
 *
 * @param options `useDatabase: false` connects without a database, in order to create it.
 */
export function openClickHouse(
  config: Config['clickhouse'],
  { useDatabase = true } = {},
): ClickHouseClient {
  const { origin, pathname } = new URL(config.url);
  return createClient({
    url: origin,
    // In the URL the client would take the path for a database.
    pathname,
    username: config.username,
    password: config.password,
    ...(useDatabase ? { database: config.database } : {}),
    application: 'tailmark',
    request_timeout: config.request_timeout,
    keep_alive: { enabled: true, idle_socket_ttl: 2_000 },
    // Its errors are thrown and reported once.
    log: { level: ClickHouseLogLevel.OFF },
    ...tlsOf(config),
    clickhouse_settings: reliedSettings,
  });
}

/** Without a password the certificate is the login; with one it only secures the connection. */
function tlsOf({ ca_file, cert_file, key_file, password }: Config['clickhouse']) {
  const ca = ca_file === undefined ? undefined : readFileSync(ca_file);
  if (cert_file === undefined || key_file === undefined) {
    return ca === undefined ? {} : { tls: { ca_cert: ca } };
  }
  const own = { cert: readFileSync(cert_file), key: readFileSync(key_file) };
  if (password === '') {
    return { tls: { ca_cert: ca ?? Buffer.from(rootCertificates.join('\n')), ...own } };
  }
  const trusted = ca === undefined ? {} : { ca };
  return { http_agent: new Agent({ keepAlive: true, maxSockets: 10, ...trusted, ...own }) };
}

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ECONNRESET',
  'EAI_AGAIN',
  'EPIPE',
]);

/** ClickHouse error numbers: authentication failed, wrong password, unknown user. */
const authCodes = new Set(['516', '193', '192', '194']);
/** ClickHouse error numbers: access denied, read-only user. */
const deniedCodes = new Set(['497', '164']);
/** ClickHouse error numbers: unknown table, unknown database; no such column, in three ways. */
const missingCodes = new Set(['60', '81']);
const missingColumnCodes = new Set(['8', '16', '47']);

/** Error numbers of responses that are the same at every attempt, until somebody changes something. */
export const lastingCodes: ReadonlySet<string> = new Set([
  ...authCodes,
  ...deniedCodes,
  ...missingCodes,
  ...missingColumnCodes,
]);

/**
 * Converts an error of ClickHouse or its connection into an OperatorError.
 *
 * @throws any other error, unchanged.
 */
export function clickHouseError(
  error: unknown,
  doing: string,
  config: Config['clickhouse'],
): OperatorError {
  if (error instanceof OperatorError) return error;
  const code = errorCodeOf(error);
  const detail = error instanceof Error ? firstLine(error.message) : String(error);
  const failure = (name: ErrorCode, text: string, hint: string) =>
    new OperatorError(name, `Cannot ${doing}${text}`, { hint, cause: error });
  // Only for connection errors: a response of ClickHouse may contain any text.
  const handshake = error instanceof ClickHouseError ? undefined : tlsProblem(error, code, config);
  if (handshake !== undefined) {
    return failure(
      'TAILMARK_CLICKHOUSE_TLS',
      `: TLS handshake with clickhouse.url failed: ${handshake} (${config.url}: ${detail})`,
      'See clickhouse.ca_file (the CA of the server), cert_file and key_file (the client ' +
        'certificate), and whether clickhouse.url begins with http or https and has the right port.',
    );
  }
  if (isUnreachable(error)) {
    const hint = isTimeout(error) ? timeoutHint : unreachableHint;
    return failure(
      'TAILMARK_CLICKHOUSE_UNREACHABLE',
      `: ClickHouse does not respond at clickhouse.url: ${config.url} (${code || detail})`,
      code === 'ECONNRESET' ? closedHint(config) : hint,
    );
  }
  if (authCodes.has(code)) {
    return failure(
      'TAILMARK_CLICKHOUSE_AUTH',
      `: ClickHouse rejected clickhouse.username with its password: ${config.username}`,
      'Set clickhouse.username and clickhouse.password_file, or TAILMARK_CLICKHOUSE_PASSWORD.',
    );
  }
  if (deniedCodes.has(code)) {
    return failure(
      'TAILMARK_CLICKHOUSE_DENIED',
      `: clickhouse.username must have the rights of its role; ${config.username} lacks one: ${detail}`,
      'Grant it (sql/users.sql has the rights of each role), or name what this user is for: `tailmark check --connect --roles`.',
    );
  }
  if (missingCodes.has(code) || missingColumnCodes.has(code)) {
    // ClickHouse calls the landing table a view here.
    const target = /^Target table '(?:[^'.]*\.)?([^'.]+)' of view/.exec(detail)?.[1];
    const what = missingCodes.has(code) ? 'tables' : 'columns';
    const found = target === undefined ? `tailmark's ${what}: ${detail}` : `table ${target}`;
    return failure(
      'TAILMARK_SCHEMA_MISSING',
      `: database ${config.database} lacks ${found}`,
      missingCodes.has(code)
        ? 'Run `tailmark migrate`.'
        : 'Run `tailmark migrate`. If that changes nothing, somebody has dropped a column: restore it as sql/ has it.',
    );
  }
  if (!(error instanceof ClickHouseError)) {
    if (!isForeignResponse(error)) throw error;
    return failure(
      'TAILMARK_CLICKHOUSE_UNREACHABLE',
      `: clickhouse.url must be the HTTP interface of ClickHouse: ${config.url} responded "${detail}"`,
      'A proxy or another server responded. A path in the URL is where a proxy serves ClickHouse; ' +
        'the database is clickhouse.database.',
    );
  }
  const hint = `ClickHouse responded with error ${code || 'unknown'}; see its log.`;
  return failure('TAILMARK_CLICKHOUSE_FAILED', `: ${detail}`, hint);
}

const unreachableHint =
  'Start the server (`tailmark up` runs one here) or set clickhouse.url or TAILMARK_CLICKHOUSE_URL.';
const timeoutHint =
  'Ask it for /ping with curl. If it says Ok, the statement needs longer: raise clickhouse.request_timeout. ' +
  'Else the server hangs, or a firewall drops packets: see its log, and restart it.';

/** Error of a server that takes connections and responds to nothing. */
export function silentServer(doing: string, url: string, silentMs: number): OperatorError {
  const seconds = Math.round(silentMs / 1000);
  return new OperatorError(
    'TAILMARK_CLICKHOUSE_UNREACHABLE',
    `Cannot ${doing}: ClickHouse does not respond at clickhouse.url: ${url} (nothing for ${seconds} s, not even to /ping)`,
    { hint: 'The server hangs, or a firewall drops packets: see its log, and restart it.' },
  );
}

/** True for an error of a server that gave no response. */
export function isUnreachable(error: unknown): boolean {
  return unreachableCodes.has(errorCodeOf(error)) || isTimeout(error);
}

/** True for the client's own error: no response within its request timeout. */
function isTimeout(error: unknown): boolean {
  return !(error instanceof ClickHouseError) && /Timeout error/.test(String(error));
}

/** A server that closes the connection without a message was often addressed by the wrong protocol. */
function closedHint({ url }: Config['clickhouse']): string {
  return url.startsWith('https:')
    ? 'The server closed the connection; it may not trust the client certificate: see clickhouse.cert_file.'
    : 'The server closed the connection; its port may require TLS: clickhouse.url then begins with https.';
}

/** Reason of a failed TLS handshake, on either side; undefined for other errors. */
function tlsProblem(
  error: unknown,
  code: string,
  { url }: Config['clickhouse'],
): string | undefined {
  if (url.startsWith('https:')) return tlsFailure(error);
  return code.startsWith('HPE_') ? 'the server does not speak HTTP without TLS there' : undefined;
}

/** True for an unknown table (60) or database (81). */
export function isMissing(error: unknown): boolean {
  return missingCodes.has(errorCodeOf(error));
}

/** The system's error code, or ClickHouse's error number, as text; '' without one. */
export function errorCodeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    return String(error.code);
  }
  return 'cause' in error ? errorCodeOf(error.cause) : '';
}

/** Detects an HTTP error without ClickHouse's form: the client's parser throws its text. */
function isForeignResponse(error: unknown): boolean {
  return error instanceof Error && /\bparseError\b/.test(error.stack ?? '');
}

/** Hides secrets before truncating: half a secret would not be recognized. */
function firstLine(text: string): string {
  const line = knownSecrets.hide(text).split('\n', 1)[0] ?? '';
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
