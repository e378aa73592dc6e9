import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@clickhouse/client';
import { measureNames } from '../src/base/dimensions.ts';
import { configSchema } from '../src/config/schema.ts';
import { openKafkaPublisher } from '../src/kafka/client/kafka-publisher.ts';
import { ensureTopics } from '../src/kafka/client/kafka-topics.ts';
import { startLocalStack } from '../src/local/stack/local-stack.ts';
import { cpuSecondsOf, peakBytesOf } from './peers/process-usage.ts';
import { tailmark } from './peers/tailmark.ts';
import { eachOtlpRequest } from './traffic/otlp-requests.ts';

/**
 * Spans of vLLM from a topic on the real Kafka to tails in the real ClickHouse: requests a CPU second, of
 * tailmark's process and of both processes. Counts are held against the input before a number counts.
 *
 *     npm run bench -- otlp-pipeline [--spans N] [--rounds N] [--per 200,20]
 */
const { values } = parseArgs({
  options: {
    spans: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    per: { type: 'string', default: '200,20' },
  },
});
process.env.TAILMARK_BENCH_FORMAT = 'otlp_proto';
const spans = Number(values.spans);
const warmSpans = Math.min(spans, 200_000);
const rangeNs = 600_000_000_000n;
const startNs = BigInt(Math.floor(Date.now() / 60_000 - 12) * 60_000) * 1_000_000n;
const say = (text: string) => process.stdout.write(`${text}\n`);

const dir = mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir, fresh: true });
const kafka = configSchema.parse({ kafka: { brokers: stack.kafka.brokers } }).kafka;
try {
  for (const spansPerMessage of values.per.split(',').map(Number)) {
    const [warm, main] = [`warm-${spansPerMessage}`, `main-${spansPerMessage}`];
    await fill(warm, warmSpans, spansPerMessage);
    const bytes = await fill(main, spans, spansPerMessage);
    say(
      `${spans} spans of vLLM, ${spansPerMessage} a message, ${Math.round(bytes / spans)} bytes each`,
    );
    const peer = await tailmark.start(stack);
    const server = stack.clickhouse.pid;
    try {
      await ingest(warm, warmSpans, `warm_${spansPerMessage}`);
      for (let round = 1; round <= Number(values.rounds); round++) {
        const own = () => cpuSecondsOf(peer.pid as number);
        const before = [own(), cpuSecondsOf(server)] as const;
        const startedMs = performance.now();
        await ingest(main, spans, `main_${spansPerMessage}_${round}`);
        const seconds = (performance.now() - startedMs) / 1000;
        const ownSeconds = own() - before[0];
        const allSeconds = ownSeconds + cpuSecondsOf(server) - before[1];
        const k = (perSecond: number) => `${Math.round(spans / perSecond / 1000)} k`;
        say(
          `  round ${round}: ${k(ownSeconds)} requests a CPU second of tailmark, ${k(allSeconds)} with ClickHouse, ${k(seconds)} a second`,
        );
      }
      say(`  peak ${Math.round(peakBytesOf(peer.pid as number) / 2 ** 20)} MiB`);
    } finally {
      await peer.stop();
    }

    async function ingest(topic: string, count: number, database: string): Promise<void> {
      const client = createClient({ url: stack.clickhouse.url });
      await client.command({ query: `CREATE DATABASE ${database}` });
      const task = { topic, group: database, database, events: count };
      await peer.prepare?.(task);
      await peer.ingest(task);
      const answer = await client.query({
        query: `SELECT stage, sum(requests) AS n FROM ${database}.latency_10s
          WHERE stage NOT IN ('${measureNames.join("', '")}') GROUP BY stage ORDER BY stage`,
        format: 'JSONEachRow',
      });
      const found = (await answer.json<{ stage: string; n: string }>()).map(
        ({ stage, n }) => `${stage} ${n}`,
      );
      // Times per token are of requests with enough of them.
      const stages = ['decode', 'first_token', 'prefill', 'queue', 'total'];
      const due = stages.map((stage) => `${stage} ${count}`);
      if (found.join() !== due.join()) throw new Error(`stored ${found.join()}, not ${due.join()}`);
      await client.command({ query: `DROP DATABASE ${database} SYNC` });
      await client.close();
    }
  }
} finally {
  await stack.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** Fills a topic; returns the bytes. */
async function fill(topic: string, count: number, spansPerMessage: number): Promise<number> {
  await ensureTopics(kafka, [{ topic }]);
  const publisher = await openKafkaPublisher(kafka);
  const stepNs = rangeNs / BigInt(count);
  const traffic = { kind: 'vllm', spansPerMessage, startNs, stepNs } as const;
  let all = 0;
  let batch: { value: Buffer }[] = [];
  let bytes = 0;
  for (const value of eachOtlpRequest(1, count, traffic)) {
    batch.push({ value });
    bytes += value.length;
    if (bytes < 700_000) continue;
    await publisher.publish(topic, batch);
    all += bytes;
    batch = [];
    bytes = 0;
  }
  await publisher.publish(topic, batch);
  await publisher.close();
  return all + bytes;
}
