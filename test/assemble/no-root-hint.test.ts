import { expect, it } from 'vitest';
import { type SpanFormat, traceReader } from '../../src/assemble/event/span-formats.ts';
import { childrenRules } from '../../src/assemble/event/trace-rules.ts';
import { freshStart } from '../../src/assemble/trace-assembler.ts';
import { configSchema } from '../../src/config/schema.ts';
import { EventCheck } from '../../src/roles/assemble/event-check.ts';
import { PartitionAssembly } from '../../src/roles/assemble/partition-assembly.ts';
import { RecordList } from '../../src/source/record.ts';
import { recordedMessages, settings } from './assemble-messages.ts';

const check = new EventCheck(configSchema.parse({}));

class KeylessRecords extends RecordList {
  key(): null {
    return null;
  }
}

/** Details of letters of traces that have no root, where records have no key. */
function detailsOf(file: string, format: SpanFormat): Set<string> {
  const assembly = new PartitionAssembly({
    ...{ topic: 'spans', partition: 0, logId: '', output: 'timing' },
    ...{ restart: freshStart(0, settings), settings },
    ...{ rules: childrenRules, read: traceReader(format, childrenRules), format, check },
    maxMessageBytes: 1e6,
  });
  const records = recordedMessages(`kafka/${file}`).map(({ value }, offset) => {
    return { offset, timestampMs: 1_795_608_000_000, value };
  });
  const end = records.length;
  const range = { fetchOffset: 0, nextOffset: end, highWatermark: end };
  const batch = { topic: 'spans', partition: 0, ...range, records: new KeylessRecords(records) };
  while (assembly.take(batch, 500));
  while (assembly.tickAfterMs !== undefined) assembly.tick();
  const letters = assembly.publication().letters.filter(({ reason }) => reason === 'no_root');
  return new Set(letters.map(({ detail }) => detail.slice(detail.indexOf(': ') + 2)));
}

const exporter =
  "set partition_traces_by_id: true in the collector's Kafka exporter, let another producer use the trace id as key, or give the topic one partition.";
const jaeger =
  "let their producer use the trace id as key, as the collector's Kafka exporter and Jaeger do.";

it.each([
  ['otlp_spans.jsonl', 'otlp_proto', exporter],
  ['otlp_spans_json.jsonl.gz', 'otlp_json', exporter],
  ['zipkin_spans_json.jsonl.gz', 'zipkin_json', exporter],
  // The exporter's setting is without effect for these, which it always keys.
  ['jaeger_spans.jsonl.gz', 'jaeger_proto', jaeger],
  ['jaeger_spans_json.jsonl.gz', 'jaeger_json', jaeger],
] as const)(
  'traces without a root in records without a key: %s says what to set',
  (file, format, advice) => {
    expect(detailsOf(file, format)).toEqual(new Set([advice]));
  },
);
