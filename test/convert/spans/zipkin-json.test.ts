import { describe, expect, test } from 'vitest';
import { zipkinJson } from '../../../src/convert/spans/zipkin-json.ts';
import { convert, fixture, fixtureText, textFile } from '../conversion.ts';

test.each(['ascend', 'yelp', 'skew'])('%s.json gives its expected event', async (name) => {
  const { events, rejects } = await convert(zipkinJson, fixture(`zipkin-json/${name}.json`));
  expect(events).toEqual([JSON.parse(fixtureText(`expected/zipkin-${name}.ndjson`))]);
  expect(rejects).toEqual([]);
});

test('--model names the model of traces that name none', async () => {
  const file = fixture('zipkin-json/ascend.json');
  const { events } = await convert(zipkinJson, file, { model: 'given' });
  expect(events).toMatchObject([{ model: 'given', service: 'mobile-gateway' }]);
});

test('what is no span, and a trace without a root, are rejected', async () => {
  const { events, rejects } = await convert(
    zipkinJson,
    textFile('[7]\n[{"traceId":"a1","id":"b2","parentId":"c3","timestamp":1700000000000000}]\nx\n'),
  );
  expect(events).toEqual([]);
  expect(rejects.map(({ reason }) => reason)).toEqual(['invalid_line', 'invalid_line', 'no_root']);
});

test('spans of v1 are refused by name', async () => {
  const span = '{"traceId":"a1","id":"b2","timestamp":1700000000000000,"duration":5';
  const text = `[${span},"annotations":[],"binaryAnnotations":[]}]\n`;
  const { events, rejects } = await convert(zipkinJson, textFile(text), { model: 'm' });
  expect([events, rejects.map(({ detail }) => detail)]).toEqual([
    [],
    ["A span must be of Zipkin's JSON v2, and has binaryAnnotations of v1."],
  ]);
});

describe('traces of services of which some are older, or write no spans', () => {
  const from = { timestamp: 1_790_000_000_000_000 };
  const at = (service: string, ms: number) => ({
    ...{ ...from, duration: ms * 1000, localEndpoint: { serviceName: service } },
  });
  const [low, high] = ['abc0000000000001', '68c0fa8000000001'];
  const results = async (...spans: object[]) => {
    const { events, rejects } = await convert(zipkinJson, textFile(JSON.stringify([spans])));
    return [...events, ...rejects.map(({ reason }) => reason)];
  };

  test('a service that keeps 16 of 32 digits of the trace id is of the same trace', async () => {
    const caller = { traceId: high + low, kind: 'CLIENT', name: 'rank', id: '2', parentId: low };
    expect(
      await results(
        { traceId: high + low, id: low, name: 'post', kind: 'SERVER', ...at('gateway', 300) },
        { ...caller, ...at('gateway', 240) },
        { ...caller, traceId: low, shared: true, kind: 'SERVER', ...at('ranker', 220) },
      ),
    ).toMatchObject([
      {
        ...{ trace_id: high + low, total_ms: 300 },
        stages_ms: { 'downstream:ranker': 220, 'network:ranker': 20 },
      },
    ]);
  });

  const outside = { traceId: 'a1', id: 'b2', parentId: 'c3', name: 'post', kind: 'SERVER' };
  const features = { traceId: 'a1', id: 'd4', parentId: 'b2', name: 'features' };

  test("a server's span whose parent is elsewhere is the request", async () => {
    expect(
      await results({ ...outside, ...at('rank-api', 300) }, { ...features, ...at('rank-api', 40) }),
    ).toMatchObject([{ service: 'rank-api', total_ms: 300, stages_ms: { features: 40 } }]);
  });

  test("a server's half of a shared span is the request where its client writes no spans", async () => {
    expect(
      await results(
        { ...outside, shared: true, ...at('rank-api', 300) },
        { ...features, ...at('rank-api', 40) },
      ),
    ).toMatchObject([{ total_ms: 300, stages_ms: { features: 40 } }]);
  });

  test('such a request without a duration has not ended', async () => {
    expect(await results({ ...outside, ...from })).toEqual(['no_end']);
  });
});
