import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { UndiciSender } from '../../src/alert/http/undici-sender.ts';
import type { Answer } from '../../src/alert/receiver.ts';
import { WebhookReceiver } from '../../src/alert/receivers/webhook-receiver.ts';
import { systemClock } from '../../src/base/clock.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { leaksIn } from '../e2e/kit/leaks-in.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends one event to a webhook, through all that ships. */
function answerAt(url: string, timeout = 5_000): Promise<Answer> {
  const receiver = new WebhookReceiver({
    config: {
      ...{ type: 'webhook', name: 'webhook', format: 'cloudevents', url, timeout },
      ...{ secret: 'CANARY-secret', match: { severity: 'info' } },
    },
    links: {},
    clock: systemClock,
    http: new UndiciSender({ timeoutMs: timeout, env: {}, nowMs: systemClock.nowMs }),
  });
  const event = anomalyFixture();
  const notice = { event, change: 'opened', severities: [], memory: '', isTest: false } as const;
  return receiver.send(notice, 'full');
}

describe('a webhook', () => {
  it('gets the login of its address as a header, and shows it to nobody', async () => {
    let seen = '';
    const port = await serve((request, response) => {
      seen = `${request.url} ${request.headers.authorization}`;
      response.writeHead(401).end(`no ${seen}`);
    });
    const address = `http://ann:CANARY%2Flogin@127.0.0.1:${port}/CANARY-path?t=CANARY-query`;
    const answer = await answerAt(address);
    const login = Buffer.from('ann:CANARY/login').toString('base64');
    expect(seen).toBe(`/CANARY-path?t=CANARY-query Basic ${login}`);
    expect(answer).toMatchObject({ outcome: 'rejected', answer: expect.stringContaining('401') });
    expect(leaksIn(JSON.stringify(answer))).toEqual([]);
  });

  it('that cannot be reached shows neither path nor query', async () => {
    const answer = await answerAt('http://127.0.0.1:1/CANARY?CANARY');
    expect(answer).toEqual({ outcome: 'failed', answer: 'connection failed: ECONNREFUSED' });
  });

  it('that redirects is not followed, so that it cannot send us elsewhere', async () => {
    let asked = 0;
    const elsewhere = await serve((_, response) => {
      asked++;
      response.end();
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const port = await serve((_, response) => {
        response.writeHead(status, { location: `http://127.0.0.1:${elsewhere}/` }).end();
      });
      const { outcome, answer } = await answerAt(`http://127.0.0.1:${port}/`);
      expect([outcome, answer]).toEqual(['rejected', expect.stringContaining('redirects')]);
    }
    expect(asked).toBe(0);
  });

  it('that answers without end is hung up on: no more than 4 kB of it is read', async () => {
    let sentBytes = 0;
    let hungUp: () => void = () => undefined;
    const isHungUp = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    const port = await serve((_, response) => {
      response.writeHead(200);
      const part = Buffer.alloc(64 * 1024);
      const pour = () => {
        while (!response.destroyed) {
          sentBytes += part.length;
          if (!response.write(part)) return;
        }
      };
      response.on('drain', pour).on('close', hungUp);
      pour();
    });
    expect((await answerAt(`http://127.0.0.1:${port}/`)).outcome).toBe('accepted');
    await isHungUp;
    expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('that answers slowly is given up after the timeout', async () => {
    const port = await serve(() => undefined);
    const answer = await answerAt(`http://127.0.0.1:${port}/`, 100);
    expect(answer).toMatchObject({ outcome: 'failed', answer: 'no response within 100 ms' });
  });
});
