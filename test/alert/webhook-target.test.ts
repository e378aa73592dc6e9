import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { webhookSignature } from '../../src/alert/webhook-signature.ts';
import { WebhookTarget } from '../../src/alert/webhook-target.ts';
import { anomalyFixture } from '../detect/anomaly-fixture.ts';

const event = anomalyFixture();
const url = 'https://hooks.example.com/services/SECRET';

interface Setup {
  readonly target: WebhookTarget;
  readonly requests: { url: string; init: RequestInit }[];
  readonly sleeps: number[];
}

/** A target whose attempts get the given responses in turn, the last one from then on. */
function setup(answers: readonly (() => Response)[], secret?: string): Setup {
  const requests: { url: string; init: RequestInit }[] = [];
  const sleeps: number[] = [];
  const target = new WebhookTarget({
    url,
    timeoutMs: 5_000,
    secret,
    fetch: async (to, init) => {
      requests.push({ url: String(to), init: init ?? {} });
      const answer = answers[Math.min(requests.length, answers.length) - 1];
      return (answer as () => Response)();
    },
    nowMs: () => 1_700_000_000_999,
    sleep: async (ms) => void sleeps.push(ms),
  });
  return { target, requests, sleeps };
}

const status = (code: number, headers: Record<string, string> = {}) => {
  return () => new Response(null, { status: code, headers });
};
const broken = (name: string, cause?: Error) => () => {
  throw Object.assign(new Error('fetch failed', { cause }), { name });
};

describe('WebhookTarget', () => {
  it('posts the event as a binary-mode CloudEvent and follows no redirect', async () => {
    const { target, requests } = setup([status(204)]);
    await target.deliver(event);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.url).toBe(url);
    expect(requests[0]?.init).toMatchObject({
      method: 'POST',
      redirect: 'manual',
      body: JSON.stringify(event),
      headers: {
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-id': `${event.id}-1`,
        'ce-source': 'tailmark',
        'ce-type': 'io.tailmark.anomaly.opened.v1',
        'ce-time': event.emitted_at,
        'ce-subject': event.dedup_key,
      },
    });
    expect(requests[0]?.init.signal).toBeInstanceOf(AbortSignal);
    expect(requests[0]?.init.headers).not.toHaveProperty('webhook-signature');
  });

  it('signs with the secret, under the id that is the same in every attempt', async () => {
    const { target, requests } = setup([status(500), status(200)], 'whsec_c2VjcmV0');
    await target.deliver(event);
    const id = `${event.id}-1`;
    const input = { id, timestampSeconds: 1_700_000_000, body: JSON.stringify(event) };
    for (const { init } of requests) {
      expect(init.headers).toMatchObject({
        'webhook-id': id,
        'webhook-timestamp': '1700000000',
        'webhook-signature': webhookSignature({ secret: 'whsec_c2VjcmV0', ...input }),
      });
    }
    expect(requests).toHaveLength(2);
  });

  it('retries after 5xx, 429 and broken connections, waiting longer each time', async () => {
    const reset = Object.assign(new Error(), { code: 'ECONNRESET' });
    const answers = [status(503), status(429), broken('TypeError', reset), broken('TimeoutError')];
    const { target, requests, sleeps } = setup([...answers, status(200)]);
    await target.deliver(event);
    expect(requests).toHaveLength(5);
    expect(sleeps).toEqual([500, 1_000, 2_000, 4_000]);
  });

  it('waits as Retry-After asks, ten seconds at most', async () => {
    const asks = (seconds: string) => status(429, { 'retry-after': seconds });
    const { target, sleeps } = setup([asks('3'), asks('3600'), asks('soon'), status(200)]);
    await target.deliver(event);
    expect(sleeps).toEqual([3_000, 10_000, 2_000]);
  });

  it.each([
    [[status(500)], 5, 'after 5 attempts: it answered 500'],
    [[broken('TimeoutError')], 5, 'after 5 attempts: no answer within 5000 ms'],
    [[status(400)], 1, 'after 1 attempt: it answered 400'],
    [[status(302)], 1, 'after 1 attempt: it redirects, which is not followed'],
  ])('gives up, naming the host only', async (answers, attempts, reason) => {
    const { target, requests } = setup(answers);
    const message = `webhook hooks.example.com did not take the event ${reason}`;
    await expect(target.deliver(event)).rejects.toThrow(new Error(message));
    expect(requests).toHaveLength(attempts);
  });

  it('reaches a real server, and stops at its redirect', async () => {
    const seen: { path: string | undefined; id: unknown; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        seen.push({ path: request.url, id: request.headers['ce-id'], body });
        response.writeHead(request.url === '/moved' ? 307 : 200, { location: '/elsewhere' });
        response.end('thanks');
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const at = (path: string) =>
      new WebhookTarget({
        url: `http://127.0.0.1:${port}${path}`,
        timeoutMs: 10_000,
        fetch,
        nowMs: () => 0,
        sleep: async () => undefined,
      });
    await at('/hook').deliver(event);
    await expect(at('/moved').deliver(event)).rejects.toThrow('it redirects');
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    await expect(at('/hook').deliver(event)).rejects.toThrow('the connection failed: ECONNREFUSED');
    const message = { id: `${event.id}-1`, body: JSON.stringify(event) };
    expect(seen).toEqual([
      { path: '/hook', ...message },
      { path: '/moved', ...message },
    ]);
  });
});
