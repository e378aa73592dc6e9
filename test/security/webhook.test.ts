import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { AlertDispatcher } from '../../src/alert/alert-dispatcher.ts';
import { WebhookTarget } from '../../src/alert/webhook-target.ts';
import type { AnomalyEvent } from '../../src/detect/event/anomaly-event.ts';
import { leaksIn } from '../e2e/kit/leaks-in.ts';

const event = { id: 'e1', dedup_key: 'k', state: 'opened', time: 0 } as unknown as AnomalyEvent;
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

function target(url: string, timeoutMs = 5_000): WebhookTarget {
  const secret = 'CANARY-secret';
  const sleep = async () => undefined;
  return new WebhookTarget({ url, timeoutMs, secret, fetch, nowMs: () => 0, sleep });
}

async function failureOf(webhook: WebhookTarget): Promise<Error> {
  const [failure] = await new AlertDispatcher({ targets: [webhook] }).dispatch(event);
  return failure?.error ?? new Error('delivered');
}

describe('a webhook', () => {
  it('gets the login of its address as a header, and shows it to nobody', async () => {
    let seen = '';
    const port = await serve((request, response) => {
      seen = `${request.url} ${request.headers.authorization}`;
      response.writeHead(401).end(`no ${seen}`);
    });
    const address = `http://ann:CANARY%2Flogin@127.0.0.1:${port}/CANARY-path?t=CANARY-query`;
    const error = await failureOf(target(address));
    const login = Buffer.from('ann:CANARY/login').toString('base64');
    expect(seen).toBe(`/CANARY-path?t=CANARY-query Basic ${login}`);
    expect(error.message).toContain('it answered 401');
    expect(leaksIn(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`)).toEqual([]);
  });

  it('that cannot be reached is named by its host alone', async () => {
    const error = await failureOf(target('http://127.0.0.1:1/CANARY?CANARY'));
    expect(error.message).toContain('webhook 127.0.0.1:1 ');
    expect(leaksIn(`${error.stack} ${String(error.cause)}`)).toEqual([]);
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
      expect((await failureOf(target(`http://127.0.0.1:${port}/`))).message).toContain('redirects');
    }
    expect(asked).toBe(0);
  });

  it('that answers without end is hung up on: its answer is not read', async () => {
    let sentBytes = 0;
    const hungUp = new Promise<void>((resolve) => {
      void serve((_, response) => {
        response.writeHead(200);
        const part = Buffer.alloc(64 * 1024);
        const pour = () => {
          while (!response.destroyed) {
            sentBytes += part.length;
            if (!response.write(part)) return;
          }
        };
        response.on('drain', pour).on('close', resolve);
        pour();
      }).then(async (port) => target(`http://127.0.0.1:${port}/`).deliver(event));
    });
    await hungUp;
    expect(sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('that answers slowly is given up after the timeout, each time', async () => {
    const port = await serve(() => undefined);
    const error = await failureOf(target(`http://127.0.0.1:${port}/`, 100));
    expect(error.message).toContain('after 5 attempts: no answer within 100 ms');
  });
});
