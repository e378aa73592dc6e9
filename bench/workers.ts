import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { configSchema } from '../src/config/schema.ts';
import { chunkSettingsOf } from '../src/ingest/chunk/chunk-settings.ts';
import { emptyBegin, OpenChunk } from '../src/ingest/chunk/open-chunk.ts';
import { ChunkBlock } from '../src/sink/chunks/chunk-block.ts';
import { benchEvents } from './traffic/bench-events.ts';

/**
 * What another worker brings: threads that decode, count and seal chunks of their own, out of memory,
 * as beside a broker and ClickHouse on two cores there is no core left for a second one. One thread
 * and two take turns; events a second over all of them.
 *
 *     npm run bench -- workers
 */
const ROUNDS = 7;
/** Chunks that each thread makes in a round, and events of each. */
const CHUNKS = 12;
const EVENTS = 100_000;
const PER_MESSAGE = 100;
const NOW_MS = 1_789_000_600_000;

if (isMainThread) await compare();
else serve();

async function compare(): Promise<void> {
  const threads = [1, 2].map(() => new Worker(new URL(import.meta.url)));
  await Promise.all(threads.map(answer));
  const rates = new Map([
    [1, [] as number[]],
    [2, [] as number[]],
  ]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [count, found] of rates) {
      const beganMs = performance.now();
      const some = threads.slice(0, count);
      const ended = some.map(answer);
      for (const thread of some) thread.postMessage('go');
      await Promise.all(ended);
      found.push((count * CHUNKS * EVENTS) / (performance.now() - beganMs));
    }
  }
  for (const [count, found] of rates) {
    found.sort((a, b) => a - b);
    const spread = `${Math.round(found[0] ?? 0)} k–${Math.round(found.at(-1) ?? 0)} k`;
    process.stdout.write(
      `${count} worker(s): ${Math.round(median(found))} k (${spread}) events a second\n`,
    );
  }
  const ratio = median(rates.get(2) ?? []) / median(rates.get(1) ?? []);
  process.stdout.write(`two do ${ratio.toFixed(2)} times as many as one\n`);
  await Promise.all(threads.map((thread) => thread.terminate()));
}

function answer(thread: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    thread.once('message', () => resolve());
    thread.once('error', reject);
  });
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function serve(): void {
  const config = configSchema.parse({});
  const context = { config, groupId: 'bench', block: new ChunkBlock() };
  const chunk = new OpenChunk(context, chunkSettingsOf(config), 'bench', 0);
  const messages = [...benchEvents({ seed: 1, count: EVENTS, eventsPerMessage: PER_MESSAGE })];
  const work = () => {
    for (let n = 0; n < CHUNKS; n++) {
      chunk.begin(emptyBegin, NOW_MS);
      for (const [offset, value] of messages.entries())
        chunk.add({ offset, timestampMs: 0, value });
      const { chunk: sealed } = chunk.seal(NOW_MS);
      if (sealed.aggregated !== EVENTS) throw new Error(`${sealed.aggregated} events counted`);
    }
  };
  parentPort?.on('message', () => {
    work();
    parentPort?.postMessage('done');
  });
  work();
  parentPort?.postMessage('ready');
}
