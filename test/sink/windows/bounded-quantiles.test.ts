import { describe, expect, it } from 'vitest';
import { boundedQuantiles } from '../../../src/sink/windows/bounded-quantiles.ts';
import { encodeState, maxStateBytes } from '../../../src/sketch/clickhouse-state.ts';
import { poolDigest } from '../../sketch/pool-digest.ts';

const levels = [0.5, 0.99, 0.999];
const none = { censored: '0', ended_digest: '', censored_digest: '', mixed_digest: '' };

function digestText(values: readonly number[]): string {
  const { means, weights, size } = poolDigest(values);
  const bytes = new Uint8Array(maxStateBytes);
  return Buffer.from(bytes.slice(0, encodeState(means, weights, size, bytes, 0))).toString(
    'base64',
  );
}

describe('quantiles of a row', () => {
  it('are the very numbers of ClickHouse where no request was given up', () => {
    const row = { ...none, min_ms: 1, max_ms: 100 };
    expect(boundedQuantiles(levels, [10, 20, 30], row)).toEqual(
      [10, 20, 30].map((ms) => ({ ms, isAtLeast: false })),
    );
  });

  it('are none where there was no request', () => {
    const row = { ...none, min_ms: null, max_ms: null };
    expect(boundedQuantiles(levels, [], row)).toEqual([undefined, undefined, undefined]);
  });

  it('stay within the least and the largest value', () => {
    const row = { ...none, min_ms: '1', max_ms: '99.5' };
    expect(boundedQuantiles([0, 1], [0.99, 99.6], row).map((each) => each?.ms)).toEqual([1, 99.5]);
  });

  it('are bounds beyond the last request that ended', () => {
    const finished = Array.from({ length: 1_000 }, (_, i) => i + 1);
    const given = Array.from({ length: 10 }, () => 128_000);
    const extremes = { censored: '10', min_ms: 1, max_ms: 128_000 };
    const censored_digest = digestText(given);
    const apart = { ended_digest: digestText(finished), mixed_digest: digestText([]) };
    // As rows from before migration 0026 have them.
    const mixed = {
      ended_digest: digestText([...finished, ...given]),
      mixed_digest: censored_digest,
    };
    for (const digests of [apart, mixed]) {
      const row = { ...extremes, ...digests, censored_digest };
      const [p50, p99, p999] = boundedQuantiles(levels, [505, 64_000, 128_000], row);
      expect(p50?.isAtLeast).toBe(false);
      expect(Math.abs((p50?.ms ?? 0) - 505)).toBeLessThan(5);
      expect(p99?.isAtLeast).toBe(false);
      expect(p99?.ms).toBeLessThanOrEqual(1_000);
      expect(p999).toEqual({ ms: 128_000, isAtLeast: true });
    }
  });
});
