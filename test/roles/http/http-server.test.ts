import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { connectionTimes, openHttpServer } from '../../../src/roles/http/http-server.ts';
import { closeRaw, openRaw } from './raw-connection.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  closeRaw();
  for (const close of closing.splice(0)) await close();
});

async function start(http: object = {}) {
  const app = new Hono();
  app.get('/', (context) => context.text('here'));
  const server = await openHttpServer({
    http: configSchema.parse({ http: { listen: '127.0.0.1:0', ...http } }).http,
    ...{ app, log: createLog({ level: 'silent' }), metrics: createMetrics() },
  });
  closing.push(() => server.close());
  return server;
}

describe('connections', () => {
  it('are kept for longer than the balancers in front of them do: 75 s', () => {
    expect(connectionTimes(configSchema.parse({}).http)).toEqual({
      keepAliveTimeout: 75_000,
      headersTimeout: 80_000,
      requestTimeout: 120_000,
      connectionsCheckingInterval: 5_000,
    });
  });

  it('of a Google balancer too, where it is configured; headers may take longer than that', () => {
    const { http } = configSchema.parse({ http: { keep_alive_timeout: '620s' } });
    expect(connectionTimes(http)).toMatchObject({
      keepAliveTimeout: 620_000,
      headersTimeout: 625_000,
      requestTimeout: 625_000,
    });
  });

  it('end when they are idle for longer, and not before', async () => {
    const { url } = await start({ keep_alive_timeout: '1s' });
    const request = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n';
    const { closed, received } = await openRaw(url, request);
    expect(await closed).toBeGreaterThanOrEqual(1_000);
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(received()).toContain('Keep-Alive: timeout=1');
  }, 30_000);

  it('of clients that do not end their headers are closed', async () => {
    const { url } = await start({ keep_alive_timeout: '1s', request_timeout: '1s' });
    const { closed, received } = await openRaw(url, 'GET / HTTP/1.1\r\nX-Slow: a');
    expect(await closed).toBeGreaterThanOrEqual(6_000);
    expect(received()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(received()).toMatch(
      /"detail":"The request did not arrive within its time: send it at once\."\}\n$/,
    );
  }, 60_000);
});

it('a thousand clients with half a request do not keep another one out', async () => {
  const { url } = await start();
  const [first] = await Promise.all(
    Array.from({ length: 1_000 }, () => openRaw(url, 'GET / HTTP/1.1\r\nHost: x\r\n')),
  );
  const probe = await openRaw(url, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await probe.closed;
  expect(probe.received()).toMatch(/here$/);
  expect(await first?.closed).toBeGreaterThan(0);
}, 60_000);

it('20,000 requests on one connection end it', async () => {
  const { url } = await start();
  const client = await openRaw(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20_000));
  await client.closed;
  expect(client.received().match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThanOrEqual(16);
});

describe('what never reaches a route is refused with a problem', () => {
  const host = 'Host: x\r\nConnection: close\r\n';
  it.each([
    ['an unknown method', `FOO / HTTP/1.1\r\n${host}\r\n`, 400, 'Bad Request'],
    ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'Bad Request'],
    ['two Hosts', `GET / HTTP/1.1\r\nHost: y\r\n${host}\r\n`, 400, 'Bad Request'],
    ['no Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'Bad Request'],
    [
      'a Host that is none',
      'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n',
      400,
      'Bad Request',
    ],
    ['an expectation', `GET / HTTP/1.1\r\n${host}Expect: more\r\n\r\n`, 417, 'Expectation Failed'],
    ...([
      [
        'long headers',
        `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`,
        431,
        'Request Header Fields Too Large',
      ],
    ] as const),
  ] as const)('%s', async (_, sent, status, title) => {
    const { url } = await start();
    const { closed, received } = await openRaw(url, sent);
    await closed;
    const [head = '', body = ''] = received().split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} ${title}\r\n`));
    expect(head).toMatch(/\r\nx-content-type-options: nosniff(\r\n|$)/i);
    expect(head).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/i);
    expect(JSON.parse(body)).toEqual({
      ...{ type: 'about:blank', title, status },
      detail: expect.stringMatching(/^[A-Z].*\.$/),
    });
  });
});
