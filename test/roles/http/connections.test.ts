import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { Connections } from '../../../src/roles/http/connections.ts';
import { closeRaw, openRaw } from './raw-connection.ts';

const servers: Server[] = [];
afterEach(() => {
  closeRaw();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A server of three connections, each of two unanswered requests. Its requests are answered by `release`. */
async function start() {
  let nowMs = 0;
  const metrics = createMetrics();
  const lines: Record<string, unknown>[] = [];
  const connections = new Connections({
    limits: { connections: 3, unanswered: 2, sendingMs: 1_000, answeringMs: 10_000 },
    clock: { elapsedMs: () => nowMs },
    log: { warn: (fields: object) => lines.push({ ...fields }) },
    metrics,
  });
  const begun: string[] = [];
  const releases: (() => void)[] = [];
  const server = createServer((request, response) =>
    connections.answer(request, response, () => {
      begun.push(request.url ?? '');
      releases.push(() => response.end(request.url));
    }),
  );
  servers.push(server);
  connections.follow(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const closed = async (reason: string) =>
    (await metrics.httpClosedConnections.get()).values.find(
      ({ labels }) => labels.reason === reason,
    )?.value ?? 0;
  return {
    ...{ url, begun, lines, closed },
    release: () => releases.shift()?.(),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const halfHead = 'GET /half HTTP/1.1\r\nX-Half: ';

describe('a connection', () => {
  it('is answered one request after the other, in order', async () => {
    const { url, begun, release, lines } = await start();
    const { received } = await openRaw(url, get('/a') + get('/b'));
    await vi.waitFor(() => expect(begun).toEqual(['/a']));
    release();
    await vi.waitFor(() => expect(begun).toEqual(['/a', '/b']));
    release();
    await vi.waitFor(() => expect(received()).toMatch(/\/a(.|\r|\n)*\/b$/));
    expect(lines).toEqual([]);
  });

  it('is closed when it sends more requests than it may have without an answer', async () => {
    const { url, begun, closed, lines } = await start();
    const client = await openRaw(url, get('/a') + get('/b') + get('/c').repeat(1_000));
    await client.closed;
    expect(client.received()).toBe('');
    // None of what follows is begun.
    expect(begun).toEqual(['/a']);
    expect(await closed('pipelined')).toBe(1);
    expect(lines).toMatchObject([{ closed: 1, unanswered: 2, address: '127.0.0.1' }]);
  });

  it('may send any number when it waits for the answers', async () => {
    const { url, begun, release, closed } = await start();
    const { socket } = await openRaw(url, '');
    for (let n = 1; n <= 20; n++) {
      socket.write(get(`/${n}`));
      await vi.waitFor(() => expect(begun.at(-1)).toBe(`/${n}`));
      release();
    }
    expect(await closed('pipelined')).toBe(0);
  });

  it('that has gone leaves no request to be answered', async () => {
    const { url, begun, release } = await start();
    const leaving = await openRaw(url, get('/a') + get('/gone'));
    await vi.waitFor(() => expect(begun).toEqual(['/a']));
    leaving.socket.destroy();
    await leaving.closed;
    const { received } = await openRaw(url, get('/b'));
    await vi.waitFor(() => expect(begun).toEqual(['/a', '/b']));
    release();
    release();
    await vi.waitFor(() => expect(received()).toMatch(/\/b$/));
    expect(begun).toEqual(['/a', '/b']);
  });
});

describe('a newcomer to a server with as many connections as it may have', () => {
  it('is taken instead of the one that has waited longest without a whole request', async () => {
    const { url, begun, closed, pass, lines, release } = await start();
    const busy = await openRaw(url, get('/busy'));
    await vi.waitFor(() => expect(begun).toEqual(['/busy']));
    const idle = await openRaw(url, '');
    pass(1_000);
    const half = await openRaw(url, halfHead);
    pass(1_000);
    await openRaw(url, get('/probe'));
    await idle.closed;
    await vi.waitFor(() => expect(begun).toEqual(['/busy', '/probe']));
    expect(await closed('limit')).toBe(1);
    expect(lines).toMatchObject([{ closed: 1, connections: 3, address: '127.0.0.1' }]);
    expect([busy.socket.closed, half.socket.closed]).toEqual([false, false]);
    release();
    await vi.waitFor(() => expect(busy.received()).toMatch(/\/busy$/));
  });

  it('is taken instead of the longest answer where others may be about to send', async () => {
    const { url, begun, pass } = await start();
    const slow = await openRaw(url, get('/slow'));
    const late = await openRaw(url, get('/late'));
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    pass(10_000);
    const sending = await openRaw(url, halfHead);
    pass(999);
    await openRaw(url, get('/probe'));
    await Promise.race([slow.closed, late.closed]);
    await vi.waitFor(() => expect(begun.at(-1)).toBe('/probe'));
    expect(sending.socket.closed).toBe(false);
  });

  it('is taken where all are being answered', async () => {
    const { url, begun } = await start();
    const first = await openRaw(url, get('/1'));
    await vi.waitFor(() => expect(begun).toEqual(['/1']));
    await openRaw(url, get('/2'));
    await openRaw(url, get('/3'));
    await vi.waitFor(() => expect(begun).toHaveLength(3));
    await openRaw(url, get('/probe'));
    await first.closed;
    await vi.waitFor(() => expect(begun.at(-1)).toBe('/probe'));
  });

  it('is said once a minute, with the number of those that made room', async () => {
    const { url, closed, lines, pass } = await start();
    const flood = async (count: number) => {
      const before = await closed('limit');
      for (let n = 0; n < count; n++) await openRaw(url, halfHead);
      await vi.waitFor(async () => expect(await closed('limit')).toBe(before + count));
    };
    for (let n = 0; n < 3; n++) await openRaw(url, halfHead);
    await flood(5);
    pass(59_999);
    await flood(1);
    expect(lines.map(({ closed: count }) => count)).toEqual([1]);
    pass(1);
    await flood(1);
    expect(lines.map(({ closed: count }) => count)).toEqual([1, 6]);
  });
});
