import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Outbox } from '../../src/alert/outbox/outbox.ts';
import { openRoutes } from '../../src/alert/routing/open-routes.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/telemetry/log.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { AnomalyEvent } from '../../src/detect/event/anomaly-event.ts';
import { choosePorts } from '../../src/local/local-ports.ts';
import { AnomalyStore } from '../../src/sink/anomalies/anomaly-store.ts';
import { DeliveryStore } from '../../src/sink/anomalies/delivery-store.ts';
import { useStack } from '../containers/stack.ts';
import { anomalyFixture } from '../detect/anomaly-fixture.ts';
import { poll } from './kit/poll.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const binary = ['/usr/bin/prometheus-alertmanager', '/usr/local/bin/alertmanager'].find(existsSync);
const episodes = 12;
const rising = 4;

/** A notification of Alertmanager's own, as its receiver gets it. */
interface Notified {
  readonly status: string;
  readonly alerts: readonly { status: string; labels: Record<string, string> }[];
}

const closing: (() => Promise<unknown> | unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** The real Alertmanager, with the inhibit rules of docs/how-to/alerts.md, that notifies a server of the test. */
class Alertmanager {
  readonly notified: Notified[] = [];
  readonly url: string;
  readonly #port: number;
  readonly #dir = mkdtempSync(join(tmpdir(), 'tailmark-alertmanager-'));
  readonly #receiver: Server;
  #process: ReturnType<typeof spawn> | undefined;

  private constructor(port: number, receiver: Server) {
    this.#port = port;
    this.#receiver = receiver;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async open(): Promise<Alertmanager> {
    const [port = 0] = await choosePorts([{ flag: 'port' }]);
    let manager: Alertmanager | undefined;
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        manager?.notified.push(JSON.parse(body));
        response.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    manager = new Alertmanager(port, receiver);
    await manager.start();
    closing.push(() => manager?.close());
    return manager;
  }

  async start(): Promise<void> {
    const hook = `http://127.0.0.1:${(this.#receiver.address() as AddressInfo).port}/`;
    const config = join(this.#dir, 'alertmanager.yml');
    writeFileSync(config, configurationOf(hook));
    const address = `127.0.0.1:${this.#port}`;
    const options = [
      `--config.file=${config}`,
      `--storage.path=${this.#dir}/data`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ];
    this.#process = spawn(binary ?? '', options, { stdio: 'ignore' });
    await poll('Alertmanager is ready', async () => {
      const response = await fetch(`${this.url}/-/ready`).catch(() => undefined);
      return response?.ok ? true : undefined;
    });
  }

  /** SIGTERM: killed with -9 it repeats itself, as its log is written at the end. */
  async stop(): Promise<void> {
    const ended = this.#process && once(this.#process, 'exit');
    this.#process?.kill('SIGTERM');
    await ended;
  }

  async close(): Promise<void> {
    await this.stop();
    this.#receiver.closeAllConnections();
    this.#receiver.close();
  }
}

function configurationOf(hook: string): string {
  return [
    'route:',
    '  receiver: hook',
    '  group_by: [dedup_key]',
    '  group_wait: 200ms',
    '  group_interval: 500ms',
    '  repeat_interval: 24h',
    'receivers:',
    '  - name: hook',
    '    webhook_configs:',
    `      - url: ${hook}`,
    '        send_resolved: true',
    'inhibit_rules:',
    '  - source_matchers: [severity="critical"]',
    '    target_matchers: [severity=~"warning|info"]',
    '    equal: [dedup_key]',
    '',
  ].join('\n');
}

/** What people are notified of one anomaly, in order. */
function storyOf(notified: readonly Notified[], key: string): string[] {
  return notified
    .filter(({ alerts }) => alerts.some(({ labels }) => labels.dedup_key === key))
    .map(({ status, alerts }) => {
      const firing = alerts.filter((alert) => alert.status === 'firing');
      return `${status} ${firing
        .map(({ labels }) => labels.severity)
        .sort()
        .join('+')}`.trim();
    });
}

it.skipIf(binary === undefined)(
  'the real Alertmanager notifies of each opening, rise and end once, through restarts of both',
  () =>
    withRig({ stack, name: 'alertmanager' }, async (rig) => {
      const manager = await Alertmanager.open();
      const env = {
        ...rig.env,
        TAILMARK_ALERT_RECEIVERS: JSON.stringify([
          { type: 'alertmanager', name: 'am', urls: [manager.url] },
        ]),
      };
      const { config } = loadConfig({ env, readFile: () => '' });
      const anomalies = new AnomalyStore(rig.client);
      const openOutbox = async () => {
        let isAlive = true;
        const outbox = new Outbox({
          routes: openRoutes(config.alert, undefined, {}),
          store: new DeliveryStore(rig.client),
          readMutes: async () => [],
          giveUpAfterMs: config.alert.give_up_after,
          clock: systemClock,
          random: Math.random,
          isLeading: () => isAlive,
          log: createLog({ level: 'silent' }),
          metrics: createMetrics(),
        });
        await outbox.start();
        const kill = () => {
          isAlive = false;
        };
        rig.atEnd(async () => {
          kill();
          await outbox.stop(100);
        });
        return { outbox, kill };
      };
      let running = await openOutbox();
      const emit = async (n: number, changed: Partial<AnomalyEvent>) => {
        const event = anomalyFixture({
          id: `a${n}`,
          dedup_key: `tail_shift/ranker/${n}`,
          started_at: new Date(Date.now() - 60_000).toISOString(),
          ...changed,
        });
        await anomalies.add(event);
        running.outbox.add(event);
      };
      const all = Array.from({ length: episodes }, (_, n) => n);
      const seen = (status: string) =>
        all.filter((n) => storyOf(manager.notified, `tail_shift/ranker/${n}`).at(-1) === status);
      for (const n of all) await emit(n, { severity: 'warning' });
      running.kill();
      await poll('each opening', () => (seen('firing warning').length > 0 ? true : undefined));
      running = await openOutbox();
      await poll('each opening', () =>
        seen('firing warning').length === episodes ? true : undefined,
      );
      await manager.stop();
      for (const n of all.slice(0, rising)) {
        await emit(n, { revision: 2, state: 'updated', severity: 'critical' });
      }
      await manager.start();
      running.kill();
      running = await openOutbox();
      await poll('each rise', () =>
        all.slice(0, rising).every((n) => {
          const story = storyOf(manager.notified, `tail_shift/ranker/${n}`);
          return story.length === 2;
        })
          ? true
          : undefined,
      );
      for (const n of all) {
        await emit(n, {
          revision: 3,
          state: 'resolved',
          severity: n < rising ? 'critical' : 'warning',
          resolved_at: new Date().toISOString(),
          resolution: 'recovered',
        });
      }
      await poll('each end', () => (seen('resolved').length === episodes ? true : undefined));
      // The end is sent again and again, and notified once.
      running.kill();
      running = await openOutbox();
      await poll('the watchdog', async () => {
        const response = await fetch(
          `${manager.url}/api/v2/alerts?filter=alertname=TailmarkWatchdog`,
        );
        return ((await response.json()) as unknown[]).length === 1 ? true : undefined;
      });
      for (const n of all) {
        const story = storyOf(manager.notified, `tail_shift/ranker/${n}`);
        expect([n, story[0], story.at(-1), story.length]).toEqual([
          n,
          'firing warning',
          'resolved',
          n < rising ? 3 : 2,
        ]);
        if (n < rising) expect(story[1]).toMatch(/^firing critical/);
      }
    }),
  120_000,
);

it.runIf(binary === undefined)('says what is missing for the test with Alertmanager', () => {
  expect(() => execFileSync('prometheus-alertmanager', ['--version'])).toThrow('ENOENT');
});
