import { expect, it } from 'vitest';
import { emptySeries } from '../../src/series/series-window.ts';
import { serializeSeries } from '../../src/series/snapshot-series.ts';
import { StateReader } from '../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../src/snapshot/archive-writer.ts';

const plain = { ...emptySeries, model: 'llm', tenant: 'acme' };

it.each([
  plain,
  { ...plain, attributes: 'adapter=lora-7' },
  { ...plain, tenant: '', attributes: 'adapter=a%00b' },
  { ...plain, tenant: 'a\u0000b' },
  { ...plain, tenant: 'a\u0000b\u0000', attributes: 'gpu=h100' },
])('%j is restored from a snapshot', (series) => {
  const writer = new StateWriter();
  serializeSeries(writer, series);
  const reader = new StateReader(writer.drain());
  expect(serializeSeries(reader, undefined)).toEqual(series);
});
