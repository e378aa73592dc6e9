import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/base/exit-codes.ts';
import { Random } from '../../src/generate/random.ts';
import type { Chunk } from '../../src/sink/chunks/chunk.ts';
import type { ChunkStore } from '../../src/sink/chunks/chunk-store.ts';
import { FaultyProxy } from '../chaos/faulty-proxy.ts';
import { useStack } from '../containers/stack.ts';
import { benchMessages } from './kit/bench-messages.ts';
import { FlakyCommits } from './kit/flaky-commits.ts';
import { FlakyStore } from './kit/flaky-store.ts';
import {
  kill,
  killInChunk,
  ledger,
  pendingIntents,
  spread,
  storing,
} from './kit/killed-members.ts';
import { poll } from './kit/poll.ts';
import type { Rig } from './kit/rig.ts';
import { stageSums } from './kit/stage-sums.ts';
import type { Child } from './kit/start-child.ts';
import { startIngester } from './kit/start-ingester.ts';
import { truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
// Concurrent: much of their time is spent waiting for sessions of the dead to end.
const { concurrent } = describe;
const ingest = ['run', '--roles', 'ingest'];

/** The look-ups of a store, unchanged. */
const lookUps = (store: ChunkStore): Omit<ChunkStore, 'insert' | 'record'> => ({
  inspect: (entry, sinceMs) => store.inspect(entry, sinceMs),
  ledgerEnds: (...partition) => store.ledgerEnds(...partition),
  groupBeginMs: (...topic) => store.groupBeginMs(...topic),
  missing: (chunk, sinceMs) => store.missing(chunk, sinceMs),
  fill: (...chunk) => store.fill(...chunk),
});

concurrent('SIGTERM', () => {
  it('stores its records and exits 0; the next process reads the rest, and nothing twice', () =>
    withRig({ stack, name: 'sigterm', partitions: 2, settings: untilTheEnd }, async (rig) => {
      const { first, after } = await startBusy(rig);
      first.signal('SIGTERM');
      expect(await first.exited).toBe(exitCodes.ok);
      expect(first.err()).toContain('everything read is stored');
      expect(await rig.consumed(), 'what was in memory was stored too').toBeGreaterThan(200);
      await after();
    }));

  it('that ClickHouse leaves no time for exits 1 and says so; the next process reads it all, and nothing twice', () =>
    withRig({ stack, name: 'sigterm_late', partitions: 2, settings: untilTheEnd }, async (rig) => {
      const proxy = await FaultyProxy.start(Number(new URL(rig.config.clickhouse.url).port));
      rig.atEnd(() => proxy.close());
      const { first, after } = await startBusy(rig, {
        TAILMARK_CLICKHOUSE_URL: `http://127.0.0.1:${proxy.port}`,
        TAILMARK_INGEST_STOP_TIMEOUT: '1s',
      });
      proxy.inject({ kind: 'stall', containing: 'INSERT', times: 1_000, afterBytes: 0 });
      first.signal('SIGTERM');
      expect(await first.exited).toBe(exitCodes.failed);
      expect(first.err()).toContain('not everything read could be stored; it will be read again');
      expect(await rig.consumed()).toBe(200);
      await after();
    }));

  // A claim's first chunk is stored soon; all that comes after it is in memory until the end.
  const untilTheEnd = { INGEST_FLUSH_INTERVAL: '5m', INGEST_FLUSH_MAX_EVENTS: '1000000' };

  /** Starts a process that has stored 200 events and has others in memory; `after` lets another one read on. */
  async function startBusy(rig: Rig, env: Record<string, string> = {}) {
    const { messages, events, truth } = benchMessages('sigterm', 50_000, 10);
    const spreadOut = spread(messages, 2);
    await rig.publish(spreadOut.slice(0, 20));
    const first = rig.spawn(['run', '--roles', 'ingest,serve'], env);
    await rig.untilConsumed(200);
    await poll('nothing is in memory', async () =>
      (await openSeries(first)) === 0 ? true : undefined,
    );
    const feed = steadyFeed(rig, spreadOut.slice(20, -1_000));
    await poll('something is in memory', async () =>
      (await openSeries(first)) > 0 ? true : undefined,
    );
    expect(await rig.consumed()).toBe(200);
    const after = async () => {
      await rig.publish(spreadOut.slice(20 + (await feed.end())));
      const second = rig.spawn(ingest, { TAILMARK_INGEST_FLUSH_INTERVAL: '200ms' });
      await rig.untilConsumed(events);
      second.signal('SIGTERM');
      expect(await second.exited).toBe(0);
      await rig.expectStages(truth);
      expect(await ledger(rig)).toEqual([
        [0, 0, 2_500, 2_500],
        [1, 0, 2_500, 2_500],
      ]);
    };
    return { first, after };
  }

  /** Series and windows in open chunks, by the process's metrics. */
  async function openSeries(child: Child): Promise<number> {
    const url = /metrics at (http:\S+?)"/.exec(child.err())?.[1];
    if (url === undefined) return Number.NaN;
    const page = await (await fetch(`${url}/metrics`)).text();
    return Number(/^tailmark_open_series (\d+)$/m.exec(page)?.[1]);
  }

  /** Some 5,000 events a second, until `end` returns how many were sent. */
  function steadyFeed(rig: Rig, messages: readonly { value: Buffer; partition: number }[]) {
    let isOver = false;
    const feeding = (async () => {
      let sent = 0;
      for (; sent < messages.length && !isOver; sent += 20) {
        await rig.publish(messages.slice(sent, sent + 20));
        await sleep(40);
      }
      return Math.min(sent, messages.length);
    })();
    feeding.catch(() => undefined);
    const end = () => {
      isOver = true;
      return feeding;
    };
    // Also where the test fails: a closed publisher must send nothing.
    rig.atEnd(end);
    return { end };
  }
});

concurrent('kill -9', () => {
  const partitions = 3;

  // Members that stand still, and more deaths, are in exactly-once.slow.test.ts.
  it('while chunks are being stored, of one member after the other, counts everything once', () =>
    withRig(
      {
        stack,
        name: 'kill',
        partitions,
        // Many small chunks: most kills hit between a chunk's intent and its last commit.
        settings: { INGEST_FLUSH_INTERVAL: '100ms', INGEST_FLUSH_MAX_EVENTS: '700' },
      },
      async (rig) => {
        const { messages, events, truth } = benchMessages('kill', 60_000, 10);
        await rig.publish(spread(messages, partitions));
        const first = rig.spawn(ingest);
        await storing(rig, first, new Random('kill -9'));
        const second = rig.spawn(ingest);
        await second.logged('partition assigned');
        await kill(first);
        expect(await killInChunk(rig, second), 'chunks begun and not ended').toBeGreaterThan(0);
        rig.spawn(ingest);
        await rig.untilConsumed(events);
        await rig.expectStages(truth);
        const records = messages.length / partitions;
        expect(await ledger(rig)).toEqual(
          Array.from({ length: partitions }, (_, n) => [n, 0, records, records]),
        );
      },
    ));
});

concurrent('a failing step', () => {
  it('before or after its effect, in the store or in commits, is repeated without a further effect', () =>
    withRig(
      { stack, name: 'flaky', partitions: 2, settings: { INGEST_FLUSH_MAX_EVENTS: '900' } },
      async (rig) => {
        const random = new Random('flaky');
        const { messages, events, truth } = benchMessages('flaky', 12_000, 10);
        await rig.publish(spread(messages, 2));
        const flaky: (FlakyStore | FlakyCommits)[] = [];
        const ingester = await startIngester(rig, {
          wrapStore: (store) => {
            const wrapped = new FlakyStore(store, random.split('store'));
            flaky.push(wrapped);
            return wrapped;
          },
          wrapSource: (source) => {
            const wrapped = new FlakyCommits(source, random.split('commits'));
            flaky.push(wrapped);
            return wrapped;
          },
        });
        rig.atEnd(() => ingester.drain());
        await rig.untilConsumed(events);
        await ingester.drain();
        await rig.expectStages(truth);
        for (const { failures } of flaky) {
          expect(failures.before).toBeGreaterThan(2);
          expect(failures.after).toBeGreaterThan(2);
        }
      },
    ));
});

concurrent('a chunk stored twice', () => {
  it('counts once in all resolutions, in drivers_1m and in exemplars', () =>
    withRig({ stack, name: 'twice' }, async (rig) => {
      const startMs = Math.floor(Date.now() / 86_400_000) * 86_400_000;
      const events = Array.from({ length: 90 }, (_, n) => ({
        ts: startMs + (n % 3) * 10_000,
        model: 'm',
        host: `h${n % 2}`,
        id: `req-${n}`,
        total_ms: n + 1,
        stages_ms: { forward: n + 0.5 },
      }));
      await rig.publish(events.map((event) => ({ value: JSON.stringify(event) })));
      const twice = (store: ChunkStore): ChunkStore => ({
        insert: async (chunk) => {
          await store.insert(chunk);
          await store.insert(chunk);
        },
        record: async (entry, attempt) => {
          await store.record(entry, attempt);
          await store.record(entry, attempt);
        },
        ...lookUps(store),
      });
      const ingester = await startIngester(rig, { wrapStore: twice });
      rig.atEnd(() => ingester.drain());
      await rig.untilConsumed(events.length);
      await ingester.drain();

      await rig.expectStages(truthOf(events));
      const drivers = await rig.rows<{ value: string; requests: string; banded: number }>(
        `SELECT value, sum(requests) AS requests, arraySum(mapValues(sumMap(bands))) AS banded
         FROM drivers_1m WHERE facet = 'host' GROUP BY value ORDER BY value`,
      );
      expect(
        drivers.map(({ value, requests, banded }) => [value, Number(requests), banded]),
      ).toEqual([
        ['h0', 45, 45],
        ['h1', 45, 45],
      ]);
      const chunks = await rig.rows('SELECT * FROM flushes');
      const exemplars = await rig.rows<{ request_id: string; total_ms: number }>(
        'SELECT request_id, total_ms FROM exemplars ORDER BY total_ms DESC',
      );
      // The three slowest of each of the three windows, in their own chunk or not.
      expect(chunks).toHaveLength(1);
      expect(exemplars).toEqual(
        Array.from({ length: 9 }, (_, n) => ({ request_id: `req-${89 - n}`, total_ms: 90 - n })),
      );
    }));
});

concurrent('an intent left behind', () => {
  /** Point in its first chunk at which the process dies. */
  const deaths = {
    'before its rows were inserted': { rows: 0, ledger: 0 },
    'after its rows were inserted': { rows: 1, ledger: 0 },
    'after its ledger row was written': { rows: 1, ledger: 1 },
  } as const;

  it.each(Object.entries(deaths))('%s is taken over exactly', (_name, reached) =>
    withRig(
      { stack, name: 'intent', settings: { INGEST_FLUSH_MAX_EVENTS: '700' } },
      async (rig) => {
        const { messages, events, truth } = benchMessages('intent', 3_000, 10);
        await rig.publish(spread(messages, 1));
        const startedChunks: Chunk[] = [];
        const never = () => new Promise<never>(() => undefined);
        const dying = await startIngester(rig, {
          sealsOnlyFull: true,
          wrapStore: (store): ChunkStore => ({
            insert: async (chunk) => {
              if (reached.rows === 1) await store.insert(chunk);
              startedChunks.push(chunk);
              if (reached.ledger === 0) await never();
            },
            record: async (chunk, attempt) => {
              await store.record(chunk, attempt);
              await never();
            },
            ...lookUps(store),
          }),
        });
        await poll('the chunk is pending', async () =>
          startedChunks.length === 1 && (await rig.consumed()) === reached.ledger * 700
            ? true
            : undefined,
        );
        await dying.abandon();
        expect(await pendingIntents(rig)).toBe(1);
        const stored = await stageSums(rig.client, '10s');
        expect(stored.total?.requests ?? 0).toBe(reached.rows * 700);

        // By its own settings the successor would seal elsewhere, and much later.
        const successor = await rig.start(['ingest'], {
          ...rig.config,
          ingest: { ...rig.config.ingest, flush_max_events: 5_000, flush_interval: 60_000 },
        });
        await rig.untilConsumed(700);
        await poll('the intent is done with', async () =>
          (await pendingIntents(rig)) === 0 ? true : undefined,
        );
        await successor.stop();
        // It has stored the records that it had read of the rest, which may be a part.
        await rig.start(['ingest']);
        await rig.untilConsumed(events);
        await rig.expectStages(truth);
        const [first] = await rig.rows<{ start_offset: string; end_offset: string }>(
          'SELECT start_offset, end_offset FROM flushes ORDER BY start_offset LIMIT 1',
        );
        expect([Number(first?.start_offset), Number(first?.end_offset)]).toEqual([0, 70]);
      },
    ),
  );
});

concurrent('two groups', () => {
  it('read one topic concurrently into two databases, each exactly once', () =>
    withRig({ stack, name: 'group_a', partitions: 2 }, (a) =>
      withRig({ stack, name: 'group_b', settings: { KAFKA_TOPICS: a.topic } }, async (b) => {
        const { messages, events, truth } = benchMessages('groups', 6_000, 10);
        await Promise.all([a.start(['ingest']), b.start(['ingest'])]);
        await a.publish(spread(messages, 2));
        await Promise.all([a.untilConsumed(events), b.untilConsumed(events)]);
        await a.expectStages(truth);
        await b.expectStages(truth);
      }),
    ));
});
