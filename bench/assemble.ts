import { childrenRules } from '../src/assemble/event/trace-rules.ts';
import { traceReader } from '../src/assemble/span-formats.ts';
import { freshStart } from '../src/assemble/trace-assembler.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { EventCheck } from '../src/roles/assemble/event-check.ts';
import { PartitionAssembly } from '../src/roles/assemble/partition-assembly.ts';
import { settingsOf } from '../src/roles/assemble/topic-rules.ts';
import { RecordList, type SourceRecord } from '../src/source/record.ts';
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
const RECORDS_PER_BATCH = 2_000;

const { config } = loadConfig({ env: {}, readFile: () => '' });
const settings = settingsOf(config.assemble);
const messages = spanMessages();

function batches(): SourceRecord[][] {
  const all: SourceRecord[][] = [];
  let offset = 0;
  let batch: SourceRecord[] = [];
  for (let n = 0; n < requests; n++) {
    const timestampMs = 1_795_608_000_000 + Math.floor((n * 1_000) / PER_SECOND);
    for (const value of messages(n)) {
      batch.push({ offset: offset++, timestampMs, value });
      if (batch.length < RECORDS_PER_BATCH) continue;
      all.push(batch);
      batch = [];
    }
  }
  all.push(batch);
  return all;
}

function run(all: readonly SourceRecord[][]): { perSecond: number; events: number } {
  const assembly = new PartitionAssembly({
    ...{ topic: 'spans', partition: 0, logId: 'c/t', settings, rules: childrenRules },
    restart: freshStart(0, settings),
    read: traceReader('otlp_proto', childrenRules),
    unreadable: 'invalid_protobuf',
    check: new EventCheck(config),
    maxMessageBytes: config.limits.max_message_bytes,
  });
  const startedUs = process.cpuUsage();
  let events = 0;
  for (const records of all) {
    const nextOffset = (records.at(-1)?.offset ?? 0) + 1;
    const batch = {
      ...{ topic: 'spans', partition: 0, fetchOffset: records[0]?.offset ?? 0 },
      ...{ records: new RecordList(records), nextOffset, highWatermark: nextOffset },
    };
    while (assembly.take(batch, 500));
    if (assembly.hasProgress) events += assembly.publication().counts.events;
  }
  assembly.tick();
  events += assembly.publication().counts.events;
  const { user, system } = process.cpuUsage(startedUs);
  return { perSecond: (requests / (user + system)) * 1e6, events };
}

const all = batches();
const rates: number[] = [];
for (let i = 0; i < runs; i++) {
  const { perSecond, events } = run(all);
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
