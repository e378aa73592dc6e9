import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { Agent, type buildConnector, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { hostRefusal } from '../../base/network/address-guard.ts';
import { httpDateMs, retryAfterMs } from '../../base/network/retry-after.ts';
import { tlsFailure } from '../../base/network/tls-failure.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { guardedLookup, RefusedHostError, type Resolve } from './guarded-lookup.ts';
import { type HttpPost, type HttpResult, type HttpSender, maxTextBytes } from './http-sender.ts';
import { type Env, type Proxies, proxiesOf } from './proxies.ts';

export interface UndiciSenderOptions {
  /** Longest time of a post: name, connection, headers and body together. */
  readonly timeoutMs: number;
  /** PEM text of the authority that signed the server, instead of those that Node trusts. */
  readonly ca?: string | undefined;
  /** Read for HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
  readonly env: Env;
  readonly nowMs: () => number;
  /** @default {lookup of node:dns/promises} */
  readonly resolve?: Resolve | undefined;
}

/** A response as far as it has arrived. */
interface Arriving {
  /** True where there was a connection. Behind a proxy that is unknown, and taken to be so at the time-out. */
  wasSent: boolean;
  status?: number;
  headers: Dispatcher.ResponseData['headers'];
  readonly chunks: Uint8Array[];
}

/**
 * Posts over HTTP/1.1, each on its own connection. A kept one could be closed by the server just as a post
 * goes out, and the post would be lost. A connection that hangs would hold up the posts behind it. The name
 * is resolved, and its addresses are checked, for every post.
 *
 * A status is a response even if its body is cut off or does not end in time: the text is the part that
 * arrived.
 *
 * Through a proxy the literal addresses of receivers are checked, but names are not: the proxy resolves them
 * and has to refuse link-local addresses itself. HTTP_PROXY is for http only and HTTPS_PROXY for https only.
 */
export class UndiciSender implements HttpSender {
  readonly #options: UndiciSenderOptions;
  readonly #proxies: Proxies;
  readonly #connect: buildConnector.BuildOptions;
  /** Ends of the posts under way. */
  readonly #ends = new Set<(reason: string) => void>();
  #isClosed = false;

  /** @throws {OperatorError} if `ca` is not PEM, or a proxy of `env` cannot be used */
  constructor(options: UndiciSenderOptions) {
    if (options.ca !== undefined) verifyPem(options.ca, 'a receiver');
    this.#options = options;
    this.#proxies = proxiesOf(options.env);
    const { timeoutMs, resolve = lookup } = options;
    this.#connect = {
      lookup: guardedLookup(resolve),
      timeout: timeoutMs,
      // Explicit, as NODE_TLS_REJECT_UNAUTHORIZED=0 would turn it off.
      rejectUnauthorized: true,
      autoSelectFamily: true,
      // Node gives each address of a name but the last 250 ms, which a far server does not meet.
      autoSelectFamilyAttemptTimeout: Math.max(250, Math.ceil(timeoutMs / 4)),
    };
  }

  /** Resolves for every outcome, at the latest after `timeoutMs`. */
  async post(request: HttpPost): Promise<HttpResult> {
    if (!URL.canParse(request.url)) return { error: 'the address is not a URL' };
    const url = new URL(request.url);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      return { error: 'the address must begin with http:// or https://' };
    }
    // A literal is never looked up, so that the guarded lookup does not see it.
    const refusal = hostRefusal(url.hostname);
    if (refusal !== undefined) return { error: refusal };
    if (this.#isClosed) return { error: 'the sender is closed' };
    return this.#postOnce(url, request);
  }

  /** Posts that are still under way end with an error. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#ends) end('the sender is closed');
  }

  async #postOnce(url: URL, request: HttpPost): Promise<HttpResult> {
    const { timeoutMs } = this.#options;
    const dispatcher = this.#dispatcherFor(url);
    const arriving: Arriving = { wasSent: false, headers: {}, chunks: [] };
    dispatcher.once('connect', () => {
      arriving.wasSent = true;
    });
    let end: (reason: string) => void = () => undefined;
    const ended = new Promise<string>((resolve) => {
      end = resolve;
    });
    const timer = setTimeout(() => {
      arriving.wasSent ||= !(dispatcher instanceof Agent);
      end(`no response within ${timeoutMs} ms`);
    }, timeoutMs);
    this.#ends.add(end);
    try {
      const exchanged = exchange(dispatcher, url, request, arriving).then(
        () => undefined,
        httpFailure,
      );
      const error = await Promise.race([exchanged, ended]);
      return this.#resultOf(arriving, error);
    } finally {
      clearTimeout(timer);
      this.#ends.delete(end);
      // Drops the connection in whichever state it is; a signal would not end one that is being opened.
      dispatcher.destroy().catch(() => undefined);
    }
  }

  #dispatcherFor({ protocol }: URL): Dispatcher {
    const { ca, timeoutMs } = this.#options;
    const { httpProxy, httpsProxy, noProxy } = this.#proxies;
    const connect = this.#connect;
    const trusted = ca === undefined ? {} : { ca };
    const direct = { connect: { ...connect, ...trusted } };
    const proxy = protocol === 'https:' ? httpsProxy : httpProxy;
    if (proxy === '') return new Agent(direct);
    return new EnvHttpProxyAgent({
      ...direct,
      httpProxy: proxy,
      httpsProxy: proxy,
      // Without a value undici would read the environment of the process.
      noProxy,
      // Many proxies tunnel to port 443 only; http goes through them as a plain request.
      proxyTunnel: false,
      proxyTls: { ...connect },
      requestTls: { rejectUnauthorized: true, timeout: timeoutMs, ...trusted },
    });
  }

  #resultOf(arriving: Arriving, failure: string | undefined): HttpResult {
    const { status, headers, chunks, wasSent } = arriving;
    const error = failure ?? 'connection failed';
    if (status === undefined) return wasSent ? { error, wasSent } : { error };
    const dateMs = httpDateMs(firstOf(headers.date));
    const bytes = Buffer.concat(chunks).subarray(0, maxTextBytes);
    return {
      status,
      // `stream` leaves out a character that is cut off at the end.
      text: new TextDecoder().decode(bytes, { stream: true }),
      retryAfterMs: retryAfterMs(firstOf(headers['retry-after']), dateMs ?? this.#options.nowMs()),
      dateMs,
      ...(failure !== undefined && { isCut: true }),
    };
  }
}

/** Sends a request and reads the response into `arriving`, to its end or to as much as is used. */
async function exchange(
  dispatcher: Dispatcher,
  url: URL,
  { headers, body: content }: HttpPost,
  arriving: Arriving,
): Promise<void> {
  const response = await dispatcher.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: { ...authorizationOf(url, headers), ...headers },
    body: content,
    reset: true,
  });
  arriving.status = response.statusCode;
  arriving.headers = response.headers;
  const chunks: AsyncIterable<Uint8Array> = response.body;
  let length = 0;
  for await (const chunk of chunks) {
    arriving.chunks.push(chunk);
    length += chunk.length;
    if (length >= maxTextBytes) break;
  }
}

/** The first value of a header that may occur more than once. */
function firstOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

/** The login of an address as basic authorization, unless the request has another one. */
function authorizationOf(
  { username, password }: URL,
  headers: HttpPost['headers'],
): Record<string, string> {
  const hasOther = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (hasOther || (username === '' && password === '')) return {};
  const login = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
}

/** A login whose "%" begins no escape is used unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Node ignores an authority that it cannot read, and then trusts no server.
 *
 * @throws {OperatorError} if it is not PEM
 */
export function verifyPem(ca: string, whose: string): void {
  try {
    new X509Certificate(ca);
  } catch (cause) {
    throw new OperatorError(
      'TAILMARK_CONFIG_INVALID',
      `Cannot send to ${whose} as ca_file must hold a certificate in PEM: it does not`,
      { hint: 'It begins with -----BEGIN CERTIFICATE-----.', cause },
    );
  }
}

/**
 * The reason for no response, for people: `connection failed: ECONNREFUSED`. Messages of libraries are not
 * repeated, as some quote the address with its path. The message of a refused host names the host only.
 */
function httpFailure(error: unknown): string {
  if (error instanceof RefusedHostError) return error.message;
  if (!(error instanceof Error)) return 'connection failed';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const refusingProxy = /^Proxy response \((\d{3})\)/.exec(error.message)?.[1];
  if (refusingProxy !== undefined) return `the proxy refuses to connect: status ${refusingProxy}`;
  if (error.message.startsWith('Proxy Authentication Required')) {
    return 'the proxy refuses to connect: status 407';
  }
  if (code === 'UND_ERR_INVALID_ARG') return 'cannot be sent: a header or the address is not valid';
  const tls = tlsFailure(error);
  if (tls !== undefined) return `TLS: ${tls}`;
  if (code === 'UND_ERR_SOCKET') return 'connection closed before a response';
  if (error.name === 'HTTPParserError') return 'the response is not HTTP';
  return code === '' ? 'connection failed' : `connection failed: ${code}`;
}
