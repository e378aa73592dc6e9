// Covers src/convert/load-tests/json-lines.ts.

import { describe, expect, it } from 'vitest';
import { aiperf } from '../../../src/convert/load-tests/aiperf.ts';
import {
  convert,
  expectedEvents,
  expectSameEvents,
  fixture,
  fixtureText,
  textFile,
} from '../conversion.ts';

const path = 'aiperf/profile_export.jsonl';
const options = { model: 'tiny-llm' };

describe('aiperf', () => {
  it('gives each of 40 requests as an independent script does, and skips the 3 of the warm-up', async () => {
    const { events, rejects, skipped } = await convert(aiperf, fixture(path), options);
    expect(rejects).toEqual([]);
    expect(events).toHaveLength(40);
    expect(skipped).toBe(3);
    expectSameEvents(events, expectedEvents('aiperf'));
  });

  it('reads a byte order mark and CRLF alike', async () => {
    const text = `\ufeff${fixtureText(path).replaceAll(/\r?\n/g, '\r\n')}`;
    const { events } = await convert(aiperf, textFile(text, 1000), options);
    expectSameEvents(events, expectedEvents('aiperf'));
  });

  it('rejects a truncated last line', async () => {
    const text = fixtureText(path).trimEnd().slice(0, -30);
    const { events, rejects } = await convert(aiperf, textFile(text, 1000), options);
    expect(events).toHaveLength(39);
    expect(rejects).toMatchObject([{ reason: 'invalid_json' }]);
    expect(rejects[0]?.detail).toMatch(/^Line 43 must be a JSON object/);
  });

  it.each([
    ['{"metadata":{"request_start_ns":5,"request_end_ns":4}}', 'ends_before_start'],
    ['{"metadata":{"request_end_ns":4}}', 'missing_ts'],
    ['{"metadata":{"request_start_ns":5}}', 'no_end'],
    [
      '{"metadata":{"request_start_ns":5,"request_end_ns":6},"metrics":{"request_latency":{"value":-1}}}',
      'bad_duration',
    ],
    ['[]', 'not_an_object'],
    ['{"metadata":7,"metrics":null,"error":3}', 'missing_ts'],
  ])('rejects %s', async (line, reason) => {
    expect((await convert(aiperf, textFile(line), options)).rejects).toMatchObject([{ reason }]);
  });

  it('is recognised by its fields', () => {
    expect(aiperf.recognise(fixtureText(path), 'x.jsonl')).toBeDefined();
    expect(aiperf.recognise('{}', 'x.jsonl')).toBeUndefined();
  });
});
