import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../src/local/clickhouse/clickhouse-server.ts';
import { type KafkaBroker, startKafka } from '../../src/local/kafka/kafka-broker.ts';
import { BadReceiver } from '../chaos/pages/bad-receiver.ts';
import type { StackEndpoints } from '../containers/global-setup.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

// Servers of this file, to be killed and restarted on their data and ports.
let dir: string;
let kafka: KafkaBroker | undefined;
let clickhouse: ClickHouseServer | undefined;
let missing = '';
const onProgress = () => undefined;
const lacking = new Set(['TAILMARK_LOCAL_JAVA_MISSING', 'TAILMARK_LOCAL_ENGINE_MISSING']);

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-outage-'));
  try {
    [kafka, clickhouse] = await Promise.all([runKafka(), runClickHouse()]);
  } catch (error) {
    if (!(error instanceof OperatorError) || !lacking.has(error.code)) throw error;
    missing = error.message;
  }
});
beforeEach((context) => {
  if (missing !== '') context.skip(missing);
});
afterAll(async () => {
  await Promise.all([kafka?.stop(), clickhouse?.stop()]);
  rmSync(dir, { recursive: true, force: true });
});

function runKafka(port?: number): Promise<KafkaBroker> {
  return startKafka({ dataDir: join(dir, 'kafka'), port, onProgress });
}

function runClickHouse(httpPort?: number): Promise<ClickHouseServer> {
  const dataDir = join(dir, 'clickhouse');
  return startClickHouse({ dataDir, httpPort, database: 'tailmark', onProgress });
}

const partitions = 2;
const portIn = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1));

/** Kills with -9 and waits for the end. */
async function kill(server: KafkaBroker | ClickHouseServer | undefined): Promise<void> {
  process.kill(server?.pid ?? 0, 'SIGKILL');
  await server?.exited;
}

function endpoints(): StackEndpoints {
  return {
    kind: 'local',
    brokers: kafka?.brokers ?? [],
    clickhouseUrl: clickhouse?.url ?? '',
  };
}

/** Ingests while `outage` happens in the middle; at the end every event counts exactly once. */
function through(name: string, outage: (rig: Rig, url: string) => Promise<void>) {
  const settings = { INGEST_FLUSH_INTERVAL: '100ms', INGEST_FLUSH_MAX_EVENTS: '500' };
  return withRig({ stack: endpoints(), name, partitions, settings }, async (rig) => {
    const { messages, events, truth } = benchMessages(name, 12_000, 10);
    await rig.publish(messages.map((value, n) => ({ value, partition: n % partitions })));
    const pipeline = await rig.start(['ingest', 'serve']);
    await rig.untilConsumed(2_000);
    await outage(rig, pipeline.url ?? '');
    await rig.untilConsumed(events);
    let answer = '';
    const isReady = async () => {
      const response = await fetch(`${pipeline.url}/readyz`);
      answer = `${response.status} ${await response.text()}`;
      return answer === '200 ready\n' ? true : undefined;
    };
    // A missing server is probed every second; a hanging probe ends after 5.
    await poll('it is ready again', isReady, { deadlineMs: 10_000, seen: () => answer });
    await rig.expectStages(truth);
  });
}

describe('kill -9 of', () => {
  it('ClickHouse while chunks are being stored costs nothing and counts nothing twice', () =>
    through('clickhouse', async (rig) => {
      await kill(clickhouse);
      await poll('the loss is noticed', () =>
        rig.tail().includes('a step of storing a chunk failed; retrying') ? true : undefined,
      );
      clickhouse = await runClickHouse(portIn(clickhouse?.url ?? ''));
    }));

  it('the broker while it is being read costs nothing and counts nothing twice', () =>
    through('kafka', async (rig, url) => {
      await kill(kafka);
      // A step of storing says so at once; where nothing is in hand, the probe does.
      const isNoticed = async () => {
        if (/failed; (retrying|restarting it)/.test(rig.tail())) return true;
        return (await fetch(`${url}/readyz`)).status === 503 ? true : undefined;
      };
      await poll('the loss is noticed', isNoticed, { seen: () => rig.tail() });
      kafka = await runKafka(portIn(kafka?.brokers[0] ?? ''));
    }));
});

describe('a ClickHouse that takes connections and never responds', () => {
  it('makes the process unready, which names it first, does not end it, and costs nothing', () => {
    const settings = { INGEST_FLUSH_INTERVAL: '1s', CLICKHOUSE_REQUEST_TIMEOUT: '30s' };
    return withRig({ stack: endpoints(), name: 'hang', partitions, settings }, async (rig) => {
      const { messages, events, truth } = benchMessages('hang', 12_000, 10);
      const half = messages.length / 2;
      const spread = (some: readonly Buffer[]) =>
        rig.publish(some.map((value, n) => ({ value, partition: n % partitions })));
      await spread(messages.slice(0, half));
      const pipeline = await rig.start(['ingest', 'serve']);
      let ended: unknown;
      pipeline.done.catch((error: unknown) => {
        ended = error;
      });
      const readiness = async () => {
        const response = await fetch(`${pipeline.url}/readyz`);
        return `${response.status} ${await response.text()}`;
      };
      await rig.untilConsumed(events / 2);
      // From then on a write first asks which server there is: this request hangs, not the insert.
      await pause(2_000);
      const { pid = 0 } = clickhouse ?? {};
      process.kill(pid, 'SIGSTOP');
      try {
        await spread(messages.slice(half));
        const unready = async () => (/^503/.test(await readiness()) ? true : undefined);
        await poll('it is not ready', unready, { deadlineMs: 12_000 });
        expect(await readiness()).toMatch(/^503 clickhouse: it has not responded for \d+ s\n/);
        // Pages say that ClickHouse does not answer: tailmark itself does.
        const page = await fetch(`${pipeline.url}/v1/models`);
        const { detail } = (await page.json()) as { detail: string };
        expect([page.status, detail]).toEqual([503, 'ClickHouse has not answered within 8 s.']);
        const explained = await rig.cli(['explain']);
        expect([explained.exitCode, explained.err]).toEqual([
          69,
          expect.stringMatching(
            /\(nothing for [89] s, not even to \/ping\)\nhint: The server hangs/,
          ),
        ]);
        // The first request of a chunk fails after clickhouse.request_timeout, and a stuck consumer has 40 s.
        const seen = new Set<string>();
        for (let second = 0; second < 40 && ended === undefined; second++) {
          seen.add((await readiness()).replaceAll(/\d+ s\b/g, 'N s').replaceAll(rig.topic, 't'));
          await pause(1_000);
        }
        const namesFirst = /^503 clickhouse: it has not responded for N s\n/;
        const namesChunk = /\nclickhouse: t\/\d has waited for it for N s/;
        const others = [...seen].filter((text) => !namesFirst.test(text) || /kafka:/.test(text));
        expect({ ended, others }).toEqual({ ended: undefined, others: [] });
        expect([...seen].filter((text) => namesChunk.test(text))).not.toEqual([]);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await rig.untilConsumed(events);
      await poll('it is ready again', async () =>
        (await readiness()) === '200 ready\n' ? true : undefined,
      );
      expect(ended).toBeUndefined();
      await rig.expectStages(truth);
    });
  });
});

describe('the page of an outage', () => {
  it('ends though the process that sent it was killed with -9 before it could be stored', async () => {
    const pager = new BadReceiver(202);
    await pager.start();
    const receiver = { type: 'pagerduty', name: 'on-call', url: `${pager.url}/v2/enqueue` };
    const settings = {
      DETECT_PIPELINE_AFTER: '2s',
      DETECT_INTERVAL: '250ms',
      DETECT_SESSION_TIMEOUT: '6s',
      ALERT_RECEIVERS: JSON.stringify([
        { ...receiver, routing_key: 'fedcba9876543210fedcba9876543210' },
      ]),
    };
    const stories = () =>
      pager.accepted.map(({ body }) => {
        const { event_action, dedup_key } = JSON.parse(body) as Record<string, string>;
        return `${event_action} ${dedup_key}`;
      });
    await withRig({ stack: endpoints(), name: 'page', settings }, async (rig) => {
      const first = rig.spawn(['run', '--roles', 'detect']);
      await first.logged('detector ready');
      await kill(clickhouse);
      await poll('the page', () => (stories().length > 0 ? true : undefined));
      first.signal('SIGKILL');
      await first.exited;
      clickhouse = await runClickHouse(portIn(clickhouse?.url ?? ''));
      rig.spawn(['run', '--roles', 'detect']);
      const [page = ''] = stories();
      const end = page.replace('trigger', 'resolve');
      expect(page).toMatch(/^trigger pipeline\/behind\//);
      await poll('its end', () => (stories().includes(end) ? true : undefined), { seen: stories });
      // The opening may come again, under its key. Nothing follows the end.
      expect(new Set(stories())).toEqual(new Set([page, end]));
      expect(stories().at(-1)).toBe(end);
      // It is delivered before it is stored.
      const states = await poll('both events are stored', async () => {
        const rows = await rig.rows('SELECT revision, state FROM anomalies ORDER BY revision');
        return rows.length > 1 ? rows : undefined;
      });
      expect(states).toEqual([
        { revision: 1, state: 'opened' },
        { revision: 2, state: 'resolved' },
      ]);
    }).finally(() => pager.stop());
  });
});
