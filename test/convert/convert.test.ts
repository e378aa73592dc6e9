import { expect, it } from 'vitest';
import { Converter } from '../../src/convert/convert.ts';
import { k6 } from '../../src/convert/load-tests/k6.ts';
import type { EventDraft } from '../../src/formats/format-reader.ts';
import { textFile } from './conversion.ts';

const limits = { maxDurationMs: 3_600_000, maxDimensionBytes: 256 };

/** A request of k6, which is named by its address unless the script does it. */
function requestOf(url: string, second: number): string {
  const data = (value: number) => ({
    time: `2026-09-21T13:33:${second}.000000001Z`,
    value,
    tags: { name: url, url, method: 'GET', status: '200', expected_response: 'true' },
  });
  const point = (metric: string, value: number) =>
    JSON.stringify({ metric, type: 'Point', data: data(value) });
  return [point('http_reqs', 1), point('http_req_duration', 50), point('http_req_waiting', 50)]
    .map((line) => `${line}\n`)
    .join('');
}

it('counts requests with addresses that are too long, and says how many there were', async () => {
  const events: EventDraft[] = [];
  const rejects: unknown[] = [];
  const converter = new Converter(
    limits,
    (event) => events.push(event),
    (rejected) => rejects.push(rejected),
  );
  const address = `http://127.0.0.1:8000/v1/rank?signature=${'0a'.repeat(150)}`;
  const text = [10, 11, 12].map((second) => requestOf(address, second)).join('');
  const short = requestOf('http://127.0.0.1:8000/', 13);
  await k6.convert([textFile(text + short)], { model: 'ranker' }, converter);
  expect(rejects).toEqual([]);
  expect(events.map(({ total_ms }) => total_ms)).toEqual([50, 50, 50, 50]);
  expect(converter.longTexts.summary()).toBe('texts too long: request_type 3');
});
