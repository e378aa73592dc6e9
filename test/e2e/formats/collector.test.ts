import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
import { ensureTopics } from '../../../src/kafka/client/kafka-topics.ts';
import { useStack } from '../../containers/stack.ts';
import { uniqueName } from '../../containers/unique-name.ts';
import { fixtureText } from '../../convert/conversion.ts';
import { protoOf } from '../../formats/otlp/oracle.ts';
import { poll } from '../kit/poll.ts';
import type { Rig } from '../kit/rig.ts';
import { type CountedEvent, truthOf } from '../kit/truth.ts';
import { withRig } from '../kit/with-rig.ts';
import { changed, llmSpans } from './llm-spans.ts';
import {
  collectorMissing,
  collectorPath,
  documentedFile,
  exportByGrpc,
  exportByHttp,
  lackingComponents,
  withCollector,
} from './otel-collector.ts';

const stack = useStack();
if (collectorPath === undefined) {
  process.stderr.write(`collector configurations of the docs are not run: ${collectorMissing}\n`);
}
beforeEach((context) => {
  if (collectorPath === undefined) context.skip(collectorMissing);
});

/** Skips a test whose configurations need what this collector was built without. */
function need(context: { skip(note: string): void }, names: readonly string[]): void {
  const lacking = lackingComponents(names);
  if (lacking.length > 0) context.skip(`${collectorPath} lacks ${lacking.join(', ')}`);
}

/** The fixtures are of one day, however long ago that is. */
const keepAll = Object.fromEntries(
  ['10S', '1M', '1H', '1D'].map((table) => [`CLICKHOUSE_RETENTION_LATENCY_${table}`, '3650d']),
);
const linesOf = (file: string) => fixtureText(file).trim().split('\n');
const draftsOf = (name: string) =>
  linesOf(`expected/${name}.ndjson`).map((line) => JSON.parse(line) as EventDraft & CountedEvent);

/** A file of tailmark on the page, with another topic. */
function tailmarkFile(name: string, topic: string, instead: string) {
  const text = documentedFile(name).replaceAll(topic, instead);
  return parse(text) as { kafka?: { topics: object[] }; assemble?: { topics: object[] } };
}

/** A rig that reads a topic as a page says. */
function withTopic(
  { file, topic }: { file: string; topic: string },
  use: (rig: Rig) => Promise<void>,
): Promise<void> {
  const name = uniqueName('collector');
  const { kafka } = tailmarkFile(file, topic, name);
  const settings = { ...keepAll, KAFKA_TOPICS: JSON.stringify(kafka?.topics) };
  return withRig({ stack, name: 'collector', settings }, use);
}

describe('the collector that the pages configure', () => {
  it('writes spans of LLM servers that are whole requests', async (context) => {
    need(context, ['collector.yaml']);
    await withTopic({ file: 'spans.yaml', topic: 'otlp_spans' }, async (rig) => {
      const { requests, events } = llmSpans(Date.now());
      const [vllm = ''] = requests;
      // More in one request than a message of Kafka holds: it is lost unless it is split.
      const burst = protoOf(changed(vllm, Array(3_000).fill({})));
      expect(burst.length).toBeGreaterThan(1_500_000);
      const replaced = { brokers: stack.brokers, texts: { otlp_spans: rig.topic } };
      await withCollector(['collector.yaml'], replaced, async ({ grpcPort }) => {
        for (const request of requests) await exportByGrpc(grpcPort, protoOf(request));
        await exportByGrpc(grpcPort, burst);
      });

      await rig.start(['ingest']);
      await rig.untilConsumed(3_050);
      const [first = {}] = events;
      await rig.expectStages(truthOf([...events, ...Array(3_000).fill(first)]));
    });
  });

  it('writes lines of access logs', async (context) => {
    need(context, ['access-log.yaml']);
    const folder = mkdtempSync(join(tmpdir(), 'tailmark-access-log-'));
    await withTopic({ file: 'gateway.yaml', topic: 'gateway.requests' }, async (rig) => {
      const path = join(folder, 'access.log');
      writeFileSync(path, '{"of":"before"}\n');
      const texts = { 'gateway.requests': rig.topic, '/var/log/envoy/access.log': path };
      const log = fixtureText('envoy/envoy-1.40-durations.json.log');
      const lines = log.trim().split('\n');
      await withCollector(
        ['access-log.yaml'],
        { brokers: stack.brokers, texts },
        async ({ logged }) => {
          await logged('Started watching file');
          writeFileSync(path, log, { flag: 'a' });
          await rig.read(rig.topic, lines.length);
        },
      );
      const messages = await rig.read(rig.topic, lines.length);
      expect(messages.map(({ value }) => JSON.parse(String(value)))).toEqual(
        lines.map((line) => JSON.parse(line)),
      );

      await rig.start(['ingest']);
      await rig.untilConsumed(49);
      const { totals } = await rig.expectVerified();
      expect(totals).toMatchObject({ consumed: 49, aggregated: 49, rejected: 0 });
    });
    rmSync(folder, { recursive: true });
  });
});

/** Runs role assemble on topics until it has written so many events; returns them. */
async function assembled(rig: Rig, topics: object[], count: number): Promise<EventDraft[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tailmark-assemble-'));
  const path = join(folder, 'tailmark.yaml');
  const times = { wait: '2s', late_memory: '4s', max_trace: '30s', commit_interval: '100ms' };
  writeFileSync(
    path,
    stringify({ assemble: { topics, group_id: `${rig.topic}-assemble`, ...times } }),
  );
  const child = rig.spawn(['run', '--roles', 'assemble', '--config', path]);
  const events: EventDraft[] = [];
  const seen = await rig.follow(rig.topic, ({ value }) => {
    for (const line of (value?.toString() ?? '').split('\n')) events.push(JSON.parse(line));
  });
  const enough = () => (events.length >= count ? true : undefined);
  await poll('the traces are assembled', enough, {
    deadlineMs: 120_000,
    seen: () => [events.length, child.err().slice(-2_000)],
  });
  child.signal('SIGTERM');
  await child.exited;
  await seen.stop();
  rmSync(folder, { recursive: true });
  return events;
}

/** Total and stages to the microsecond, which is what Jaeger keeps. */
const timesOf = ({ trace_id, total_ms = 0, stages_ms = {} }: EventDraft) => {
  const entries = Object.entries(stages_ms).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const roundUs = (ms: number) => Math.round(ms * 1_000);
  return JSON.stringify([trace_id, roundUs(total_ms), entries.map(([s, ms]) => [s, roundUs(ms)])]);
};

describe('the collector that the page of traces configures', () => {
  it('writes spans so that each trace is one event', async (context) => {
    need(context, ['collector.yaml', 'keyed.yaml']);
    // Jaeger's records have the key of their trace without it.
    const encodings = [
      { format: 'otlp_proto', files: ['collector.yaml', 'keyed.yaml'] },
      { format: 'otlp_json', files: ['collector.yaml', 'keyed.yaml'] },
      { format: 'jaeger_proto', files: ['collector.yaml'] },
      { format: 'jaeger_json', files: ['collector.yaml'] },
    ] as const;
    const messages = linesOf('kafka/otlp_spans_json.jsonl.gz').map(
      (line) => (JSON.parse(line) as { value: string }).value,
    );
    await withRig({ stack, name: 'collector', settings: keepAll }, async (rig) => {
      const topics: object[] = [];
      for (const { format, files } of encodings) {
        const topic = `${rig.topic}.${format}`;
        await ensureTopics(rig.config.kafka, [{ topic, partitions: 3 }]);
        const texts = { otlp_spans: topic, 'encoding: otlp_proto': `encoding: ${format}` };
        await withCollector(files, { brokers: stack.brokers, texts }, async ({ httpPort }) => {
          for (const json of messages) await exportByHttp(httpPort, json);
        });
        const { assemble } = tailmarkFile('traces.yaml', 'otlp_spans', topic);
        topics.push(...(assemble?.topics ?? []).map((each) => ({ ...each, format })));
      }
      // The page leaves no child of the root out, and one trace has a child more than the expectation.
      const expected = draftsOf('pipeline-traces').map((event) =>
        event.trace_id === 'f8f659ac44ce4ab37c5d42dc0f877ae3'
          ? { ...event, stages_ms: { ...event.stages_ms, 'audit.log': 500.1 } }
          : event,
      );
      const events = await assembled(rig, topics, expected.length * encodings.length);
      const wanted = expected.flatMap((event) => encodings.map(() => timesOf(event)));
      expect(events.map(timesOf).toSorted()).toEqual(wanted.toSorted());
    });
  });

  it('writes spans of Triton, whose stages are the events of spans', async (context) => {
    need(context, ['collector.yaml', 'keyed.yaml']);
    await withRig({ stack, name: 'collector', settings: keepAll }, async (rig) => {
      const topic = `${rig.topic}.spans`;
      await ensureTopics(rig.config.kafka, [{ topic, partitions: 3 }]);
      const replaced = { brokers: stack.brokers, texts: { otlp_spans: topic } };
      await withCollector(['collector.yaml', 'keyed.yaml'], replaced, async ({ httpPort }) => {
        for (const json of linesOf('otlp-json/triton-2.51-opentelemetry-mode.jsonl.gz')) {
          await exportByHttp(httpPort, json);
        }
      });
      const { assemble } = tailmarkFile('triton.yaml', 'otlp_spans', topic);
      const expected = draftsOf('triton-opentelemetry-mode');
      const events = await assembled(rig, assemble?.topics ?? [], expected.length);
      expect(events.map(timesOf).toSorted()).toEqual(expected.map(timesOf).toSorted());
    });
  });
});
