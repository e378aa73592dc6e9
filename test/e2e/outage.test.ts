import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../src/local/clickhouse/clickhouse-server.ts';
import { type KafkaBroker, startKafka } from '../../src/local/kafka/kafka-broker.ts';
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

/** Ingests while `outage` happens in the middle; at the end every event counts exactly once. */
function through(name: string, outage: (rig: Rig) => Promise<void>) {
  const endpoints = {
    kind: 'local' as const,
    brokers: kafka?.brokers ?? [],
    clickhouseUrl: clickhouse?.url ?? '',
  };
  const settings = { INGEST_FLUSH_INTERVAL: '100ms', INGEST_FLUSH_MAX_EVENTS: '500' };
  return withRig({ stack: endpoints, name, partitions, settings }, async (rig) => {
    const { messages, events, truth } = benchMessages(name, 30_000, 10);
    await rig.publish(messages.map((value, n) => ({ value, partition: n % partitions })));
    const pipeline = await rig.start(['ingest', 'serve']);
    await rig.untilConsumed(2_000);
    await outage(rig);
    await rig.untilConsumed(events, 90_000);
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
    through('kafka', async (rig) => {
      await kill(kafka);
      await poll('the loss is noticed', () =>
        /failed; (retrying|restarting it)/.test(rig.tail()) ? true : undefined,
      );
      kafka = await runKafka(portIn(kafka?.brokers[0] ?? ''));
    }));
});
