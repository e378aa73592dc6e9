import { createClient } from '@clickhouse/client';
import { Kafka, logLevel } from 'kafkajs';
import { TDigest } from 'tdigest';
import { serveTasks } from './child-tasks.ts';

// What a team writes first: kafkajs, JSON.parse, npm tdigest by key, JSONEachRow. Batches rather
// than messages, a key once an event rather than once a stage, an insert a second.

interface Event {
  readonly ts: number;
  readonly model: string;
  readonly version?: string;
  readonly request_type?: string;
  readonly region?: string;
  readonly cold_start?: boolean;
  readonly total_ms: number;
  readonly stages_ms: Readonly<Record<string, number>>;
}

interface Tail {
  requests: number;
  sumMs: number;
  minMs: number;
  maxMs: number;
  readonly digest: TDigest;
}

interface Series {
  readonly event: Event;
  readonly windowStart: number;
  readonly tails: Map<string, Tail>;
}

const FLUSH_MS = 1_000;

await serveTasks(async ({ broker, url, topic, group, database, events }) => {
  const clickhouse = createClient({ url, database });
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.ERROR });
  const consumer = kafka.consumer({ groupId: group, maxBytesPerPartition: 4 * 1024 * 1024 });
  let series = new Map<string, Series>();
  let seen = 0;
  let flushedMs = performance.now();

  const add = (event: Event) => {
    const windowStart = Math.floor((event.ts + event.total_ms) / 10_000) * 10;
    const { model, version = '', request_type = '', region = '', cold_start = false } = event;
    const key = `${windowStart}|${model}|${version}|${request_type}|${region}|${cold_start}`;
    let found = series.get(key);
    if (found === undefined) {
      found = { event, windowStart, tails: new Map() };
      series.set(key, found);
    }
    for (const stage in event.stages_ms) put(found.tails, stage, event.stages_ms[stage] as number);
    put(found.tails, 'total', event.total_ms);
    seen++;
  };

  const flush = async () => {
    const rows = [...series.values()].flatMap(rowsOf);
    series = new Map();
    flushedMs = performance.now();
    if (rows.length > 0) {
      await clickhouse.insert({ table: 'tails', values: rows, format: 'JSONEachRow' });
    }
  };

  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        autoCommit: false,
        eachBatchAutoResolve: true,
        eachBatch: async ({ batch, heartbeat }) => {
          for (const { value } of batch.messages) {
            for (const line of (value as Buffer).toString().split('\n')) add(JSON.parse(line));
          }
          if (seen < events && performance.now() - flushedMs < FLUSH_MS) return heartbeat();
          await flush();
          const offset = String(Number(batch.lastOffset()) + 1);
          await consumer.commitOffsets([{ topic, partition: batch.partition, offset }]);
          if (seen >= events) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  await clickhouse.close();
});

function put(tails: Map<string, Tail>, stage: string, ms: number): void {
  let tail = tails.get(stage);
  if (tail === undefined) {
    tail = { requests: 0, sumMs: 0, minMs: ms, maxMs: ms, digest: new TDigest() };
    tails.set(stage, tail);
  }
  tail.requests++;
  tail.sumMs += ms;
  tail.minMs = Math.min(tail.minMs, ms);
  tail.maxMs = Math.max(tail.maxMs, ms);
  tail.digest.push(ms);
}

function rowsOf({ event, windowStart, tails }: Series) {
  const { model, version = '', request_type = '', region = '', cold_start = false } = event;
  return [...tails].map(([stage, { requests, sumMs, minMs, maxMs, digest }]) => {
    digest.compress();
    const centroids = digest.toArray();
    return {
      window_start: windowStart,
      ...{ model, version, request_type, region, cold_start, stage, requests },
      sum_ms: sumMs,
      min_ms: minMs,
      max_ms: maxMs,
      means: centroids.map(({ mean }) => mean),
      weights: centroids.map(({ n }) => n),
    };
  });
}
