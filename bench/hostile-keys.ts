import { createLog } from '../src/base/telemetry/log.ts';
import { createMetrics } from '../src/base/telemetry/metrics.ts';
import { configSchema } from '../src/config/schema.ts';
import { Ingester } from '../src/ingest/ingester.ts';
import type { Chunk } from '../src/sink/chunks/chunk.ts';
import type { ChunkStore } from '../src/sink/chunks/chunk-store.ts';
import { RecordList, type SourceRecord } from '../src/source/record.ts';
import {
  type Claim,
  emptyPartition,
  type Source,
  type SourceHandler,
} from '../src/source/source.ts';

/**
 * What a producer does to an ingest process that gives every event a model and a host of its own:
 * peak memory, and whether every event is counted. In several ways: the total alone, all stages,
 * every event in another window, and many such events in one message.
 *
 *     npm run bench -- hostile-keys [--events N] [--partitions N]
 */
const argument = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const eventCount = argument('events', 1_000_000);
const partitionCount = argument('partitions', 8);
const MOST_RSS_BYTES = 512 * 1024 * 1024;
const nowMs = Date.now();
const say = (text: string) => process.stdout.write(`${text}\n`);
const kib = 1024;

type EventOf = (n: number) => string;
const stages = ['queue', 'parse', 'features', 'preprocess', 'forward', 'postprocess'];
const key = (n: number) => `"model":"model-${n}","host":"host-${n}.rack-17.eu-west-1.internal"`;
const wayMs = (n: number, windows: number) => nowMs - 60_000 - (n % windows) * 10_000;

const ways: readonly (readonly [string, number, EventOf])[] = [
  ['total only', 1, (n) => `{"ts":${wayMs(n, 3)},${key(n)},"total_ms":${(n % 997) + 1}}`],
  [
    'seven stages',
    1,
    (n) =>
      `{"ts":${wayMs(n, 3)},${key(n)},"stages_ms":{${stages
        .map((stage, i) => `"${stage}":${((n * (i + 3)) % 997) + 0.5}`)
        .join(',')}}}`,
  ],
  [
    'a window each',
    1,
    (n) => `{"ts":${nowMs - 86_000_000 + (n % 8_500) * 10_000},${key(n)},"total_ms":1}`,
  ],
  [
    '10,000 a message',
    10_000,
    (n) => `{"ts":${wayMs(n, 3)},${key(n)},"total_ms":${(n % 997) + 1}}`,
  ],
];

let failed = false;
let peakBytes = 0;

async function flood(name: string, perMessage: number, eventOf: EventOf): Promise<void> {
  const totals = { consumed: 0, counted: 0, overflow: 0, rejected: 0, chunks: 0 };
  const source = new FloodSource(perMessage, eventOf);
  const ingester = new Ingester({
    config: configSchema.parse({}),
    source,
    store: storeOf((chunk) => {
      totals.consumed += chunk.consumed;
      totals.counted += chunk.aggregated + chunk.overflow;
      totals.overflow += chunk.overflow;
      totals.rejected += chunk.rejected + chunk.late;
      totals.chunks++;
    }),
    publisher: undefined,
    log: createLog({ level: 'warn' }),
    metrics: createMetrics(),
  });
  const startedMs = performance.now();
  peakBytes = 0;
  await ingester.start();
  await Promise.race([source.done, ingester.failed]);
  await ingester.drain();
  const seconds = (performance.now() - startedMs) / 1000;
  const isExact = totals.consumed === eventCount && totals.counted === eventCount;
  failed ||= !isExact;
  say(
    `${name}: ${totals.overflow} in __other__, ${totals.rejected} rejected, ` +
      `${totals.chunks} chunks, peak ${Math.round(peakBytes / kib / kib)} MiB, ` +
      `${Math.round(eventCount / seconds / 1000)} k events/s, ${isExact ? 'exact' : 'NOT EXACT'}`,
  );
}

/** Hands out the events, batch by batch, to one partition after another. */
class FloodSource implements Source {
  readonly groupId = 'flood';
  readonly #perMessage: number;
  readonly #eventOf: EventOf;
  readonly #claims: Claim[] = Array.from({ length: partitionCount }, (_, partition) => ({
    topic: 't',
    partition,
    isLost: false,
    commit: async () => undefined,
  }));
  readonly #offsets = new Array<number>(partitionCount).fill(0);
  #sent = 0;
  done: Promise<void> = Promise.resolve();

  constructor(perMessage: number, eventOf: EventOf) {
    this.#perMessage = perMessage;
    this.#eventOf = eventOf;
  }

  async start(handler: SourceHandler): Promise<void> {
    for (const claim of this.#claims) {
      await handler.onClaimed(claim, emptyPartition);
    }
    this.done = this.#run(handler);
  }

  quiesce(): void {}
  async stop(): Promise<void> {}

  async #run(handler: SourceHandler): Promise<void> {
    for (let turn = 0; this.#sent < eventCount; turn++) {
      const partition = turn % partitionCount;
      const records = this.#records(this.#offsets[partition] as number);
      const fetchOffset = this.#offsets[partition] as number;
      const nextOffset = fetchOffset + records.length;
      this.#offsets[partition] = nextOffset;
      const batch = {
        topic: 't',
        partition,
        fetchOffset,
        nextOffset,
        records: new RecordList(records),
      };
      const claim = this.#claims[partition] as Claim;
      await handler.onBatch(claim, { ...batch, highWatermark: nextOffset }, async () => undefined);
      notePeak();
    }
  }

  #records(from: number): SourceRecord[] {
    const records: SourceRecord[] = [];
    const count = this.#perMessage > 1 ? 2 : 500;
    for (let offset = from; offset < from + count && this.#sent < eventCount; offset++) {
      const lines: string[] = [];
      while (lines.length < this.#perMessage && this.#sent < eventCount) {
        lines.push(this.#eventOf(this.#sent++));
      }
      records.push({ offset, timestampMs: nowMs, value: Buffer.from(lines.join('\n')) });
    }
    return records;
  }
}

function storeOf(onChunk: (chunk: Chunk) => void): ChunkStore {
  return {
    insert: async (chunk) => onChunk(chunk),
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
}

function notePeak(): void {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}

const timer = setInterval(notePeak, 10);
say(
  `${eventCount} events, each of a model and a host of its own, over ${partitionCount} partitions`,
);
for (const [name, perMessage, eventOf] of ways) await flood(name, perMessage, eventOf);
clearInterval(timer);
say(`peak RSS over all: ${Math.round(process.resourceUsage().maxRSS / kib)} MiB`);
if (process.resourceUsage().maxRSS * kib > MOST_RSS_BYTES) failed = true;
if (failed) {
  say('FAILED: a count differs, or memory is above 512 MiB');
  process.exitCode = 1;
}
