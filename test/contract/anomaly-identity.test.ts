import { describe, expect, it } from 'vitest';
import { anomalyIdOf, dedupKeyOf } from '../../src/contract/anomaly-identity.ts';

const series = {
  ...{ service: '', model: 'ranker', version: '1', request_type: 'search', region: 'eu', host: '' },
  ...{ tenant: '', cold_start: false },
};

describe('dedupKeyOf', () => {
  // Fixed over all releases: pagers hold incidents open under it over upgrades.
  it('is the same in every release', () => {
    expect(dedupKeyOf('tail_shift', series)).toBe('tail_shift/ranker/e153563c9b6f8656');
  });

  it('differs where any dimension does, and where values only look alike', () => {
    const keys = [
      series,
      { ...series, version: '2' },
      { ...series, cold_start: true },
      { ...series, version: '', request_type: '1search' },
      { ...series, model: 'ranker/' },
    ].map((one) => dedupKeyOf('tail_shift', one));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('differs by the name that distinguishes two of one kind and series', () => {
    const keys = ['', 'fast', 'available'].map((name) => dedupKeyOf('slo_burn', series, name));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('is short and plain for any model name', () => {
    const key = dedupKeyOf('throughput_drop', { ...series, model: 'naïve "модель"\n'.repeat(40) });
    expect(key).toMatch(/^[A-Za-z0-9._/-]{1,100}$/);
    expect(key).toMatch(/^[\w./-]+$/);
  });
});

describe('anomalyIdOf', () => {
  it('is 32 hex digits that differ from anomaly to anomaly', () => {
    const key = dedupKeyOf('tail_shift', series);
    expect(anomalyIdOf(key, 0)).toMatch(/^[0-9a-f]{32}$/);
    expect(anomalyIdOf(key, 0)).not.toBe(anomalyIdOf(key, 10_000));
  });
});
