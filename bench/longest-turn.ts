import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createLog } from '../src/base/telemetry/log.ts';
import { createMetrics } from '../src/base/telemetry/metrics.ts';
import { type Config, configSchema } from '../src/config/schema.ts';
import { Ingester } from '../src/ingest/ingester.ts';
import type { ChunkStore } from '../src/sink/chunks/chunk-store.ts';
import { RecordList } from '../src/source/record.ts';
import {
  type Claim,
  emptyPartition,
  type Source,
  type SourceHandler,
} from '../src/source/source.ts';
import { benchEvents } from './traffic/bench-events.ts';

/**
 * How long the event loop is kept from its turn while an ingest process works on one batch: no
 * heartbeat leaves, no probe is answered, no signal is heard meanwhile. The longest turn of each kind
 * of batch, decoding and sealing together; above 2 s it fails.
 *
 *     npm run bench -- longest-turn
 */
const MOST_MS = 2_000;
const mib = 1024 * 1024;
const nowMs = Date.now();
const say = (text: string) => process.stdout.write(`${text}\n`);

const stages = ['ingress', 'queue', 'parse', 'features', 'preprocess', 'forward', 'postprocess'];
const stagesOf = (n: number) =>
  stages.map((stage, i) => `"${stage}":${((n * (i + 3)) % 997) + 0.5}`).join(',');
const ownSeries = (n: number) =>
  `{"ts":${nowMs - 60_000},"model":"model-${n}","host":"host-${n}","stages_ms":{${stagesOf(n)}}}`;
const ownWindow = (n: number) =>
  `{"ts":${nowMs - 86_000_000 + (n % 8_000) * 10_000},"model":"m${n % 7}","stages_ms":{${stagesOf(n)}}}`;

/** Lines up to so many bytes. */
function lines(bytes: number, lineOf: (n: number) => string): string[] {
  const found: string[] = [];
  for (let n = 0, size = 0; size < bytes; n++) {
    const line = lineOf(n);
    size += line.length + 1;
    if (size < bytes) found.push(line);
  }
  return found;
}
const message = (all: readonly string[]) => Buffer.from(all.join('\n'));
const ordinary = (bytes: number) => {
  const count = Math.floor(bytes / 280);
  const [value] = [
    ...benchEvents({ seed: 1, count, eventsPerMessage: count, startMs: nowMs - 9e5 }),
  ];
  return value ?? Buffer.alloc(0);
};
const long = 16 * mib - 1;
const repeated = (value: Buffer, count: number) => new Array<Buffer>(count).fill(value);

const kinds: readonly (readonly [string, () => Buffer[], Partial<Config['ingest']>])[] = [
  ['one message of 16 MiB, NDJSON', () => [ordinary(long)], {}],
  [
    'one message of 16 MiB, a JSON array',
    () => [
      Buffer.from(
        `[${ordinary(long - 9)
          .toString()
          .replaceAll('\n', ',')}]`,
      ),
    ],
    {},
  ],
  ['one message of 16 MiB, a series each event', () => [message(lines(long, ownSeries))], {}],
  ['one message of 16 MiB, a window each event', () => [message(lines(long, ownWindow))], {}],
  ['one message of 16 MiB of garbage lines', () => [Buffer.alloc(long, 'x\n')], {}],
  [
    'one message of 16 MiB, one string',
    () => [Buffer.from(`{"id":"${'y'.repeat(long - 9)}"}`)],
    {},
  ],
  ['one message of 16 MiB of brackets', () => [Buffer.alloc(long, '[')], {}],
  ['1,000 messages of 4 KiB', () => repeated(ordinary(4_096), 1_000), {}],
  ['1,000 messages of 64 KiB', () => repeated(ordinary(65_536), 1_000), {}],
  ['64 partitions of 1,000 messages of 1 KiB', () => repeated(ordinary(1_024), 64_000), {}],
  [
    'chunks of 50,000 rows and more, a message of 4 KiB each',
    () =>
      Array.from({ length: 5_000 }, (_, n) => message(lines(4_096, (k) => ownSeries(n * 16 + k)))),
    {},
  ],
  [
    'chunks of 1,000,000 rows (the most that can be set)',
    () => lines(20 * mib, ownWindow).map((line) => Buffer.from(line)),
    { flush_max_rows: 1_000_000 },
  ],
];

class OneBatch implements Source {
  readonly groupId = 'bench';
  readonly done = new Promise<void>(() => undefined);
  readonly #values: readonly Buffer[];
  readonly #partitions: number;
  finished: Promise<unknown> = Promise.resolve();

  constructor(values: readonly Buffer[], partitions: number) {
    this.#values = values;
    this.#partitions = partitions;
  }

  async start(handler: SourceHandler): Promise<void> {
    const each = Math.ceil(this.#values.length / this.#partitions);
    const batches = [];
    for (let partition = 0; partition < this.#partitions; partition++) {
      const claim: Claim = { topic: 't', partition, isLost: false, commit: async () => undefined };
      await handler.onClaimed(claim, emptyPartition);
      const values = this.#values.slice(partition * each, (partition + 1) * each);
      const records = values.map((value, offset) => ({ offset, timestampMs: nowMs, value }));
      const end = records.length;
      const range = { topic: 't', partition, fetchOffset: 0, nextOffset: end };
      const batch = { ...range, records: new RecordList(records) };
      batches.push({ claim, batch: { ...batch, highWatermark: end } });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.finished = Promise.all(
      batches.map(({ claim, batch }) => handler.onBatch(claim, batch, async () => undefined)),
    );
  }

  quiesce(): void {}
  async stop(): Promise<void> {}
}

const store: ChunkStore = {
  insert: async () => undefined,
  missing: async () => ({ parts: [], isNowhere: false }),
  fill: async () => undefined,
  record: async () => undefined,
  inspect: async () => ({
    isRecorded: true,
    isLanded: false,
    landedSamples: 0,
    isRemembered: true,
  }),
  ledgerEnds: async () => [],
  groupBeginMs: async () => undefined,
};

let failed = false;
for (const [name, valuesOf, ingest] of kinds) {
  const values = valuesOf();
  const defaults = configSchema.parse({});
  const source = new OneBatch(values, name.startsWith('64 partitions') ? 64 : 1);
  const ingester = new Ingester({
    config: { ...defaults, ingest: { ...defaults.ingest, ...ingest } },
    source,
    store,
    publisher: undefined,
    log: createLog({ level: 'error' }),
    metrics: createMetrics(),
  });
  const turns = monitorEventLoopDelay({ resolution: 1 });
  const startedMs = performance.now();
  turns.enable();
  await ingester.start();
  await source.finished;
  await ingester.drain();
  await new Promise((resolve) => setTimeout(resolve, 5));
  turns.disable();
  const longestMs = turns.max / 1e6;
  const totalMs = performance.now() - startedMs;
  failed ||= longestMs > MOST_MS;
  say(`${name}: longest turn ${longestMs.toFixed(0)} ms, ${totalMs.toFixed(0)} ms in all`);
}
if (failed) {
  say(`FAILED: a turn took more than ${MOST_MS} ms`);
  process.exitCode = 1;
}
process.exit();
