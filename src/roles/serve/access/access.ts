import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { isSameSecret } from '../../../base/network/is-same-secret.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { Config } from '../../../config/schema.ts';
import { Problem } from '../api/problem.ts';
import { bearerTokenOf } from './bearer-token.ts';
import { isLoopback, isLoopbackHost } from './own-host.ts';
import { TokenFile } from './token-file.ts';

type HttpConfig = Config['http'];

export interface AccessOptions {
  readonly http: HttpConfig;
  readonly log: Logger;
  readonly elapsedMs: () => number;
}

/**
 * What machines ask, by the name in `http.auth.open`. The patterns let through no dot and no backslash: what
 * routes the request resolves `..`.
 */
const machines = [
  ['verdict', /^\/v1\/verdict$/],
  ['gate', /^\/v1\/gate\/\w+$/],
  ['autoscale', /^\/v1\/autoscale$/],
  ['mutes', /^\/v1\/mutes(\/[\w-]+)?$/],
] as const;

/** Header of a listed proxy that names the user. */
const defaultHeader = 'x-forwarded-user';
const cookieName = 'tailmark_token';
const cookieDays = 30;

/** Decides which requests are answered. */
export class Access {
  readonly #http: HttpConfig;
  readonly #tokens: TokenFile | undefined;
  readonly #proxies = new BlockList();

  constructor({ http, log, elapsedMs }: AccessOptions) {
    this.#http = http;
    const { tokens_file: path, proxy } = http.auth ?? {};
    if (path !== undefined) this.#tokens = new TokenFile({ path, log, elapsedMs });
    for (const range of proxy?.addresses ?? []) addRange(this.#proxies, range);
  }

  /** Why a request for data (`/v1`, `/openapi.json`) is not answered: 401 or 403; undefined where it is. */
  refusalOfData(request: IncomingMessage, path: string): Problem | undefined {
    const machine = machines.find(([, pattern]) => pattern.test(path))?.[0];
    if (machine !== undefined && this.#http.auth?.open?.includes(machine) === true)
      return undefined;
    if (this.#identityOf(request) !== undefined) return undefined;
    if (this.#hasLogin) return new Problem(401, this.#howToLogIn());
    return refusalOfOthers(request, machine);
  }

  /**
   * Why a request for a file of the interface is not answered. Files hold no data: with a login they are open,
   * as the page must ask for the token.
   */
  refusalOfPage(request: IncomingMessage): Problem | undefined {
    return this.#hasLogin ? undefined : refusalOfOthers(request);
  }

  get #hasLogin(): boolean {
    return this.#tokens !== undefined || this.#http.auth?.proxy !== undefined;
  }

  /** The cookie for a token, as `Set-Cookie`; undefined where there is no such token. */
  cookieFor(token: string, request: IncomingMessage): string | undefined {
    if (this.#tokens?.nameOf(token) === undefined) return undefined;
    const isSecure = this.#isOfProxy(request) && request.headers['x-forwarded-proto'] === 'https';
    return [
      `${cookieName}=${encodeURIComponent(token)}`,
      'Path=/',
      `Max-Age=${cookieDays * 86_400}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(isSecure ? ['Secure'] : []),
    ].join('; ');
  }

  /** Whether a browser can log in with a token. */
  get hasTokens(): boolean {
    return this.#tokens !== undefined;
  }

  /** Who asks: by the header of a listed proxy, a bearer token, or the cookie of a login. */
  #identityOf(request: IncomingMessage): string | undefined {
    const { auth, operator_token } = this.#http;
    if (auth?.proxy !== undefined && this.#isOfProxy(request)) {
      const user = request.headers[auth.proxy.header ?? defaultHeader];
      if (typeof user === 'string' && user.trim() !== '') return user;
    }
    const token = bearerTokenOf(request.headers.authorization);
    if (token !== undefined) {
      if (operator_token !== undefined && isSameSecret(token, operator_token)) return 'operator';
      return this.#tokens?.nameOf(token);
    }
    const cookie = cookieOf(request);
    return cookie === undefined ? undefined : this.#tokens?.nameOf(cookie);
  }

  #isOfProxy({ socket }: IncomingMessage): boolean {
    const address = socket.remoteAddress?.split('%')[0] ?? '';
    const family = isIP(address);
    return family !== 0 && this.#proxies.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }

  #howToLogIn(): string {
    return this.#tokens === undefined
      ? 'This needs a login at the proxy that http.auth.proxy names.'
      : 'This needs a token of http.auth.tokens_file: Authorization: Bearer TOKEN, or a login on the dashboard.';
  }
}

/** @param machine name in `http.auth.open` that would open the request. */
function refusalOfOthers(
  { socket, headers }: IncomingMessage,
  machine?: (typeof machines)[number][0],
): Problem | undefined {
  const remedy = machine === undefined ? '' : `, or name ${machine} in http.auth.open`;
  if (!isLoopback(socket.localAddress) || !isLoopback(socket.remoteAddress)) {
    return new Problem(
      403,
      'Without http.auth the dashboard and its API answer on loopback addresses only. ' +
        `Set http.auth${remedy}, or forward the port (ssh -L, kubectl port-forward).`,
    );
  }
  if (!isLoopbackHost(headers.host)) {
    return new Problem(
      403,
      'Without http.auth the dashboard and its API answer to localhost, 127.0.0.1 and [::1] only: ' +
        `Host is another name. Set http.auth to serve under a name${remedy}.`,
    );
  }
  return undefined;
}

/** The token of the cookie, if there is exactly one such cookie. */
function cookieOf({ headers }: IncomingMessage): string | undefined {
  const values = (headers.cookie ?? '')
    .split(/;\s*/)
    .filter((pair) => pair.startsWith(`${cookieName}=`))
    .map((pair) => pair.slice(cookieName.length + 1));
  if (values.length !== 1) return undefined;
  try {
    return decodeURIComponent(values[0] ?? '');
  } catch {
    return undefined;
  }
}

/** Adds an address or a range in CIDR notation, which the configuration has checked. */
function addRange(list: BlockList, range: string): void {
  const [address = '', prefix] = range.split('/');
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}
