import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { generateCookie } from 'hono/cookie';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { Config } from '../../../config/schema.ts';
import { Problem } from '../../http/problem.ts';
import { type Caller, strangerAt } from '../http/caller.ts';
import { LoginAttempts } from './login-attempts.ts';
import { Sessions, sessionMs } from './sessions.ts';
import { operatorName, type Token, TokenFile } from './token-file.ts';

type HttpConfig = Config['http'];

export interface AccessOptions {
  readonly http: HttpConfig;
  readonly log: Logger;
  readonly elapsedMs: () => number;
}

/**
 * Requests of machines, by the name in `http.auth.open`. The patterns let through no dot and no backslash:
 * what routes the request resolves `..`.
 */
const machines = [
  ['verdict', /^\/v1\/verdict$/],
  ['gate', /^\/v1\/gate\/\w+$/],
  ['autoscale', /^\/v1\/autoscale$/],
  ['mutes', /^\/v1\/mutes(\/[\w-]+)?$/],
] as const;

const cookieName = 'tailmark_session';

/** A token, or the session that it has opened. */
type Identity = Token & { readonly isSession?: true };

/** Decides which requests are answered. */
export class Access {
  readonly #http: HttpConfig;
  readonly #tokens: TokenFile | undefined;
  readonly #proxies = new BlockList();
  readonly #sessions: Sessions;
  readonly #attempts: LoginAttempts;
  readonly #log: Logger;
  readonly #operatorDigest: Buffer | undefined;
  readonly #identities = new WeakMap<IncomingMessage, Identity | Problem | undefined>();

  constructor({ http, log, elapsedMs }: AccessOptions) {
    this.#http = http;
    this.#log = log;
    const { operator_token: operatorToken } = http;
    this.#operatorDigest = operatorToken === undefined ? undefined : digestOf(operatorToken);
    this.#sessions = new Sessions(elapsedMs);
    this.#attempts = new LoginAttempts({ log, elapsedMs });
    const { tokens_file: path, proxy } = http.auth ?? {};
    if (path !== undefined) this.#tokens = new TokenFile({ path, log, elapsedMs });
    for (const range of proxy?.addresses ?? []) addRange(this.#proxies, range);
  }

  /** The refusal of a request for data (`/v1`, `/openapi.json`): 401, 403 or 429; undefined for others. */
  refusalOfData(request: IncomingMessage, path: string): Problem | undefined {
    const identity = this.#identityOf(request);
    if (identity instanceof Problem) return identity;
    const machine = machines.find(([, pattern]) => pattern.test(path))?.[0];
    if (machine !== undefined && this.#http.auth?.open?.includes(machine) === true)
      return undefined;
    if (identity !== undefined) return undefined;
    if (this.#hasLogin) return new Problem(401, this.#howToLogIn());
    return refusalOfOthers(request, machine);
  }

  /**
   * The refusal of a request for a file of the interface. Files hold no data: with a login they are open,
   * as the page must ask for the token.
   */
  refusalOfPage(request: IncomingMessage): Problem | undefined {
    return this.#hasLogin ? undefined : refusalOfOthers(request);
  }

  /** The caller of a request that is answered. */
  callerOf(request: IncomingMessage): Caller {
    const address = this.#addressOf(request);
    const identity = this.#identityOf(request);
    if (identity === undefined || identity instanceof Problem) {
      return strangerAt(address, !this.#hasLogin && refusalOfOthers(request) === undefined);
    }
    const { name: login, models, isSession = false } = identity;
    // A browser sends the cookie of a session by itself: it changes nothing.
    const mayOperate = identity.mayOperate && !isSession;
    return { login, address, models, mayOperate, isSession, mayListModels: models === undefined };
  }

  get #hasLogin(): boolean {
    return this.#tokens !== undefined || this.#http.auth?.proxy?.header !== undefined;
  }

  /**
   * Opens a session for a token. Returns its cookie, as `Set-Cookie`.
   *
   * @throws Problem 401 without such a token, 429 where the address has tried too many
   */
  openSession(token: string, request: IncomingMessage): string {
    const digest = digestOf(token);
    const found = this.#tokenOf(digest, request);
    if (found instanceof Problem) throw found;
    // The operator token is for programs: a browser sends the cookie of a session by itself.
    if (found === undefined || found === operator) {
      throw new Problem(401, 'http.auth.tokens_file has no such token.');
    }
    const { name } = found;
    this.#log.info({ name, address: this.#addressOf(request) }, 'a session was opened');
    return this.#cookie(this.#sessions.open(digest), sessionMs / 1000, request);
  }

  /**
   * Ends the session of a request. Returns what removes its cookie, as `Set-Cookie`; undefined without a
   * session. A browser sends no cookie for a form of another site, which therefore removes none.
   */
  closeSession(request: IncomingMessage): string | undefined {
    const id = cookieOf(request);
    if (id === undefined) return undefined;
    this.#sessions.close(id);
    return this.#cookie('', 0, request);
  }

  #cookie(id: string, seconds: number, request: IncomingMessage): string {
    const isSecure = this.#isOfProxy(request) && request.headers['x-forwarded-proto'] === 'https';
    return generateCookie(cookieName, id, {
      ...{ path: '/', maxAge: seconds, httpOnly: true, sameSite: 'Strict', secure: isSecure },
    });
  }

  /** True where a browser can log in with a token. */
  get hasTokens(): boolean {
    return this.#tokens !== undefined;
  }

  /** The identity of who asks. It is found once a request, so that a wrong token counts as one attempt. */
  #identityOf(request: IncomingMessage): Identity | Problem | undefined {
    if (!this.#identities.has(request)) this.#identities.set(request, this.#identify(request));
    return this.#identities.get(request);
  }

  /**
   * The identity of who asks: by the header of a listed proxy, a bearer token, or the session of a login. A
   * user of the proxy may have a token that operates too. A problem where the address has tried too many tokens.
   */
  #identify(request: IncomingMessage): Identity | Problem | undefined {
    const { auth } = this.#http;
    const token = bearerTokenOf(request.headers.authorization);
    const digest = token === undefined ? undefined : digestOf(token);
    const header = auth?.proxy?.header;
    if (header !== undefined && this.#isOfProxy(request)) {
      const user = request.headers[header];
      if (typeof user === 'string' && user.trim() !== '') {
        return this.#userOfProxy(user, digest);
      }
    }
    if (digest !== undefined) return this.#tokenOf(digest, request);
    const session = cookieOf(request);
    const opened = session === undefined ? undefined : this.#sessions.tokenDigestOf(session);
    const found = opened === undefined ? undefined : this.#tokens?.tokenOf(opened);
    return found && { ...found, isSession: true };
  }

  /**
   * A user of the proxy, with what a token that operates opens. Other tokens are the proxy's own business: they are
   * neither tried nor counted.
   */
  #userOfProxy(user: string, digest: Buffer | undefined): Identity {
    const known = digest === undefined ? undefined : this.#tokens?.tokenOf(digest);
    const token = this.#isOperator(digest) ? operator : known;
    // That is the name of the operator token.
    const name = user === operatorName ? `${user} (of the proxy)` : user;
    if (token?.mayOperate !== true) return { name, models: undefined, mayOperate: false };
    return { name, models: token.models, mayOperate: true };
  }

  #isOperator(digest: Buffer | undefined): boolean {
    if (digest === undefined || this.#operatorDigest === undefined) return false;
    return timingSafeEqual(digest, this.#operatorDigest);
  }

  /** A token, by its digest; a wrong one counts as an attempt. */
  #tokenOf(digest: Buffer, request: IncomingMessage): Token | Problem | undefined {
    // Nothing can be guessed.
    if (this.#operatorDigest === undefined && this.#tokens === undefined) return undefined;
    const address = this.#addressOf(request);
    const refusal = this.#attempts.refusal(address, digest);
    if (refusal !== undefined) return refusal;
    const token = this.#isOperator(digest) ? operator : this.#tokens?.tokenOf(digest);
    if (token === undefined) this.#attempts.refused(address, digest);
    else this.#attempts.accepted(address, digest);
    return token;
  }

  /** The address of a request; through a listed proxy, what that one has added last. */
  #addressOf(request: IncomingMessage): string {
    const direct = request.socket.remoteAddress ?? '';
    if (!this.#isOfProxy(request)) return direct;
    const all = [request.headers['x-forwarded-for']].flat().join(',').split(',');
    const last = all.at(-1)?.trim() ?? '';
    return isIP(last) === 0 ? direct : last;
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

/** The holder of the token of `http.operator_token_file`. */
const operator: Token = { name: operatorName, mayOperate: true, models: undefined };

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

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * True for an address of a socket that is of this machine alone. IPv4 in IPv6 (`::ffff:127.0.0.1`) counts.
 */
function isLoopback(address: string | undefined): boolean {
  const bare = address?.split('%')[0] ?? '';
  const family = isIP(bare);
  return family !== 0 && loopback.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * True for a `Host` header that names a loopback address itself, on any port: a forwarded port is another
 * one. A page elsewhere can let its own name resolve to 127.0.0.1 (DNS rebinding), but the header then has
 * that name.
 */
function isLoopbackHost(host: string | undefined): boolean {
  const name = /^(\[[^\]]+\]|[^:]+)(?::\d{1,5})?$/.exec(host?.toLowerCase() ?? '')?.[1] ?? '';
  return name === 'localhost' || isLoopback(name.replace(/^\[|\]$/g, ''));
}

/**
 * The token of an `Authorization` header; undefined without one. Schemes have no case (RFC 9110, 11.1).
 * `bearerAuth` of Hono decides by the token alone, without the header of a proxy and the cookie of a session.
 */
function bearerTokenOf(authorization: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization ?? '')?.[1];
}

/** The id of the session, if there is exactly one such cookie: `getCookie` of Hono takes the first of several. */
function cookieOf({ headers }: IncomingMessage): string | undefined {
  const values = (headers.cookie ?? '')
    .split(/;\s*/)
    .filter((pair) => pair.startsWith(`${cookieName}=`))
    .map((pair) => pair.slice(cookieName.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** Adds an address or a range in CIDR notation, which the configuration has checked. */
function addRange(list: BlockList, range: string): void {
  const [address = '', prefix] = range.split('/');
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

const digestOf = (token: string) => createHash('sha256').update(token).digest();
