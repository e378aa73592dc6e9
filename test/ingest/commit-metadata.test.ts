import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dimensions } from '../../src/base/dimensions.ts';
import { facets } from '../../src/base/facets.ts';
import { limits } from '../../src/base/limits.ts';
import { decodeMetadata, encodeMetadata } from '../../src/ingest/commit-metadata.ts';
import { testIntent } from './test-intent.ts';

/** As long as `limits.jointObjectiveBytes` allows. */
const largestObjectives = Array.from({ length: 8 }, (_, n) => ({
  thresholds: { [`stage_${n}`.padEnd(29, 'x')]: 3_600_000 },
  match: [{ model: 'm'.repeat(20), request_type: 'chat*' }],
}));

const time = fc.option(fc.integer({ min: -1e15, max: 1e15 }), { nil: undefined });
const count = fc.maxSafeNat();
const clock = fc.integer({ min: 0, max: 1e15 });
const counts = fc.record({
  firstTimestampMs: clock,
  lastTimestampMs: clock,
  watermarkMs: fc.oneof(clock, fc.constant(Number.NEGATIVE_INFINITY)),
  leaderEpoch: count,
  records: count,
  consumed: count,
  aggregated: count,
  rejected: count,
  late: count,
  overflow: count,
  unmapped: count,
  weight: count,
  lateMerged: count,
  removedEvents: count,
  removedOffsets: count,
  rows: fc.record({
    rowCount: count,
    samples: count,
    windowMinMs: clock,
    windowMaxMs: clock,
  }),
});
const note = fc.record({
  logId: fc.constantFrom('', 'abc/', 'MkU3OEVBNTcwNTJENDM2Qk/uq0Y5v2fTkC2ZzQm1yk0Lg', 'a/b#12'),
  storeId: fc.constantFrom(undefined, '0123456789ab'),
  leaderEpoch: fc.integer({ min: -1, max: 2 ** 31 - 1 }),
  watermarkMs: time,
  intent: fc.option(
    fc.record({
      endOffset: count,
      nowMs: clock,
      settings: fc.record({
        dimensions: fc.subarray([...dimensions]),
        facets: fc.subarray([...facets]),
        allowedLatenessMs: count,
        maxFutureMs: count,
        graceMs: count,
        maxCells: count,
        maxMessageBytes: count,
        maxDurationMs: count,
        maxDimensionBytes: count,
        objectives: fc.constantFrom(undefined, largestObjectives),
      }),
      counts,
      earlier: fc.option(fc.array(counts, { maxLength: 3 }), { nil: undefined }),
    }),
    { nil: undefined },
  ),
});

describe('commit metadata', () => {
  it('has room for the largest objectives that are accepted', () => {
    const bytes = JSON.stringify(largestObjectives).length;
    expect(bytes).toBeGreaterThan(0.9 * limits.jointObjectiveBytes);
  });

  it("is restored unchanged, well within Kafka's limit", () => {
    fc.assert(
      fc.property(note, (given) => {
        const text = encodeMetadata(given);
        expect(decodeMetadata(text)).toEqual(given);
        expect(text.length).toBeLessThan(3_900);
      }),
      { seed: 6, numRuns: 300 },
    );
  });

  it('is this text: a predecessor of another version must read it', () => {
    expect(
      encodeMetadata({ logId: 'c/t', leaderEpoch: 4, watermarkMs: 5, intent: testIntent(20, 7) }),
    ).toBe(
      '{"v":"tailmark/3","logId":"c/t","leaderEpoch":4,"watermarkMs":5,"intent":{"endOffset":20,"nowMs":7,"settings":{' +
        '"dimensions":["model","region","cold_start"],"facets":["host","cache_hit","batch_size",' +
        '"request_bytes","input_tokens","concurrency","response_bytes","output_tokens","queue_depth"],' +
        '"allowedLatenessMs":3600000,' +
        '"maxFutureMs":300000,"graceMs":2000,"maxCells":50000,"maxMessageBytes":16777216,' +
        '"maxDurationMs":3600000,"maxDimensionBytes":256},"counts":{"firstTimestampMs":1,' +
        '"lastTimestampMs":2,"watermarkMs":77,"leaderEpoch":3,"records":10,"consumed":10,"aggregated":10,' +
        '"rejected":0,"late":0,"overflow":0,"unmapped":0,"weight":0,"lateMerged":0,"removedEvents":0,"removedOffsets":0,"rows":{"rowCount":1,"samples":1,' +
        '"windowMinMs":0,"windowMaxMs":0}}}}',
    );
    expect(encodeMetadata({ logId: '', leaderEpoch: -1, watermarkMs: undefined })).toBe(
      '{"v":"tailmark/3","logId":"","leaderEpoch":-1}',
    );
    const given = { logId: 'c/t', storeId: 'ab12', leaderEpoch: 4, watermarkMs: 5 };
    expect(encodeMetadata(given)).toBe(
      '{"v":"tailmark/3","logId":"c/t","storeId":"ab12","leaderEpoch":4,"watermarkMs":5}',
    );
  });

  it.each([
    ['nothing', ''],
    ['text', 'committed by hand'],
    ['another program’s JSON', '{"v":"other","wm":5,"end":20,"now":7}'],
    ['JSON of another form', '[1]'],
    ['a number', '7'],
    ['null', 'null'],
    ['a text', '"tailmark/3"'],
  ])('is not read out of %s', (_, metadata) => {
    expect(decodeMetadata(metadata)).toBeUndefined();
  });

  it('reads what the versions before wrote, unless a chunk is pending', () => {
    const reached = { leaderEpoch: -1, watermarkMs: 5, intent: undefined };
    expect(decodeMetadata('{"v":"tailmark/1","watermarkMs":5}')).toEqual({ ...reached, logId: '' });
    expect(
      decodeMetadata('{"v":"tailmark/2","logId":"c/t","storeId":"ab12","watermarkMs":5}'),
    ).toEqual({ ...reached, logId: 'c/t', storeId: 'ab12' });
    const pending = encodeMetadata({
      logId: '',
      leaderEpoch: -1,
      watermarkMs: 5,
      intent: testIntent(20, 7),
    });
    for (const before of ['tailmark/1', 'tailmark/2']) {
      expect(() => decodeMetadata(pending.replace('tailmark/3', before))).toThrow(
        `must be of tailmark/3; it is of ${before}`,
      );
    }
  });

  it('refuses what another version of tailmark wrote', () => {
    expect(() => decodeMetadata('{"v":"tailmark/4","wm":5,"end":20}')).toThrow(
      'Cannot take over a partition: its commit metadata must be of tailmark/3; it is of tailmark/4',
    );
  });

  it.each([
    ['half of one', '{"v":"tailmark/3","intent":{"endOff'],
    ['an end that is no offset', '{"v":"tailmark/3","intent":{"endOffset":1.5,"nowMs":7}}'],
    ['a watermark that is no number', '{"v":"tailmark/3","watermarkMs":"x"}'],
  ])('refuses its own format where it is broken: %s', (_, metadata) => {
    expect(() => decodeMetadata(metadata)).toThrow(
      `Cannot take over a partition: its commit metadata must be complete; it is ${metadata}`,
    );
  });

  it('is never read out of garbage with an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(decodeMetadata(text)).toBeUndefined();
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
