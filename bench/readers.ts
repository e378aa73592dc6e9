import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createClient } from '@clickhouse/client';
import { hourMs, minuteMs, secondMs } from '../src/base/time.ts';
import { configSchema } from '../src/config/schema.ts';
import { startLocalStack } from '../src/local/stack/local-stack.ts';
import { migrate } from '../src/sink/migrate/migrate.ts';
import { type Asked, ask, nothing, statuses } from './dashboard/ask.ts';
import { type Fleet, fillWeeks, fleet, modelName } from './dashboard/fill-weeks.ts';
import { startTailmark } from './dashboard/tailmark-process.ts';

/**
 * 50 clients on 5,000 models, on real servers and the process that ships. Each of 49 asks the questions of
 * its model's page every five seconds, and the list of all models. The 50th has 36 questions of its own under
 * way at any time. In turn the others are alone, beside it, and after it has left. A client is an address.
 *
 * A range of five hours moves on with each minute, and then the answer about every model is another one. So
 * all phases begin at the same second of the minute, half of their length before it ends: each has as many
 * such moments.
 *
 *     npm run bench -- readers [--seconds 50] [--rounds 8]
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '8' },
    /** Keeps the data, for another run within the hour. @default a temporary directory */
    dir: { type: 'string' },
  },
});
const clients = 50;
const pollMs = 5_000;
const greedyAtOnce = 36;
const many: Fleet = {
  ...fleet,
  ...{ models: 5_000, versions: 1, regions: 1, requestsPerSecond: 1, days: 2, minuteHours: 1 },
};
const phases = ['alone', 'beside', 'after'] as const;
const phaseMs = Number(values.seconds) * secondMs;
/** Milliseconds of all rounds, by phase. */
const ofAllRounds = { alone: [] as number[], beside: [] as number[], after: [] as number[] };

const say = (text: string) => process.stdout.write(`${text}\n`);

const dir = values.dir ?? mkdtempSync(join(tmpdir(), 'tailmark-bench-'));
const stack = await startLocalStack({ dir });
const client = createClient({
  ...{ url: stack.clickhouse.url, database: 'tailmark', request_timeout: 600_000 },
});
try {
  await migrate(configSchema.parse({ clickhouse: { url: stack.clickhouse.url } }).clickhouse);
  if (await isEmpty()) await fillWeeks(client, Math.floor(Date.now() / hourMs) * hourMs, many);
  const tailmark = await startTailmark('serve', {
    TAILMARK_KAFKA_BROKERS: stack.kafka.brokers.join(','),
    TAILMARK_KAFKA_TOPICS: 'readers',
    TAILMARK_CLICKHOUSE_URL: stack.clickhouse.url,
    TAILMARK_CLICKHOUSE_DATABASE: 'tailmark',
  });
  try {
    await runRounds(tailmark.url);
    for (const phase of phases)
      say(`all others ${phase.padEnd(6)} ${delays(ofAllRounds[phase], ofAllRounds.alone)}`);
  } finally {
    await tailmark.stop();
  }
} finally {
  await client.close();
  await stack.stop();
  if (values.dir === undefined) rmSync(dir, { recursive: true, force: true });
}

async function isEmpty(): Promise<boolean> {
  const answer = await client.query({
    query: 'SELECT count() AS n FROM latency_1h',
    format: 'JSONEachRow',
  });
  return Number((await answer.json<{ n: string }>())[0]?.n ?? 0) === 0;
}

async function runRounds(url: string): Promise<void> {
  const over = new AbortController();
  let of = nothing();
  const views = Array.from({ length: clients - 1 }, (_, n) => view(url, n, over.signal, () => of));
  await sleep(4 * pollMs);
  for (let round = 1; round <= Number(values.rounds); round++) {
    let alone: number[] = [];
    for (const phase of phases) {
      await sleep(minuteMs - ((Date.now() + phaseMs / 2) % minuteMs));
      of = nothing();
      const asked = of;
      const leaving = new AbortController();
      const greedy = phase === 'beside' ? askMuch(url, round, leaving.signal) : undefined;
      await sleep(phaseMs);
      of = nothing();
      leaving.abort();
      ofAllRounds[phase].push(...asked.tookMs);
      if (phase === 'alone') alone = asked.tookMs;
      say(`${round} others ${phase.padEnd(6)} ${delays(asked.tookMs, alone)}, ${statuses(asked)}`);
      if (greedy !== undefined) say(`${round} greedy        ${statuses(await greedy)}`);
    }
  }
  over.abort();
  await Promise.all(views);
}

/** A tab that shows a model, and asks its questions at once. */
async function view(url: string, n: number, signal: AbortSignal, current: () => Asked) {
  const model = modelName(100 * n, many);
  const questions = [
    '/v1/models?from=-5h&limit=200',
    ...['tails', 'density', 'composition', 'requests'].map(
      (name) => `/v1/${name}?model=${model}&from=-5h`,
    ),
  ];
  const agent = new Agent({ keepAlive: true });
  await sleep((n * pollMs) / clients);
  while (!signal.aborted) {
    const begunMs = performance.now();
    const asked = current();
    await Promise.all(questions.map((question) => ask(url + question, n + 1, agent, asked)));
    await sleep(Math.max(0, pollMs - (performance.now() - begunMs)));
  }
  agent.destroy();
}

/** Lets the greedy client ask until it is to leave: in a thread of its own, as what it reads keeps one busy. */
async function askMuch(url: string, round: number, signal: AbortSignal): Promise<Asked> {
  const workerData = { url, address: clients, round, atOnce: greedyAtOnce };
  const worker = new Worker(new URL('./dashboard/greedy-reader.js', import.meta.url), {
    workerData,
  });
  signal.addEventListener('abort', () => worker.postMessage('leave'));
  const [byStatus] = (await once(worker, 'message')) as [Asked['byStatus']];
  return { ...nothing(), byStatus };
}

/** @param alone milliseconds that p95 is held against */
function delays(tookMs: readonly number[], alone: readonly number[]): string {
  const quantiles = [0.5, 0.95, 0.99].map(
    (q) => `p${100 * q} ${quantileOf(tookMs, q).toFixed(0)} ms`,
  );
  const ratio = quantileOf(tookMs, 0.95) / quantileOf(alone, 0.95);
  const largest = quantileOf(tookMs, 1).toFixed(0);
  return `${quantiles.join(', ')}, largest ${largest} ms; p95 ${ratio.toFixed(2)} × alone`;
}

function quantileOf(all: readonly number[], q: number): number {
  const sorted = all.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}
