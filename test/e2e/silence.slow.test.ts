import { describe, expect, it } from 'vitest';
import { hourMs } from '../../src/base/time.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../src/contract/anomaly-event.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import type { Pipeline } from '../../src/pipeline.ts';
import { FaultyProxy } from '../chaos/faulty-proxy.ts';
import { useStack } from '../containers/stack.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const partitions = 3;
const settings = {
  // A chunk costs more than its events: a few a second.
  INGEST_FLUSH_INTERVAL: '500ms',
  DETECT_PIPELINE_AFTER: '1s',
  DETECT_INTERVAL: '250ms',
  WINDOWS_MAX_WAIT: '2s',
  WINDOWS_GRACE: '0s',
};

/** Four events a second in each partition, to the end of the test; those of the last one may be old. */
function feed(rig: Rig, lastBehindMs = 0): void {
  const event = (endMs: number) => JSON.stringify({ ts: endMs - 5, model: 'm', total_ms: 5 });
  let sending: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    const nowMs = Date.now();
    const messages = Array.from({ length: partitions }, (_, partition) => {
      const behindMs = partition === partitions - 1 ? lastBehindMs : 0;
      return { value: event(nowMs - behindMs), partition };
    });
    sending = sending.then(() => rig.publish(messages));
  }, 250);
  rig.atEnd(async () => {
    clearInterval(timer);
    await sending;
  });
}

/** The emitted events; a growing array. */
async function emittedBy(rig: Rig): Promise<AnomalyEvent[]> {
  const events: AnomalyEvent[] = [];
  await rig.follow(rig.config.alert.topic, ({ value }) => {
    events.push(anomalyEventSchema.parse(JSON.parse(String(value))));
  });
  return events;
}

const untilEmitted = (events: readonly AnomalyEvent[], expected: readonly string[]) =>
  poll(expected.join(', '), () => (events.length >= expected.length ? true : undefined), {
    seen: () => events,
  }).then(() => {
    const names = events.map(
      (event) => `${event.dedup_key.split('/', 2).join(' ')} ${event.state}`,
    );
    expect(names).toEqual(expected);
  });

async function get(pipeline: Pipeline, path: string) {
  const response = await fetch(`${pipeline.url}${path}`);
  return { status: response.status, text: await response.text() };
}

async function gauge(pipeline: Pipeline, name: string): Promise<number[]> {
  const { text } = await get(pipeline, '/metrics');
  const lines = text.matchAll(new RegExp(`^tailmark_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return [...lines].map(([, value]) => Number(value));
}

async function judgedUntilMs(rig: Rig): Promise<number> {
  const [row] = await rig.rows<{ ms: string }>(
    'SELECT toUnixTimestamp64Milli(max(judged_until)) AS ms FROM detector_progress',
  );
  return Number(row?.ms);
}

const untilJudged = (rig: Rig, ms: number) =>
  poll('windows are judged', async () => ((await judgedUntilMs(rig)) >= ms ? true : undefined));

describe('while traffic continues', () => {
  it('ClickHouse that is away is a pipeline event, emitted at once, and no silence', () =>
    withRig({ stack, name: 'store-away', partitions, settings }, async (rig) => {
      const { clickhouse } = rig.config;
      const proxy = await FaultyProxy.start(Number(new URL(clickhouse.url).port));
      rig.atEnd(() => proxy.close());
      const url = `http://127.0.0.1:${proxy.port}`;
      const config = { ...rig.config, clickhouse: { ...clickhouse, url } };
      const pipeline = await rig.start(['ingest', 'detect', 'serve'], config);
      const events = await emittedBy(rig);
      feed(rig);
      await untilJudged(rig, Date.now());
      proxy.inject({ kind: 'refuse' });
      const awayMs = Date.now();
      await untilEmitted(events, ['pipeline behind opened']);
      expect(events[0]).toMatchObject({ kind: 'pipeline', severity: 'warning' });
      const lag = async () => {
        const reported = await Promise.all(
          ['detector_lag_messages', 'lag_messages'].map((name) => gauge(pipeline, name)),
        );
        return reported.every((all) => all.length === partitions && all.every((n) => n > 10))
          ? true
          : undefined;
      };
      await poll('both say how much waits', lag);
      const { status, text } = await get(pipeline, '/readyz');
      expect([status, text]).toEqual([
        503,
        expect.stringContaining('detect: ClickHouse has not responded for'),
      ]);
      proxy.heal();
      await untilEmitted(events, ['pipeline behind opened', 'pipeline behind resolved']);
      // All of that time is judged, and the emitted events are stored.
      await untilJudged(rig, awayMs + 10_000);
      const rows = await rig.rows<{ body: string }>(
        'SELECT body FROM anomalies FINAL ORDER BY id, revision',
      );
      // On a busy machine the pipeline may be behind once more, under another id.
      const byId = events.toSorted(
        (one, other) => one.id.localeCompare(other.id) || one.revision - other.revision,
      );
      expect(rows.map(({ body }) => JSON.parse(body))).toEqual(byId);
      const explained = await rig.cli(['explain', String(events[0]?.id)]);
      expect([explained.exitCode, explained.err]).toEqual([0, '']);
      expect(explained.out).toContain('All messages in Kafka are stored again after');
    }));

  it('a missing ingester is a pipeline event too; transaction markers are no waiting messages', () =>
    withRig({ stack, name: 'ingest-away', partitions, settings }, async (rig) => {
      const ingest = await rig.start(['ingest']);
      const pipeline = await rig.start(['detect', 'serve']);
      const events = await emittedBy(rig);
      const client = createKafkaClient(rig.config.kafka);
      const producer = client.producer({ transactionalId: rig.topic, maxInFlightRequests: 1 });
      await producer.connect();
      rig.atEnd(() => producer.disconnect());
      const value = JSON.stringify({ ts: Date.now(), model: 'm', total_ms: 5 });
      const send = async () => {
        const transaction = await producer.transaction();
        await transaction.send({ topic: rig.topic, messages: [{ value, partition: 0 }] });
        await transaction.commit();
      };
      await send();
      await rig.untilConsumed(1);
      const lags = () => gauge(pipeline, 'detector_lag_messages');
      const untilAllIsStored = () =>
        poll('nothing waits', async () => ((await lags()).join() === '0,0,0' ? true : undefined));
      await untilAllIsStored();
      expect(events).toEqual([]);
      await ingest.stop();
      await send();
      await untilEmitted(events, ['pipeline behind opened']);
      // The record and its marker.
      expect((await lags()).sort()).toEqual([0, 0, 2]);
      await rig.start(['ingest']);
      await untilEmitted(events, ['pipeline behind opened', 'pipeline behind resolved']);
      await untilAllIsStored();
    }));

  it('a partition whose events are five hours old is named, and delays no other', () =>
    withRig({ stack, name: 'displaced', partitions, settings }, async (rig) => {
      feed(rig, 5 * hourMs);
      const pipeline = await rig.start(['ingest', 'detect', 'serve']);
      const events = await emittedBy(rig);
      await untilEmitted(events, ['pipeline event_time opened']);
      expect(events[0]?.summary).toContain(
        `${rig.topic}/2 arrive up to 5 h after their event time`,
      );
      await untilJudged(rig, Date.now());
      const { status, text } = await get(pipeline, '/readyz');
      expect([status, text.split('\n')[0]]).toEqual([200, 'ready']);
      expect(text).toContain(`${rig.topic}/2 arrive up to 5 h`);
    }));
});
