import { traceReader } from '../src/assemble/event/span-formats.ts';
import { childrenRules } from '../src/assemble/event/trace-rules.ts';
import { freshStart } from '../src/assemble/trace-assembler.ts';
import { loadConfig } from '../src/config/load/load-config.ts';
import { EventCheck } from '../src/roles/assemble/event-check.ts';
import { PartitionAssembly } from '../src/roles/assemble/partition-assembly.ts';
import { settingsOf } from '../src/roles/assemble/topic-rules.ts';
import { type RecordBatch, RecordList, type SourceRecord } from '../src/source/record.ts';
import { spanMessages } from './traffic/span-messages.ts';

// How many requests of 9 spans a CPU-second becomes timing events: spans in OTLP protobuf as the collector
// writes them, a record a trace and service, to the messages of the timing topic. Without Kafka's clients.
//
//     npm run bench -- assemble [--requests 100000] [--runs 5]

const option = (name: string, byDefault: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? byDefault : Number(process.argv[at + 1]);
};
const requests = option('requests', 100_000);
const runs = option('runs', 5);
/** Requests of a second of the log. */
const PER_SECOND = 2_000;
const REQUESTS_PER_BATCH = 500;

const { config } = loadConfig({ env: {}, readFile: () => '' });
const settings = settingsOf(config.assemble);
const messages = spanMessages();

/** Batches as of a fetch: the messages of one lie in one piece of memory, which nothing keeps. */
function* batches(): Generator<RecordBatch> {
  let offset = 0;
  for (let first = 0; first < requests; first += REQUESTS_PER_BATCH) {
    const values: { readonly value: Buffer; readonly timestampMs: number }[] = [];
    for (let n = first; n < Math.min(first + REQUESTS_PER_BATCH, requests); n++) {
      const timestampMs = 1_795_608_000_000 + Math.floor((n * 1_000) / PER_SECOND);
      for (const value of messages(n)) values.push({ value, timestampMs });
    }
    const fetched = Buffer.concat(values.map(({ value }) => value));
    const fetchOffset = offset;
    let at = 0;
    const records = values.map(({ value, timestampMs }): SourceRecord => {
      const start = at;
      at += value.length;
      return { offset: offset++, timestampMs, value: fetched.subarray(start, at) };
    });
    yield {
      ...{ topic: 'spans', partition: 0, fetchOffset, records: new RecordList(records) },
      ...{ nextOffset: offset, highWatermark: offset },
    };
  }
}

function run(): { perSecond: number; events: number } {
  const assembly = new PartitionAssembly({
    ...{ topic: 'spans', partition: 0, logId: 'c/t', output: 'timing' },
    ...{ settings, rules: childrenRules },
    restart: freshStart(0, settings),
    read: traceReader('otlp_proto', childrenRules),
    format: 'otlp_proto',
    check: new EventCheck(config),
    maxMessageBytes: config.limits.max_message_bytes,
  });
  let [spentUs, events] = [0, 0];
  const timed = (work: () => void) => {
    const startedUs = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(startedUs);
    spentUs += user + system;
  };
  const publish = () => {
    events += assembly.publication().counts.events;
  };
  for (const batch of batches()) {
    timed(() => {
      while (assembly.take(batch, 500));
      if (assembly.hasProgress) publish();
    });
  }
  timed(() => {
    assembly.tick();
    publish();
  });
  return { perSecond: (requests / spentUs) * 1e6, events };
}

const rates: number[] = [];
for (let i = 0; i < runs; i++) {
  const { perSecond, events } = run();
  if (events !== requests) throw new Error(`${events} events of ${requests} requests`);
  rates.push(perSecond);
}
rates.sort((a, b) => a - b);
const shown = (rate = Number.NaN) => `${Math.round(rate / 1_000)} k`;
process.stdout.write(
  `assemble, OTLP protobuf, requests of 9 spans: ${shown(rates[runs >> 1])} requests a CPU-second ` +
    `(${shown(rates[0])} to ${shown(rates.at(-1))} of ${runs} runs of ${requests})\n` +
    `memory: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB\n`,
);
