import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Outbox } from '../../src/alert/outbox/outbox.ts';
import { openRoutes } from '../../src/alert/routing/open-routes.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { loadConfig } from '../../src/config/load/load-config.ts';
import type { DeliveryRow } from '../../src/sink/anomalies/delivery-store.ts';
import { VirtualClock } from '../alert/outbox/virtual-clock.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';
import { leaksIn } from '../e2e/kit/leaks-in.ts';

/** Answers every request with all that it was sent: servers quote what they refuse. */
let status = 200;
const seen: string[] = [];
const echo = createServer((request: IncomingMessage, response: ServerResponse) => {
  let body = '';
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    const all = `${request.url} ${JSON.stringify(request.headers)} ${body}`;
    seen.push(all);
    response.writeHead(status, { 'x-echo': 'yes' }).end(all);
  });
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  port = (echo.address() as AddressInfo).port;
});
afterAll(() => {
  echo.closeAllConnections();
  echo.close();
});

/** 50 secrets: of each kind of receiver some, each in a place of its own. */
function receivers() {
  const host = `127.0.0.1:${port}`;
  const key = (i: number) => `CANARY${String(i).padStart(26, '0')}`;
  const five = [0, 1, 2, 3, 4];
  return five.flatMap((i) => [
    { type: 'pagerduty', name: `pd${i}`, url: `http://${host}/`, routing_key: key(i) },
    {
      type: 'slack',
      name: `bot${i}`,
      url: `http://${host}`,
      token: `xoxb-CANARY-${i}`,
      channel: 'C',
    },
    { type: 'slack', name: `hook${i}`, url: `http://${host}/services/CANARY-T${i}/CANARY-B${i}` },
    {
      ...{ type: 'webhook', name: `events${i}`, token: `CANARY-bearer-${i}` },
      ...{ url: `http://${host}/CANARY-path-${i}?t=CANARY-query-${i}`, secret: `CANARY-sign-${i}` },
    },
    {
      ...{ type: 'webhook', name: `alerts${i}`, format: 'alertmanager' },
      url: `http://ann:CANARY-login-${i}@${host}/in`,
    },
    {
      ...{ type: 'alertmanager', name: `am${i}`, urls: [`http://${host}`] },
      ...{ username: 'ann', password: `CANARY-password-${i}` },
    },
  ]);
}

describe('secrets of receivers', () => {
  it.each([200, 202, 400, 401, 404, 429, 500])(
    'stay hidden where all is answered with %i',
    async (given) => {
      status = given;
      seen.length = 0;
      const env = { TAILMARK_ALERT_RECEIVERS: JSON.stringify(receivers()) };
      const { config, settings } = loadConfig({ env, readFile: () => '' });
      const planted = JSON.stringify(receivers()).match(/CANARY[\w-]*/g) ?? [];
      expect(new Set(planted).size).toBeGreaterThanOrEqual(50);
      const logged: string[] = [];
      const rows: DeliveryRow[] = [];
      const metrics = createMetrics();
      const line = (...parts: unknown[]) => void logged.push(JSON.stringify(parts));
      const log = { info: line, warn: line, error: line } as never;
      const routes = openRoutes(config.alert, undefined, {});
      const outbox = new Outbox({
        routes,
        store: {
          load: async () => ({ events: [], settled: [], sinceMs: new Map() }),
          add: async (added) => void rows.push(...added),
        },
        readMutes: async () => [],
        giveUpAfterMs: 3_600_000,
        clock: new VirtualClock(),
        random: () => 0.5,
        isLeading: () => true,
        log,
        metrics,
      });
      await outbox.start();
      outbox.add(anomalyFixture());
      // Each receiver is asked at least once, and what came back is recorded.
      while (new Set(rows.map(({ receiver }) => receiver)).size < routes.length) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const event = anomalyFixture();
      const notice = {
        event,
        change: 'opened',
        severities: ['critical'],
        memory: '',
        isTest: false,
      } as const;
      const previews = routes.map(({ receiver }) => receiver.preview(notice, 'full'));
      await outbox.stop(0);
      const shown = {
        logged,
        rows: rows.map(({ memory, ...row }) => row),
        notes: outbox.notes(),
        previews,
        settings: settings.map(({ shown: value }) => value),
        metrics: await metrics.registry.metrics(),
        names: routes.map(({ receiver }) => receiver.name),
      };
      // The receivers did get them.
      expect(leaksIn(seen.join('\n')).length).toBeGreaterThan(0);
      expect(leaksIn(JSON.stringify(shown))).toEqual([]);
    },
  );
});

describe('a receiver with a mistake', () => {
  it.each([
    ['an address without a scheme', { type: 'slack', name: 'a', url: 'CANARY.example/x' }],
    ['a key of another length', { type: 'pagerduty', name: 'a', routing_key: 'CANARY-short' }],
    ['a token without its channel', { type: 'slack', name: 'a', token: 'xoxb-CANARY' }],
    ['an unknown type', { type: 'pager', name: 'a', routing_key: 'CANARY-key-of-a-pager' }],
    ['two of one name', { type: 'webhook', name: 'a', url: 'https://x.example/CANARY', b: 1 }],
  ])('shows no secret: %s', (_, receiver) => {
    const env = { TAILMARK_ALERT_RECEIVERS: JSON.stringify([receiver]) };
    let message = '';
    try {
      loadConfig({ env, readFile: () => '' });
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('alert.receivers');
    expect(leaksIn(message)).toEqual([]);
  });
});
