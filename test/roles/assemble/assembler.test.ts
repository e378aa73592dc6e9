// Covers src/roles/assemble/assembly-start.ts and src/roles/assemble/partition-assembly.ts.

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { traceReader } from '../../../src/assemble/event/span-formats.ts';
import { childrenRules } from '../../../src/assemble/event/trace-rules.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { assembleTopics } from '../../../src/roles/assemble/assemble-topics.ts';
import { Assembler } from '../../../src/roles/assemble/assembler.ts';
import { EventCheck } from '../../../src/roles/assemble/event-check.ts';
import { PartitionAssembly } from '../../../src/roles/assemble/partition-assembly.ts';
import { settingsOf } from '../../../src/roles/assemble/topic-rules.ts';
import { RecordList } from '../../../src/source/record.ts';
import { type Claim, emptyPartition } from '../../../src/source/source.ts';

const config = configSchema.parse({});

it('a topic of spans that is rejected is said in the log and by its metrics, with the reason', async () => {
  const said: object[] = [];
  const metrics = createMetrics();
  let tick: () => void = () => undefined;
  const note = (fields: object) => said.push(fields);
  const settings = settingsOf(config.assemble);
  const claim: Claim = {
    ...{ topic: 'spans', partition: 0, isLost: false },
    commit: async () => undefined,
  };
  const assembler = new Assembler({
    ...{ settings, startFrom: 'earliest', commitIntervalMs: 0, metrics },
    clock: {
      ...{ nowMs: () => 0, elapsedMs: () => 0 },
      sleep: async () => undefined,
      yieldToEventLoop: turn,
      every: (_ms, action) => {
        tick = action;
        return () => undefined;
      },
    },
    log: { info: () => undefined, warn: note, error: note } as never,
    openOutput: async () => ({ publish: async () => undefined, close: async () => undefined }),
    committed: async () => ({ offset: undefined, metadata: '' }),
    endOffset: async () => 30,
    assembly: (_claim, logId, restart) =>
      new PartitionAssembly({
        ...{ topic: 'spans', partition: 0, logId, output: 'timing', restart, settings },
        rules: childrenRules,
        read: traceReader('otlp_json', childrenRules),
        ...{ format: 'otlp_json', check: new EventCheck(config), maxMessageBytes: 1e6 },
      }),
  });
  await assembler.onClaimed(claim, { ...emptyPartition, endOffset: 30 });
  const records = Array.from({ length: 30 }, (_, offset) => ({
    ...{ offset, timestampMs: 1_790_000_000_000, value: Buffer.from([0x0a, 200, 1]) },
  }));
  const range = { topic: 'spans', partition: 0, fetchOffset: 0, nextOffset: 30, highWatermark: 30 };
  await assembler.onBatch(
    claim,
    { ...range, records: new RecordList(records) },
    async () => undefined,
  );
  expect(said).toMatchObject([{ topic: 'spans', rejected: 30, of: 30, reason: 'invalid_json' }]);
  assembler.start();
  tick();
  const shown = async (name: string) =>
    (await metrics.registry.getSingleMetricAsString(`tailmark_assemble_${name}`))
      .split('\n')
      .slice(2)
      // Each reason is there from the start, as alerts compare them.
      .filter((line) => !/,reason="(?!invalid_json).*} 0$/.test(line));
  expect(await shown('rejected_total')).toEqual([
    'tailmark_assemble_rejected_total{topic="spans",reason="invalid_json"} 30',
  ]);
  for (const [name, value] of [
    ...([
      ['spans_total', 0],
      ['events_total', 0],
      ['duplicate_spans_total', 0],
    ] as const),
    ...([
      ['transactions_total', 1],
      ['transaction_failures_total', 0],
    ] as const),
    ...([
      ['open_traces', 0],
      ['open_bytes', 0],
    ] as const),
  ]) {
    expect(await shown(name)).toEqual([`tailmark_assemble_${name}{topic="spans"} ${value}`]);
  }
});

describe('the output of assembled traces', () => {
  const outputOf = (...topics: readonly unknown[]) =>
    assembleTopics(
      configSchema.parse({
        kafka: { topics },
        assemble: { topics: [{ topic: 'spans', format: 'otlp_proto' }] },
      }),
    ).output;

  it('is by default the first topic of timing events', () => {
    expect(outputOf({ topic: 'gateway', format: 'json', preset: 'nginx' }, 'timings')).toBe(
      'timings',
    );
  });

  it('must be set where there is none, and be none of the topics of spans', () => {
    expect(() => outputOf({ topic: 'gateway', format: 'json', preset: 'nginx' })).toThrow(
      'assemble.output must be set, as no topic of kafka.topics holds timing events',
    );
    expect(() => outputOf('spans')).toThrow('assemble.output must be none of assemble.topics');
  });
});
