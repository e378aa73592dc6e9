import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics, readMetrics } from '../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../src/config/schema.ts';
import { sharedText, startHealthServer } from '../../src/roles/health-server.ts';
import type { HttpServer } from '../../src/roles/http/http-server.ts';
import type { RunningRole } from '../../src/roles/role.ts';
import { closeRaw, openRaw } from './http/raw-connection.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  closeRaw();
  for (const close of closing.splice(0)) await close();
});

async function start(...roles: RunningRole[]): Promise<HttpServer> {
  const config = configSchema.parse({ http: { listen: '127.0.0.1:0' } });
  const log = createLog({ level: 'silent' });
  const server = await startHealthServer({
    ...{ config, log, metrics: createMetrics(), roles },
    problems: () => [],
  });
  closing.push(() => server.close());
  return server;
}

/** A role whose metrics are read from the time on at which the test says so. */
function slowRole() {
  let reads = 0;
  let go: (isFault: boolean) => void = () => undefined;
  const gone = new Promise<boolean>((resolve) => {
    go = resolve;
  });
  const role: RunningRole = {
    ...{ done: undefined, problems: () => [], stop: async () => undefined },
    threadMetrics: async () => {
      reads++;
      if (await gone) throw new Error('a secret of a thread');
      return [await readMetrics(createMetrics())];
    },
  };
  return { role, reads: () => reads, go };
}

describe('a process without the role serve', () => {
  it('answers probes of HTTP/1.0, which name no host', async () => {
    const { url } = await start();
    const { closed, received } = await openRaw(url, 'GET /healthz HTTP/1.0\r\n\r\n');
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received()).toMatch(/\r\nx-content-type-options: nosniff\r\n/i);
    expect(received()).toMatch(/\r\n\r\nok\n$/);
  });

  it.each([
    ['GET', '/readyz', 'ready\n'],
    ['HEAD', '/healthz', ''],
  ] as const)('%s %s is 200', async (method, path, text) => {
    const response = await fetch(`${(await start()).url}${path}`, { method });
    expect([response.status, await response.text()]).toEqual([200, text]);
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['POST', '/healthz', 405, 'GET, HEAD', '/healthz takes GET, HEAD; this is POST.'],
    ['DELETE', '/v1/mutes/a', 405, 'GET, HEAD', '/v1/mutes/a takes GET, HEAD; this is DELETE.'],
    ...([
      [
        ...(['GET', '/', 404, null] as const),
        '/ is no path of this process: see /healthz, /readyz and /metrics; the role serve has the rest.',
      ],
    ] as const),
  ] as const)('%s %s is a problem: %i', async (method, path, status, allow, detail) => {
    const response = await fetch(`${(await start()).url}${path}`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
    expect(await response.json()).toMatchObject({ status, detail });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

describe('/metrics', () => {
  it('is rendered once for requests at the same time, and again for later ones', async () => {
    const { role, reads, go } = slowRole();
    const { url } = await start(role);
    const ask = async () => (await fetch(`${url}/metrics`)).text();
    const first = ask();
    await vi.waitFor(() => expect(reads()).toBe(1));
    const others = Array.from({ length: 50 }, ask);
    await fetch(`${url}/healthz`);
    go(false);
    const texts = await Promise.all([first, ...others]);
    // Some may have arrived after the first one was made.
    expect(reads()).toBeLessThanOrEqual(2);
    await ask();
    expect(reads()).toBeGreaterThanOrEqual(2);
    expect(texts[0]).toContain('tailmark_http_closed_connections_total');
  });

  it('takes a tenth of the time at most, and is never older than the question', async () => {
    let nowMs = 0;
    let made = 0;
    const wakes: (() => void)[] = [];
    const sleeps: number[] = [];
    const clock = {
      elapsedMs: () => nowMs,
      sleep: (ms: number) => {
        sleeps.push(ms);
        return new Promise<void>((resolve) => {
          wakes.push(() => {
            nowMs += ms;
            resolve();
          });
        });
      },
    };
    let tookMs = 6;
    const text = sharedText(async () => {
      nowMs += tookMs;
      return `made ${++made}`;
    }, clock);
    const ask = async () => new TextDecoder().decode(await text());
    expect(await ask()).toBe('made 1');
    const burst = Array.from({ length: 500 }, ask);
    expect([made, sleeps]).toEqual([1, [54]]);
    wakes[0]?.();
    expect(new Set(await Promise.all(burst))).toEqual(new Set(['made 2']));
    nowMs += 54;
    tookMs = 3_000;
    expect(await ask()).toBe('made 3');
    const late = ask();
    expect(sleeps).toEqual([54, 1_000]);
    wakes[1]?.();
    expect(await late).toBe('made 4');
  });

  it('says nothing of a fault to who asks', async () => {
    const { role, reads, go } = slowRole();
    const { url } = await start(role);
    const asked = fetch(`${url}/metrics`);
    await vi.waitFor(() => expect(reads()).toBe(1));
    go(true);
    const response = await asked;
    expect([response.status, await response.json()]).toEqual([
      500,
      {
        ...{ type: 'about:blank', title: 'Internal Server Error', status: 500 },
        detail: 'No answer. The log of this process says why.',
      },
    ]);
  });
});
