import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';
import type { SchemaSource } from '../../src/formats/records/schema-source.ts';
import { encodeMetadata } from '../../src/ingest/commit-metadata.ts';
import { RejectWarnings } from '../../src/ingest/letters/reject-warnings.ts';
import { TopicFormats } from '../../src/topics/topic-formats.ts';
import { FakeBench, logOf } from './fake-bench.ts';
import { FakeBroker } from './fake-broker.ts';
import { logNowMs, logStartMs } from './fake-log.ts';
import { testConfig } from './test-config.ts';
import { testIntent } from './test-intent.ts';

const avro = configSchema.parse({
  kafka: { topics: [{ topic: 't', format: 'avro' }] },
  schema_registry: { url: 'http://127.0.0.1:1' },
});

describe('a topic whose records wait for their schema', () => {
  it('stores nothing, says how long it waits, and goes on when the schema is there', async () => {
    let isKnown = false;
    let answer: () => void = () => undefined;
    const schemas: SchemaSource = {
      get: () => (isKnown ? { missing: 'the registry has none with that id' } : undefined),
      fetch: () =>
        new Promise((resolve) => {
          answer = () => {
            isKnown = true;
            resolve();
          };
        }),
    };
    const records = Array.from({ length: 30 }, (_, offset) => ({
      offset,
      timestampMs: logStartMs,
      value: Buffer.from([0, 0, 0, 0, 7, offset]),
    }));
    const said: object[] = [];
    const bench = new FakeBench(
      new FakeBroker(records, 30),
      testConfig({ flush_max_events: 1_000 }),
      undefined,
      {
        formats: TopicFormats.open(avro, schemas),
        rejectWarnings: new RejectWarnings({ warn: (fields: object) => said.push(fields) }),
      },
    );
    const handled = bench.batch(0);
    await bench.respondToAll([], 20);
    const waitedMs = bench.ingest.waitingMs();
    expect(waitedMs).toBeGreaterThan(1_000);
    await bench.respondToAll([], 20);
    expect(bench.ingest.waitingMs()).toBeGreaterThan(waitedMs);
    expect(bench.store.ledger).toEqual([]);
    answer();
    await bench.respondToAll();
    await handled;
    expect(bench.ingest.waitingMs()).toBe(0);
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.ranges).toEqual([[0, 30]]);
    expect(bench.store.ledger).toMatchObject([{ consumed: 30, rejected: 30, aggregated: 0 }]);
    const { eventsConsumed, eventsDropped } = bench.metrics;
    expect((await eventsConsumed.get()).values).toMatchObject([
      { labels: { topic: 't' }, value: 30 },
    ]);
    expect((await eventsDropped.get()).values).toMatchObject([
      { labels: { topic: 't', reason: 'unknown_schema' }, value: 30 },
    ]);
    const detail = 'Schema 7 cannot be used: the registry has none with that id';
    expect(said).toEqual([{ topic: 't', rejected: 30, of: 30, reason: 'unknown_schema', detail }]);
  });

  it('is given up when the process stops, and left to its successor', async () => {
    let refuse: (error: Error) => void = () => undefined;
    const never: SchemaSource = {
      get: () => undefined,
      fetch: () =>
        new Promise((_, reject) => {
          refuse = reject;
        }),
    };
    const value = Buffer.from([0, 0, 0, 0, 7, 1]);
    const broker = new FakeBroker([{ offset: 0, timestampMs: logStartMs, value }], 1);
    const formats = TopicFormats.open(avro, never);
    const bench = new FakeBench(broker, testConfig(), undefined, { formats });
    const handled = bench.batch(0);
    await bench.respondToAll([], 5);
    await Promise.all([bench.ingest.drain(), handled, bench.respondToAll()]);
    expect(bench.ranges).toEqual([]);
    expect(bench.broker.committed.offset).toBeUndefined();
    // As the registry's client does when it is closed: nobody waits for it any more.
    refuse(new Error('closed'));
    await turn();
  });
});

describe('spans that no rule maps', () => {
  const span = (more: object = {}) => ({
    ...{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', name: 'GET /' },
    ...{ startTimeUnixNano: `${logStartMs}000000`, endTimeUnixNano: `${logStartMs + 5}000000` },
    ...more,
  });
  const request = {
    name: 'llm_request',
    attributes: [{ key: 'gen_ai.latency.e2e', value: { doubleValue: 0.005 } }],
  };
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'm' } }] };
  const record = (offset: number, ...spans: readonly object[]) => ({
    offset,
    timestampMs: logStartMs,
    value: Buffer.from(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] })),
  });

  it('count as such in each chunk, and keep the places of the others in their message', async () => {
    const config = configSchema.parse({ kafka: { topics: [{ topic: 't', format: 'otlp_json' }] } });
    const noEnd = span({ ...request, endTimeUnixNano: '0' });
    const yearMs = 365 * 86_400_000;
    const inAYear = {
      startTimeUnixNano: `${logStartMs + yearMs}000000`,
      endTimeUnixNano: `${logStartMs + yearMs + 5}000000`,
    };
    const records = [
      record(0, span(), span(), noEnd, span(request)),
      record(1, span(request), span(), span({ ...request, ...inAYear })),
    ];
    const bench = new FakeBench(
      new FakeBroker(records, 2),
      testConfig({ flush_max_events: 4 }),
      undefined,
      { formats: TopicFormats.open(config) },
    );
    void bench.batch(0);
    await bench.respondToAll();
    await Promise.all([bench.ingest.drain(), bench.respondToAll()]);
    expect(bench.store.ledger).toMatchObject([
      { consumed: 4, unmapped: 2, rejected: 1, aggregated: 1 },
      { consumed: 3, unmapped: 1, rejected: 1, aggregated: 1 },
    ]);
    const keys = bench.publisher.messages.map(({ message }) => message.key);
    // A place that the decoder gives, and one that the chunk counts.
    expect(keys).toEqual(['t/0/0/2', 't/0/1/2']);
  });
});

describe('a chunk that a predecessor began', () => {
  const warning =
    'a chunk was begun with another format of its topic: verify may find a difference';
  const withFormat = (format: string | undefined) => {
    const intent = testIntent(3, logNowMs);
    const settings = { ...intent.settings, ...(format === undefined ? {} : { format }) };
    const here = { logId: 'c/t', leaderEpoch: -1, watermarkMs: logStartMs };
    const broker = logOf(5);
    broker.commit(broker.join(), 0, encodeMetadata({ ...here, intent: { ...intent, settings } }));
    return broker;
  };

  it.each([
    ['of the same format', undefined, []],
    ['of another format', 'another-one-', [warning]],
  ])('%s is said to differ: %s', (_, format, lines) => {
    const formats = TopicFormats.open(testConfig());
    const bench = new FakeBench(withFormat(format), testConfig(), undefined, { formats });
    expect(bench.lines).toEqual(lines);
  });
});
