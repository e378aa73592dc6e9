// Covers src/roles/serve/access/login-attempts.ts, src/roles/serve/access/sessions.ts and
// src/roles/serve/access/token-file.ts.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OperatorError } from '../../../../src/base/operator-error.ts';
import { createLog } from '../../../../src/base/telemetry/log.ts';
import { http } from '../../../../src/config/http.ts';
import { Access } from '../../../../src/roles/serve/access/access.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailmark-access-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const log = createLog({ level: 'silent' });
const token = 'a-long-token-of-ann';
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const tokensFile = join(folder, 'tokens');
writeFileSync(tokensFile, `# who may read\n\nann ${digest(token)}\n`);

let elapsedMs = 0;
const accessOf = (settings: object) =>
  new Access({ http: http.parse(settings), log, elapsedMs: () => elapsedMs });

interface Asked {
  readonly local?: string;
  readonly remote?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
/** A request as far as access looks at it. */
const requestOf = ({ local = '127.0.0.1', remote = '127.0.0.1', headers = {} }: Asked) =>
  ({
    socket: { localAddress: local, remoteAddress: remote },
    headers: { host: 'localhost:9464', ...headers },
  }) as unknown as IncomingMessage;
const statusOf = (access: Access, path: string, asked: Asked = {}) =>
  access.refusalOfData(requestOf(asked), path)?.status ?? 200;
const elsewhere = { local: '10.0.0.5', remote: '10.0.0.9', headers: { host: 'tailmark.mon:9464' } };

describe('without http.auth', () => {
  const access = accessOf({});

  it.each([
    '/v1/models',
    '/v1/anomalies/5f2c',
    '/openapi.json',
    '/v1/no-such',
    '/v1/mutes/../models',
    '/v1/mutes/..\\models',
    '/v1/verdict/../models',
    '/v1/gate/promote/../../models',
    '/v1/%6dodels',
  ])('%s answers on loopback addresses only', (path) => {
    expect(statusOf(access, path)).toBe(200);
    expect(statusOf(access, path, elsewhere)).toBe(403);
  });

  it.each([
    ['verdict', '/v1/verdict'],
    ['gate', '/v1/gate/promote'],
    ['gate', '/v1/gate/rollback'],
    ['autoscale', '/v1/autoscale'],
    ['mutes', '/v1/mutes'],
    ['mutes', '/v1/mutes/3f'],
  ])(
    '%s is like all other data, %s, and answers everywhere where it is opened by name',
    (name, path) => {
      expect(statusOf(access, path)).toBe(200);
      expect(statusOf(access, path, elsewhere)).toBe(403);
      expect(access.refusalOfData(requestOf(elsewhere), path)?.message).toContain(
        `Set http.auth, or name ${name} in http.auth.open, or forward`,
      );
      const opened = accessOf({ auth: { open: [name] } });
      expect(statusOf(opened, path, elsewhere)).toBe(200);
      expect(statusOf(opened, '/v1/models', elsewhere)).toBe(403);
      expect(statusOf(opened, '/v1/models')).toBe(200);
      expect(opened.refusalOfPage(requestOf(elsewhere))?.status).toBe(403);
    },
  );

  it('the operator token reads from elsewhere too', () => {
    const withOperator = accessOf({ operator_token: 'the-token-of-the-operator' });
    const headers = { authorization: 'Bearer the-token-of-the-operator' };
    expect(statusOf(withOperator, '/v1/mutes', { ...elsewhere, headers })).toBe(200);
    expect(statusOf(withOperator, '/v1/mutes', elsewhere)).toBe(403);
  });

  it.each([
    ['127.0.0.1:9464', 200],
    ['127.8.9.1', 200],
    ['localhost', 200],
    ['LOCALHOST:80', 200],
    ['[::1]:9464', 200],
    ['attacker.example', 403],
    ['localhost.attacker.example:9464', 403],
    ['127.0.0.1.attacker.example', 403],
    ['127.0.0.1@attacker.example', 403],
    ['0.0.0.0:9464', 403],
    ['[::2]', 403],
    ['', 403],
  ])('Host %s gives %i, for data and pages alike', (host, status) => {
    const request = { headers: { host } };
    expect(statusOf(access, '/v1/models', request)).toBe(status);
    expect(access.refusalOfPage(requestOf(request))?.status ?? 200).toBe(status);
  });

  it.each([
    ['::1', '::1', 200],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1', 200],
    ['127.0.0.1', '10.0.0.9', 403],
    ['10.0.0.5', '127.0.0.1', 403],
    ['::ffff:10.0.0.5', '::ffff:10.0.0.9', 403],
    ['', '', 403],
  ])('a connection to %s from %s gives %i', (local, remote, status) => {
    expect(statusOf(access, '/v1/models', { local, remote })).toBe(status);
  });

  it('says what to do', () => {
    expect(access.refusalOfPage(requestOf(elsewhere))?.message).toContain('Set http.auth');
  });
});

describe('with tokens', () => {
  const access = accessOf({
    auth: { tokens_file: tokensFile, open: ['gate'] },
    operator_token: 'the-token-of-the-operator',
  });
  const bearer = (text: string) => ({ ...elsewhere, headers: { authorization: `Bearer ${text}` } });
  const cookie = (text: string) => ({ ...elsewhere, headers: { cookie: text } });
  const session = access.openSession(token, requestOf(elsewhere)).split(';')[0] ?? '';

  it.each([
    ['none, on this machine too', {}, 401],
    ['a token', bearer(token), 200],
    [
      'a token after `bearer`',
      { ...elsewhere, headers: { authorization: `bearer ${token}` } },
      200,
    ],
    ['another token', bearer(`${token}x`), 401],
    ['the digest of a token', bearer(digest(token)), 401],
    ['the operator token', bearer('the-token-of-the-operator'), 200],
    ['a session', cookie(`a=b; ${session}`), 200],
    ['a wrong session', cookie('tailmark_session=no'), 401],
    ['a token as a session', cookie(`tailmark_session=${token}`), 401],
    ['two sessions', cookie(`tailmark_session=no; ${session}`), 401],
    ['a header of a proxy that is not listed', { headers: { 'x-forwarded-user': 'ann' } }, 401],
  ])('with %s', (_, asked, status) => {
    expect(statusOf(access, '/v1/models', asked)).toBe(status);
    expect(statusOf(access, '/v1/verdict', asked)).toBe(status);
  });

  it('leaves open what http.auth.open names, and the files of the page', () => {
    expect(statusOf(access, '/v1/gate/promote', elsewhere)).toBe(200);
    expect(access.refusalOfPage(requestOf(elsewhere))).toBeUndefined();
  });

  it('gives a session that scripts and other sites do not get, and that is not the token', () => {
    const set = access.openSession(token, requestOf(elsewhere));
    expect(set).toMatch(
      /^tailmark_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(set).not.toBe(access.openSession(token, requestOf(elsewhere)));
    expect(() => access.openSession('no', requestOf(elsewhere))).toThrow(/no such token/);
    // A session of it would change nothing, and read nothing.
    const ofOperator = () => access.openSession('the-token-of-the-operator', requestOf(elsewhere));
    expect(ofOperator).toThrow(/no such token/);
  });

  it('ends a session by a logout, after a week, and with its token', () => {
    const path = join(folder, 'ending');
    writeFileSync(path, `ann ${digest(token)}`);
    const ending = accessOf({ auth: { tokens_file: path } });
    const opened = () =>
      cookie(ending.openSession(token, requestOf(elsewhere)).split(';')[0] ?? '');
    const out = opened();
    expect(statusOf(ending, '/v1/models', out)).toBe(200);
    expect(ending.closeSession(requestOf(out))).toMatch(/^tailmark_session=; Max-Age=0; Path=\//);
    expect(statusOf(ending, '/v1/models', out)).toBe(401);
    // A form of another site comes without the cookie, and must not remove it.
    expect(ending.closeSession(requestOf(elsewhere))).toBeUndefined();
    const old = opened();
    elapsedMs += 7 * 86_400_000 - 1;
    expect(statusOf(ending, '/v1/models', old)).toBe(200);
    elapsedMs += 1;
    expect(statusOf(ending, '/v1/models', old)).toBe(401);
    const last = opened();
    writeFileSync(path, `bob ${digest('a-token-of-bob')}`);
    utimesSync(path, 1, 1);
    elapsedMs += 1_000;
    expect(statusOf(ending, '/v1/models', last)).toBe(401);
  });

  it('ends a token with its line, whatever stands in the others', () => {
    const path = join(folder, 'changing');
    const [ann, bob] = [`ann ${digest(token)}`, `bob ${digest('a-token-of-bob')}`];
    writeFileSync(path, `${ann}\n${bob}`);
    const changing = accessOf({ auth: { tokens_file: path } });
    let second = 0;
    const onceChanged = (change: () => void) => {
      change();
      elapsedMs += 1_000;
      return [token, 'a-token-of-bob'].map((one) => statusOf(changing, '/v1/models', bearer(one)));
    };
    const rewrite = (text: string) => () => {
      writeFileSync(path, text);
      second += 1;
      utimesSync(path, second, second);
    };
    expect(onceChanged(() => undefined)).toEqual([200, 200]);
    expect(onceChanged(rewrite(`ann not-a-digest\n${bob}`))).toEqual([401, 200]);
    expect(onceChanged(rewrite(ann))).toEqual([200, 401]);
    expect(onceChanged(rewrite(''))).toEqual([401, 401]);
    expect(onceChanged(rewrite(bob))).toEqual([401, 200]);
    expect(onceChanged(() => rmSync(path))).toEqual([401, 401]);
    expect(onceChanged(rewrite(ann))).toEqual([200, 401]);
  });

  it.each([
    ['empty', '# nobody\n', 'must have 1 to 1000 tokens; it has 0'],
    ['with a token in the clear', `ann ${token}`, 'line 1 must be a name and a SHA-256'],
    [
      'with the name of the operator',
      `operator ${'a'.repeat(64)}`,
      'line 1 has the name operator, which is that of http.operator_token_file',
    ],
  ])('refuses a file that is %s, without quoting it', (_, text, message) => {
    const path = join(folder, 'bad');
    writeFileSync(path, text);
    const open = () => accessOf({ auth: { tokens_file: path } });
    expect(open).toThrow(OperatorError);
    expect(open).toThrow(message);
    expect(open).not.toThrow(token);
  });
});

describe('tries of tokens', () => {
  const tried = (settings: object = { auth: { tokens_file: tokensFile } }) => accessOf(settings);
  const from = (remote: string, text: string) => ({
    ...elsewhere,
    remote,
    headers: { authorization: `Bearer ${text}` },
  });
  const tryWrong = (access: Access, remote: string, count: number) =>
    Array.from({ length: count }, (_, i) =>
      statusOf(access, '/v1/models', from(remote, `wrong ${i}`)),
    );

  it('are ten an address, by bearer and by login alike, then nothing is looked at', () => {
    const access = tried();
    expect(tryWrong(access, '10.0.0.9', 12)).toEqual([...Array(10).fill(401), 429, 429]);
    expect(statusOf(access, '/v1/models', from('10.0.0.9', token))).toBe(429);
    expect(() => access.openSession(token, requestOf(elsewhere))).toThrow(/10 different wrong/);
    expect(statusOf(access, '/v1/models', from('10.0.0.8', token))).toBe(200);
    const { retryAfterSeconds } =
      access.refusalOfData(requestOf(from('10.0.0.9', token)), '/v1/models') ?? {};
    expect(retryAfterSeconds).toBe(300);
    elapsedMs += 300_000;
    expect(statusOf(access, '/v1/models', from('10.0.0.9', token))).toBe(200);
  });

  it('count once for the same wrong token, and leave a program alone that was right before', () => {
    const access = tried();
    for (let i = 0; i < 50; i++) {
      expect(statusOf(access, '/v1/models', from('10.0.0.9', 'old'))).toBe(401);
    }
    expect(statusOf(access, '/v1/models', from('10.0.0.9', token))).toBe(200);
    tryWrong(access, '10.0.0.9', 10);
    expect(statusOf(access, '/v1/models', from('10.0.0.9', 'another'))).toBe(429);
    expect(statusOf(access, '/v1/models', from('10.0.0.9', token))).toBe(200);
  });

  it('are counted by the network of an IPv6 client, and by what a listed proxy says', () => {
    const access = tried();
    tryWrong(access, '2001:db8::1', 10);
    expect(statusOf(access, '/v1/models', from('2001:db8:0:0:ffff::2', token))).toBe(429);
    expect(statusOf(access, '/v1/models', from('2001:db8:0:1::2', token))).toBe(200);
    const behind = tried({ auth: { tokens_file: tokensFile, proxy: { addresses: ['10.0.0.9'] } } });
    const through = (client: string, text: string) => {
      const asked = from('10.0.0.9', text);
      return { ...asked, headers: { ...asked.headers, 'x-forwarded-for': `6.6.6.6, ${client}` } };
    };
    for (let i = 0; i < 10; i++) statusOf(behind, '/v1/models', through('1.2.3.4', `wrong ${i}`));
    expect(statusOf(behind, '/v1/models', through('1.2.3.4', token))).toBe(429);
    expect(statusOf(behind, '/v1/models', through('1.2.3.5', token))).toBe(200);
  });

  it('of the operator token are counted where mutes are open', () => {
    const access = tried({
      operator_token: 'the-token-of-the-operator',
      auth: { open: ['mutes'] },
    });
    const wrong = Array.from({ length: 11 }, (_, i) =>
      statusOf(access, '/v1/mutes', from('10.0.0.9', `wrong ${i}`)),
    );
    expect(wrong).toEqual([...Array(10).fill(200), 429]);
  });
});

describe('behind a proxy', () => {
  const access = accessOf({
    auth: { proxy: { addresses: ['10.0.0.0/24', 'fd00::/8'], header: 'X-Auth-Request-User' } },
  });
  const header = { 'x-auth-request-user': 'ann' };

  it.each([
    ['10.0.0.9', header, 200],
    ['::ffff:10.0.0.9', header, 200],
    ['fd00::1', header, 200],
    ['10.0.1.9', header, 401],
    ['127.0.0.1', header, 401],
    ['10.0.0.9', { 'x-auth-request-user': ' ' }, 401],
    ['10.0.0.9', { 'x-forwarded-user': 'ann' }, 401],
    ['10.0.0.9', {}, 401],
  ])('from %s with %j it gives %i', (remote, headers, status) => {
    expect(statusOf(access, '/v1/models', { ...elsewhere, remote, headers })).toBe(status);
  });

  it.each([
    ['the operator token', 'the-token-of-the-operator', true],
    ['a token that operates', 'a-token-of-oncall', true],
    ['a token that reads', token, false],
    ['another token, which is the proxy’s own', 'a-token-of-the-proxy', false],
    ['none', undefined, false],
  ])('a user is known by name, and may change something with %s: %s', (_, given, mayOperate) => {
    const tokens = join(folder, 'behind');
    writeFileSync(tokens, `oncall ${digest('a-token-of-oncall')} operate\nann ${digest(token)}`);
    const both = accessOf({
      operator_token: 'the-token-of-the-operator',
      auth: {
        tokens_file: tokens,
        proxy: { addresses: ['10.0.0.0/24'], header: 'X-Auth-Request-User' },
      },
    });
    const authorization = given === undefined ? {} : { authorization: `Bearer ${given}` };
    const asked = { ...elsewhere, headers: { ...header, ...authorization } };
    for (let i = 0; i < 20; i++) expect(statusOf(both, '/v1/mutes', asked)).toBe(200);
    const rights = { isSession: false, mayListModels: true };
    const caller = { ...rights, login: 'ann', address: '10.0.0.9', models: undefined, mayOperate };
    expect(both.callerOf(requestOf(asked))).toEqual(caller);
  });

  it('a user called operator has another name than the operator token', () => {
    const asked = { ...elsewhere, headers: { 'x-auth-request-user': 'operator' } };
    expect(access.callerOf(requestOf(asked)).login).toBe('operator (of the proxy)');
  });

  it('that is not said to log users in, a header of a client names nobody', () => {
    const asked = {
      ...elsewhere,
      headers: { 'x-forwarded-user': 'ann', 'x-auth-request-user': 'ann' },
    };
    const auth = { tokens_file: tokensFile, proxy: { addresses: ['10.0.0.0/24'] } };
    expect(statusOf(accessOf({ auth }), '/v1/models', asked)).toBe(401);
  });

  it('has no login of its own', () => {
    expect(access.hasTokens).toBe(false);
    expect(access.refusalOfData(requestOf(elsewhere), '/v1/models')?.message).toContain('proxy');
  });
});

describe('the cookie', () => {
  it('is Secure where the proxy speaks TLS', () => {
    const access = accessOf({
      auth: { tokens_file: tokensFile, proxy: { addresses: ['10.0.0.9'] } },
    });
    const headers = { 'x-forwarded-proto': 'https' };
    const near = requestOf({ ...elsewhere, headers });
    const far = requestOf({ ...elsewhere, remote: '10.0.0.8', headers });
    expect(access.openSession(token, near)).toContain('; Secure;');
    expect(access.openSession(token, far)).not.toContain('Secure');
  });
});

describe('settings', () => {
  it.each([
    [{ auth: {} }],
    [{ auth: { proxy: { addresses: [] } } }],
    [{ auth: { proxy: { addresses: ['10.0.0.0/33'] } } }],
    [{ auth: { proxy: { addresses: ['proxy.example'] } } }],
    [{ auth: { proxy: { addresses: ['10.0.0.1'], header: 'a b' } } }],
    [{ auth: { proxy: { addresses: ['10.0.0.1'] } } }],
    [{ auth: { tokens_file: 'a', open: ['models'] } }],
    [{ frame_ancestors: ["https://a.example; script-src 'unsafe-inline'"] }],
    [{ frame_ancestors: ['*'] }],
    [{ frame_ancestors: ['https://a.example/path'] }],
  ])('%j are refused', (settings) => {
    expect(http.safeParse(settings).success).toBe(false);
  });
});
