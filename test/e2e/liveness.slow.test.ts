import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Config } from '../../src/config/schema.ts';
import { ingestClient } from '../../src/ingest/open-source.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { ensureTopics } from '../../src/kafka/client/kafka-topics.ts';
import { KafkaSource } from '../../src/kafka/kafka-source.ts';
import { WatchedSource } from '../../src/kafka/liveness/watched-source.ts';
import { type KafkaBroker, startKafka } from '../../src/local/kafka/kafka-broker.ts';
import type { Chunk } from '../../src/sink/chunks/chunk.ts';
import type { ChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { ObservedStore } from '../../src/sink/chunks/observed-store.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { type AnswerFate, KafkaProxy, kafkaApis } from './kit/kafka-proxy.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { startIngester } from './kit/start-ingester.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
// Concurrent: all their time is spent waiting.
const { concurrent } = describe;
const soon = { retries: 1, requestTimeoutMs: 2_000 };

/** A test with a proxy before the broker. */
async function withProxy(use: (proxy: KafkaProxy) => Promise<void>): Promise<void> {
  const proxy = await KafkaProxy.before(stack.brokers[0] ?? '');
  try {
    await use(proxy);
  } finally {
    await proxy.close();
  }
}

/** The ingest role with a watchdog that waits so long, and twice that before the end. */
async function startWatched(rig: Rig, config: Config, unreadyMs: number) {
  const watched = new WatchedSource(
    {
      config,
      kafka: ingestClient(config, rig.log),
      probeKafka: createKafkaClient(config.kafka, soon),
      clock: systemClock,
      storeWaitMs: () => 0,
      log: rig.log,
      limits: { unreadyMs, stalledMs: 2 * unreadyMs },
    },
    (kafka) => new KafkaSource(config.kafka, { kafka, log: rig.log }),
  );
  const ingester = await startIngester(rig, { config, wrapSource: () => watched });
  return { watched, ingester };
}

concurrent('an answer that kafkajs does not know', () => {
  it('ends the process with 69, and a new one continues exactly', () =>
    withProxy((proxy) =>
      withRig({ stack, name: 'unknown_code' }, async (rig) => {
        const { messages, events, truth } = benchMessages('unknown code', 3_000, 10);
        const half = messages.length / 2;
        await rig.publish(messages.slice(0, half).map((value) => ({ value })));
        const child = rig.spawn(['run', '--roles', 'ingest'], {
          TAILMARK_KAFKA_BROKERS: proxy.address,
        });
        await rig.untilConsumed(events / 2);
        proxy.fate = (apiKey) => (apiKey === kafkaApis.heartbeat ? { errorCode: 129 } : 'pass');
        await rig.publish(messages.slice(half).map((value) => ({ value })));
        expect(await child.exited).toBe(69);
        expect(proxy.meddled).toBeGreaterThan(0);
        expect(child.err()).toMatch(/Unknown error code 129/);
        expect(child.err()).toMatch(/code: TAILMARK_STALLED/);
        await rig.start();
        await rig.untilConsumed(events);
        await rig.expectStages(truth);
      }),
    ));
});

concurrent('a topic that is deleted while it is read', () => {
  it('is named while it is missing; after 30 s the process ends with 69, as a start would', () =>
    withRig({ stack, name: 'deleted_topic' }, async (rig) => {
      const other = `${rig.topic}.deleted`;
      await ensureTopics(rig.config.kafka, [{ topic: other }]);
      const child = rig.spawn(['run', '--roles', 'ingest,serve'], {
        TAILMARK_KAFKA_TOPICS: `${rig.topic},${other}`,
      });
      const { messages, events } = benchMessages('deleted topic', 100, 1);
      await rig.publish(messages.map((value) => ({ value })));
      await rig.untilConsumed(events);
      const url = /health and metrics at (http:[^"\s]+)/.exec(child.err())?.[1];
      const admin = createKafkaClient(rig.config.kafka).admin();
      rig.atEnd(() => admin.disconnect());
      await admin.connect();
      await admin.deleteTopics({ topics: [other] });
      const text = `kafka: topic ${other} does not exist: none of the topics is read until it does`;
      const ready = await poll('it is named', async () => {
        const answer = await fetch(`${url}/readyz`);
        return (await answer.text()).includes(text) ? answer.status : undefined;
      });
      expect(ready).toBe(503);
      expect(await child.exited).toBe(69);
      expect(child.err()).toContain(`every topic of kafka.topics must exist; missing: ${other}`);
      const failures = child.err().match(/Kafka consumer failed; restarting it/g) ?? [];
      expect(failures.length).toBeLessThan(10);
    }));
});

concurrent('answers that stop to come, while others get theirs', () => {
  it.each([
    ['fetches', kafkaApis.fetch, /lag of 100: the consumer sends no fetch requests/],
    ['commits', kafkaApis.offsetCommit, /no commit for|has not finished/],
  ])('are reported and end the reading: %s', (name, lost, why) =>
    withProxy((proxy) =>
      withRig({ stack, name: `no_${name}` }, async (rig) => {
        const config = {
          ...rig.config,
          kafka: { ...rig.config.kafka, brokers: [proxy.address] },
        };
        // It ends after twice that. By then the consumer has been silent for over 10 s, as with a lost fetch
        // and not with an empty one.
        const { watched, ingester } = await startWatched(rig, config, 6_000);
        const { messages, events } = benchMessages('no answers', 1_000, 10);
        await rig.publish(messages.map((value) => ({ value })));
        await rig.untilConsumed(events);
        expect(watched.problems()).toEqual([]);
        proxy.fate = (apiKey): AnswerFate => (apiKey === lost ? 'swallow' : 'pass');
        await rig.publish(messages.map((value) => ({ value })));
        const problem = await poll('it is reported', () => watched.problems()[0]);
        expect(problem).toMatch(/^kafka: .*(has been at offset 100|no commit for \S+) for \d+ s/);
        await expect(watched.done).rejects.toMatchObject({
          code: 'TAILMARK_STALLED',
          exitCode: 69,
          message: expect.stringMatching(why),
        });
        proxy.fate = () => 'pass';
        proxy.cut();
        await ingester.abandon();
        // The next process finishes it.
        await rig.start();
        await rig.untilConsumed(2 * events);
      }),
    ),
  );
});

concurrent('records that are there and not to be read', () => {
  it('are no lag: those of an open or aborted transaction', () =>
    withRig({ stack, name: 'transactions' }, async (rig) => {
      const { messages, events, truth } = benchMessages('transactions', 1_000, 10);
      const { watched, ingester } = await startWatched(rig, rig.config, 10_000);
      await rig.publish(messages.map((value) => ({ value })));
      await rig.untilConsumed(events);
      const producer = createKafkaClient(rig.config.kafka).producer({
        transactionalId: rig.topic,
        idempotent: true,
        maxInFlightRequests: 1,
      });
      await producer.connect();
      rig.atEnd(() => producer.disconnect());
      const transaction = await producer.transaction();
      await transaction.send({ topic: rig.topic, messages: messages.map((value) => ({ value })) });
      // Longer than any wait of the watchdog; its problems are collected all along.
      const problems: string[] = [];
      const watch = setInterval(() => problems.push(...watched.problems()), 250);
      await pause(13_000);
      await transaction.abort();
      await pause(13_000);
      clearInterval(watch);
      expect(problems).toEqual([]);
      await ingester.drain();
      await rig.expectStages(truth);
    }));
});

concurrent('a broker that takes connections and never answers', () => {
  it('makes the process unready within 30 s, does not end it, and costs nothing', async (context) => {
    if (stack.kind !== 'local') context.skip('it is stopped by its process id');
    const dir = mkdtempSync(join(tmpdir(), 'tailmark-liveness-'));
    let kafka: KafkaBroker | undefined;
    try {
      kafka = await startKafka({ dataDir: dir, onProgress: () => undefined });
      const { pid, brokers } = kafka;
      await withRig({ stack: { ...stack, brokers }, name: 'mute' }, async (rig) => {
        const { messages, events, truth } = benchMessages('mute', 20_000, 10);
        const half = messages.length / 2;
        await rig.publish(messages.slice(0, half).map((value) => ({ value })));
        const pipeline = await rig.start(['ingest', 'serve']);
        let ended: unknown;
        pipeline.done.catch((error: unknown) => {
          ended = error;
        });
        const ready = async () => {
          const response = await fetch(`${pipeline.url}/readyz`);
          return `${response.status} ${await response.text()}`;
        };
        await rig.untilConsumed(events / 2);
        expect(await ready()).toBe('200 ready\n');
        process.kill(pid, 'SIGSTOP');
        try {
          const unready = async () => (/^503/.test(await ready()) ? ready() : undefined);
          const reported = await poll('it is not ready', unready, { deadlineMs: 30_000 });
          expect(reported).toMatch(/^503 kafka: no response for \d+ s \(.+\)\n/);
        } finally {
          process.kill(pid, 'SIGCONT');
        }
        await poll('it is ready', async () => ((await ready()) === '200 ready\n' ? 1 : undefined));
        // Not before: a request that times out is sent once more, and the test would send events twice.
        await rig.publish(messages.slice(half).map((value) => ({ value })));
        await rig.untilConsumed(events);
        await poll('it is ready', async () => ((await ready()) === '200 ready\n' ? 1 : undefined));
        expect(ended).toBeUndefined();
        await rig.expectStages(truth);
      });
    } finally {
      await kafka?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

concurrent('a batch that takes twice the session timeout to ingest', () => {
  it('keeps its partition: heartbeats continue, and there is no rebalance', () =>
    withRig(
      {
        stack,
        name: 'long_batch',
        settings: { INGEST_FLUSH_MAX_EVENTS: '2000', KAFKA_SESSION_TIMEOUT: '6s' },
      },
      async (rig) => {
        const { messages, events, truth } = benchMessages('long batch', 20_000, 100);
        await rig.publish(messages.map((value) => ({ value })));
        let longestMs = 0;
        const slow = (store: ChunkStore): ChunkStore => {
          const observed = new ObservedStore(store, systemClock, 60_000);
          const insert = observed.insert.bind(observed);
          observed.insert = async (chunk: Chunk) => {
            await pause(1_500);
            await insert(chunk);
          };
          return observed;
        };
        const startedMs = performance.now();
        const ingester = await startIngester(rig, { wrapStore: slow });
        await rig.untilConsumed(events);
        longestMs = performance.now() - startedMs;
        await ingester.drain();
        // Ten chunks of one fetch, each of which waits for the one before it.
        expect(longestMs).toBeGreaterThan(12_000);
        expect(rig.logLines.filter((line) => line.includes('partition assigned'))).toHaveLength(1);
        await rig.expectStages(truth);
      },
    ));
});
