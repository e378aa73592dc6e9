import { readFileSync } from 'node:fs';
import {
  type ClientRequest,
  get as getHttp,
  Agent as HttpAgent,
  type IncomingMessage,
} from 'node:http';
import { get as getHttps, Agent as HttpsAgent } from 'node:https';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../base/failure.ts';
import { retryAfterMs } from '../base/network/retry-after.ts';
import { tlsFailure } from '../base/network/tls-failure.ts';
import { OperatorError } from '../base/operator-error.ts';
import { authorizationOf, type RegistryConfig } from './registry-login.ts';

/** A response, or why there is none: a text without path and login. */
export type RegistryResponse =
  | { readonly status: number; readonly text: string; readonly retryAfterMs: number | undefined }
  | { readonly error: string };

/** Longest response: a schema of Kafka's default message size fits in. */
const maxResponseBytes = 1024 * 1024;
const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Sends requests to one registry. The login never leaves its origin: other redirects are refused. */
export class RegistryHttp {
  readonly #config: RegistryConfig;
  readonly #base: URL;
  readonly #agent: HttpAgent;
  readonly #nowMs: () => number;

  /** @throws {OperatorError} TAILMARK_CONFIG_INVALID if a certificate or key is not PEM. */
  constructor(config: RegistryConfig, nowMs: () => number) {
    this.#config = config;
    this.#nowMs = nowMs;
    this.#base = new URL(config.url.endsWith('/') ? config.url : `${config.url}/`);
    // A kept connection may be closed by the server just as a request goes out.
    const options = { keepAlive: false, maxSockets: 4 };
    this.#agent =
      this.#base.protocol === 'https:'
        ? new HttpsAgent({ ...options, ...tlsOf(config), rejectUnauthorized: true })
        : new HttpAgent(options);
  }

  /**
   * Requests a path below the configured address. Resolves for every outcome, at the latest after the
   * time-out, redirects and body included.
   *
   * @param path without a slash at its beginning, escaped.
   */
  async get(path: string): Promise<RegistryResponse> {
    const { request_timeout: timeoutMs } = this.#config;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    try {
      let url = new URL(path, this.#base);
      for (let hop = 0; hop <= maxRedirects; hop++) {
        const response = await this.#request(url, deadline.signal);
        if ('error' in response || !redirects.has(response.status)) return response;
        const next = targetOf(response.location, url);
        if (next?.origin !== this.#base.origin) {
          const where = next === undefined ? 'nowhere' : 'another origin';
          return { error: `it redirects to ${where}, which is not followed` };
        }
        url = next;
      }
      return { error: `it redirects more than ${maxRedirects} times` };
    } catch (error) {
      if (deadline.signal.aborted) return { error: `no response within ${timeoutMs} ms` };
      return { error: failureOf(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#agent.destroy();
  }

  async #request(url: URL, signal: AbortSignal): Promise<RawResponse> {
    const authorization = authorizationOf(this.#config);
    const headers = {
      accept: 'application/vnd.schemaregistry.v1+json, application/json',
      'user-agent': 'tailmark',
      ...(authorization === undefined ? {} : { authorization }),
    };
    const get = url.protocol === 'https:' ? getHttps : getHttp;
    const request = get(url, { agent: this.#agent, headers, signal });
    const response = await responseOf(request);
    const text = await textOf(response);
    if (text === undefined) {
      request.destroy();
      return { error: `its response has more than ${maxResponseBytes} bytes` };
    }
    return {
      status: response.statusCode ?? 0,
      text,
      retryAfterMs: retryAfterMs(response.headers['retry-after'], this.#nowMs()),
      location: response.headers.location,
    };
  }
}

type RawResponse =
  | (Exclude<RegistryResponse, { error: string }> & { readonly location: string | undefined })
  | { readonly error: string };

/** Without a password the certificate is the login; with one it only secures the connection. */
function tlsOf({ ca_file, cert_file, key_file }: RegistryConfig) {
  const options = {
    ...(ca_file === undefined ? {} : { ca: readFileSync(ca_file) }),
    ...(cert_file === undefined ? {} : { cert: readFileSync(cert_file) }),
    ...(key_file === undefined ? {} : { key: readFileSync(key_file) }),
  };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new OperatorError(
      'TAILMARK_CONFIG_INVALID',
      `Cannot use schema_registry: ${tlsFailure(cause) ?? messageOf(cause)}`,
      { hint: 'See schema_registry.ca_file, cert_file and key_file.', cause },
    );
  }
  return options;
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Errors after the response come through its body as well.
    request.on('error', reject);
  });
}

/** Reads a body; undefined if it is too long. @throws if it breaks off. */
async function textOf(response: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxResponseBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function targetOf(location: string | undefined, from: URL): URL | undefined {
  return location !== undefined && URL.canParse(location, from.href)
    ? new URL(location, from)
    : undefined;
}

/** The reason for no response, without the address. */
function failureOf(error: unknown): string {
  const tls = tlsFailure(error);
  if (tls !== undefined) return `TLS handshake failed: ${tls}`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code.startsWith('HPE_')) return 'the response is not HTTP';
  return code === '' ? messageOf(error) : `connection failed: ${code}`;
}
