// Covers src/roles/serve/access/login.ts, src/roles/serve/http/accepted-encodings.ts and
// src/roles/serve/http/respond-error.ts.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Logger } from '../../../../src/base/telemetry/log.ts';
import { Problem } from '../../../../src/roles/http/problem.ts';
import type { Access } from '../../../../src/roles/serve/access/access.ts';
import { addLogin } from '../../../../src/roles/serve/access/login.ts';
import { respondError } from '../../../../src/roles/serve/http/respond-error.ts';
import { StaticFiles } from '../../../../src/roles/serve/http/static-files.ts';
import { closeRaw, openRaw } from '../../http/raw-connection.ts';

const root = mkdtempSync(join(tmpdir(), 'tailmark-ui-'));
mkdirSync(join(root, 'assets'));
const script = `"${'script '.repeat(99)}";`;
writeFileSync(join(root, 'index.html'), '<!doctype html><title>page</title>');
writeFileSync(join(root, 'assets', 'index-abc.js'), script);
writeFileSync(join(root, 'assets', 'index-abc.js.gz'), gzipSync(script));
writeFileSync(join(root, 'assets', 'tool.exe'), 'no type');

const files = new StaticFiles(['https://wiki.example'], root);
const app = new Hono();
app.get('*', (context) =>
  files.has(new URL(context.req.url).pathname) ? files.respond(context) : context.body(null, 418),
);
const server = createServer(getRequestListener(app.fetch));
let base = '';
const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(base + path, { headers: { 'accept-encoding': 'identity', ...headers } });

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(root, { recursive: true, force: true });
});

describe('the interface over HTTP', () => {
  it.each(['/', '/?from=-1h', '/incidents/5f2c', '/models/a%2Fb', '/compare', '/pipeline'])(
    '%s is the page, asked for each time',
    async (path) => {
      const response = await ask(path);
      expect(await response.text()).toContain('<title>page</title>');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    },
  );

  it.each([
    ['/anomalies/5f2c', '/incidents/5f2c'],
    ['/anomalies/5f2c?from=-1h&x=//evil.example', '/incidents/5f2c?from=-1h&x=//evil.example'],
  ])('%s, as messages had it, leads to %s', async (path, location) => {
    const response = await fetch(base + path, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([308, location]);
    expect(await (await ask(path)).text()).toContain('<title>page</title>');
  });

  it.each([
    '/anomalies',
    '/anomalies/',
    '/anomalies/a/b',
    '/models',
    '/models/',
    '/models/a/b',
    '/incidents',
    '/now',
    '/index.html',
    '/licenses.md',
  ])('%s is no page', async (path) => expect((await ask(path)).status).toBe(418));

  it('keeps files with a fingerprint for good', async () => {
    const response = await ask('/assets/index-abc.js');
    expect(await response.text()).toBe(script);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it('sends what the build has compressed to who takes it', async () => {
    const sent = async (coding: string) => {
      const response = await ask('/assets/index-abc.js', { 'accept-encoding': coding });
      expect(await response.text()).toBe(script);
      return response.headers.get('content-encoding');
    };
    expect(await sent('gzip, deflate, br')).toBe('gzip');
    expect(await sent('gzip;q=0, identity')).toBe(null);
  });

  it('answers 304 to who has it, with the policy, which may have changed', async () => {
    const first = (await ask('/')).headers;
    const again = await ask('/', { 'if-none-match': first.get('etag') ?? '' });
    expect(again.status).toBe(304);
    for (const name of [
      ...['etag', 'cache-control', 'vary', 'content-security-policy', 'referrer-policy'],
    ]) {
      expect(again.headers.get(name)).toBe(first.get(name));
    }
  });

  it('gives the length of a page, and no page, to HEAD', async () => {
    const response = await fetch(`${base}/`, { method: 'HEAD' });
    expect(response.headers.get('content-length')).toBe('34');
    expect(await response.text()).toBe('');
  });

  it('lets the page load nothing from elsewhere, and be framed by those named only', async () => {
    const { headers } = await ask('/');
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'self'; /);
    expect(policy).toMatch(/; frame-ancestors https:\/\/wiki\.example$/);
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const closed = new StaticFiles([], root);
    expect(closed.has('/')).toBe(true);
  });

  it.each([
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/tool.exe',
    '/assets/none.js',
  ])('%s is no file', async (path) => {
    // `fetch` resolves "..": what is asked then is the page's path itself, which is none.
    expect([404, 418]).toContain((await ask(path)).status);
  });

  it('says how to build it where it is not built', async () => {
    const unbuilt = new StaticFiles([], join(root, 'nowhere'));
    const response = await new Hono().get('/', (context) => unbuilt.respond(context)).request('/');
    expect(await response.text()).toContain('run node bin/prepare.js');
  });
});

describe('the login', () => {
  const access = {
    hasTokens: true,
    openSession: (token: string) => {
      if (token === 'good') return 'tailmark_session=s; HttpOnly';
      throw new Problem(401, 'no such token');
    },
    closeSession: ({ headers }: IncomingMessage) =>
      headers.cookie === undefined ? undefined : 'tailmark_session=; Max-Age=0',
  } as unknown as Access;
  const app = new Hono();
  const logged: unknown[] = [];
  const log = { warn: (facts: unknown) => logged.push(facts) } as unknown as Logger;
  let [begun, failed] = [0, 0];
  app.onError((error, context) => {
    failed += 1;
    return respondError(context, error, log);
  });
  addLogin(app, access);
  const doors = createServer(getRequestListener(app.fetch)).on('request', () => {
    begun += 1;
  });
  let door = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => doors.listen(0, '127.0.0.1', resolve));
    door = `http://127.0.0.1:${(doors.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    closeRaw();
    doors.close();
    doors.closeAllConnections();
  });
  const post = (body: string, type = 'application/json') =>
    fetch(`${door}/v1/login`, { method: 'POST', body, headers: { 'content-type': type } });

  it('sets the cookie for a token, and tells no page of it', async () => {
    const response = await post('{"token":"good"}');
    expect([response.status, response.headers.get('set-cookie')]).toEqual([
      204,
      'tailmark_session=s; HttpOnly',
    ]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['a wrong token', '{"token":"bad"}', 'application/json', 401],
    ['no token', '{}', 'application/json', 400],
    ['a number', '{"token":1}', 'application/json', 400],
    ['no JSON', 'token=good', 'application/json', 400],
    ['a form of another site', '{"token":"good"}', 'text/plain', 400],
    ['too much', JSON.stringify({ token: 'x'.repeat(9_000) }), 'application/json', 413],
  ])('refuses %s', async (_, body, type, status) => {
    expect((await post(body, type)).status).toBe(status);
  });

  it('says nothing in the log of clients that leave within their request', async () => {
    const head = 'POST /v1/login HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\n';
    for (let i = 0; i < 5; i++) {
      const before = { begun, failed };
      const { socket } = await openRaw(door, `${head}content-length: 50\r\n\r\n{"tok`);
      await vi.waitFor(() => expect(begun).toBe(before.begun + 1));
      socket.destroy();
      await vi.waitFor(() => expect(failed).toBe(before.failed + 1));
    }
    expect(logged).toEqual([]);
  });

  it('is no GET', async () => {
    const response = await fetch(`${door}/v1/login`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('ends with a logout, which removes the cookie', async () => {
    const logout = async (headers: Readonly<Record<string, string>>) => {
      const { status, headers: given } = await fetch(`${door}/v1/logout`, {
        method: 'POST',
        headers,
      });
      return [status, given.get('set-cookie')];
    };
    expect(await logout({ cookie: 'tailmark_session=s' })).toEqual([
      204,
      'tailmark_session=; Max-Age=0',
    ]);
    expect(await logout({})).toEqual([204, null]);
    expect((await fetch(`${door}/v1/logout`)).status).toBe(405);
  });
});
