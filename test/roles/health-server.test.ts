import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../src/config/schema.ts';
import {
  connectionOptions,
  type HealthServer,
  startHealthServer,
} from '../../src/roles/health-server.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function start(http: object): Promise<HealthServer> {
  const config = configSchema.parse({ http: { listen: '127.0.0.1:0', ...http } });
  const server = await startHealthServer({
    config,
    metrics: createMetrics(),
    roles: [],
    problems: () => [],
  });
  closing.push(() => server.close());
  return server;
}

/** Opens a connection; resolves with the milliseconds that it lasts after its last byte was sent. */
async function connectionOf(server: HealthServer, text: string) {
  const { port } = new URL(server.url);
  const socket: Socket = connect(Number(port), '127.0.0.1');
  closing.push(() => socket.destroy());
  let received = '';
  socket.on('data', (part) => {
    received += part.toString();
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  const fromMs = performance.now();
  socket.write(text);
  const closed = new Promise<number>((resolve) => {
    socket.once('close', () => resolve(performance.now() - fromMs));
  });
  return { closed, received: () => received };
}

describe('connections', () => {
  it('are kept for longer than the balancers in front of them do: 75 s', () => {
    expect(connectionOptions(configSchema.parse({}).http)).toEqual({
      keepAliveTimeout: 75_000,
      headersTimeout: 80_000,
      requestTimeout: 120_000,
      connectionsCheckingInterval: 5_000,
    });
  });

  it('of a Google balancer too, where it is configured; headers may take longer than that', () => {
    const { http } = configSchema.parse({ http: { keep_alive_timeout: '620s' } });
    expect(connectionOptions(http)).toMatchObject({
      keepAliveTimeout: 620_000,
      headersTimeout: 625_000,
      requestTimeout: 625_000,
    });
  });

  it('end when they are idle for longer, and not before', async () => {
    const server = await start({ keep_alive_timeout: '1s' });
    const { closed, received } = await connectionOf(
      server,
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n',
    );
    expect(await closed).toBeGreaterThanOrEqual(1_000);
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(received()).toContain('Keep-Alive: timeout=1');
  }, 30_000);

  it('of clients that do not end their headers are closed', async () => {
    const server = await start({ keep_alive_timeout: '1s', request_timeout: '1s' });
    const { closed, received } = await connectionOf(server, 'GET /healthz HTTP/1.1\r\nX-Slow: a');
    expect(await closed).toBeGreaterThanOrEqual(6_000);
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
  }, 60_000);
});

describe('a process without the role serve', () => {
  it('answers probes of HTTP/1.0, which name no host', async () => {
    const { closed, received } = await connectionOf(
      await start({}),
      'GET /healthz HTTP/1.0\r\n\r\n',
    );
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received()).toMatch(/\r\nx-content-type-options: nosniff\r\n/i);
    expect(received()).toMatch(/\r\n\r\nok\n$/);
  });

  it.each([
    ['GET', '/readyz', 200, null, 'ready\n'],
    ['HEAD', '/healthz', 200, null, ''],
    ['POST', '/healthz', 405, 'GET, HEAD', 'GET only\n'],
    ['DELETE', '/v1/mutes/a', 405, 'GET, HEAD', 'GET only\n'],
    ...([
      ['GET', '/', 404, null, 'see /healthz, /readyz and /metrics; the role serve has the rest\n'],
    ] as const),
  ] as const)('%s %s is %i', async (method, path, status, allow, text) => {
    const response = await fetch(`${(await start({})).url}${path}`, { method });
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([
      ...[status, allow, text],
    ]);
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});
