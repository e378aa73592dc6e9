// Covers src/convert/load-tests/json-lines.ts.

import { describe, expect, it } from 'vitest';
import { aiperf } from '../../../src/convert/load-tests/aiperf.ts';
import type { EventDraft } from '../../../src/formats/format-reader.ts';
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

/** The independent script leaves them out. */
const withoutGaps = ({ itl_ms: _, ...event }: EventDraft): EventDraft => event;

describe('aiperf', () => {
  it('gives each of 40 requests as an independent script does, and skips the 3 of the warm-up', async () => {
    const { events, rejects, skipped } = await convert(aiperf, fixture(path), options);
    expect(rejects).toEqual([]);
    expect(events).toHaveLength(40);
    expect(skipped).toBe(3);
    expectSameEvents(events.map(withoutGaps), expectedEvents('aiperf'));
  });

  it('passes on each gap between chunks, to the nanosecond, of the 37 requests that have some', async () => {
    const { events } = await convert(aiperf, fixture(path), options);
    const theirs = fixtureText(path)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ metadata }) => metadata.benchmark_phase === 'profiling')
      .map(({ metrics }) => metrics.inter_chunk_latency?.value as number[] | undefined);
    const ours = events.map(({ itl_ms }) => itl_ms?.map((ms) => Math.round(ms * 1e6)));
    expect(ours).toEqual(theirs.map((gaps) => gaps?.map((ms) => Math.round(ms * 1e6))));
    expect(ours.filter((gaps) => gaps !== undefined)).toHaveLength(37);
    expect(ours.flatMap((gaps) => gaps ?? [])).toHaveLength(314);
    // The time to the first token and the gaps are the whole request, but for the end of the response.
    for (const { itl_ms, total_ms = 0, stages_ms } of events) {
      if (itl_ms === undefined) continue;
      const sumMs = itl_ms.reduce((sum, ms) => sum + ms, stages_ms?.first_token ?? 0);
      expect(Math.abs(sumMs - total_ms)).toBeLessThan(1);
    }
  });

  it('reads a byte order mark and CRLF alike', async () => {
    const text = `\ufeff${fixtureText(path).replaceAll(/\r?\n/g, '\r\n')}`;
    const { events } = await convert(aiperf, textFile(text, 1000), options);
    expectSameEvents(events.map(withoutGaps), expectedEvents('aiperf'));
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
    [
      '{"metadata":{"request_start_ns":5,"request_end_ns":6},"metrics":{"inter_chunk_latency":{"value":[1,-1]}}}',
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
