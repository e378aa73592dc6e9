import { expect, test } from 'vitest';
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
