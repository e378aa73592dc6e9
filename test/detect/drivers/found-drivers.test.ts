import { describe, expect, it } from 'vitest';
import { type AnomalyEvent, anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import type { Driver } from '../../../src/detect/drivers/drivers.ts';
import { foundDrivers, withDrivers } from '../../../src/detect/drivers/found-drivers.ts';
import { sizeGrowth } from '../../../src/detect/drivers/size-growth.ts';
import type { TrafficMix } from '../../../src/detect/drivers/traffic-mix.ts';
import { seriesOf } from '../../../src/series/series-key.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

const driver: Driver = {
  ...{
    facet: 'host',
    value: 'pod-7',
    share_of_slow: 0.7,
    share_of_all: 0.1,
    baseline_share_of_all: 0.1,
    slow_rate: 0.4,
  },
  ...{ slow_rate_of_others: 0.02, baseline_slow_rate: 0.01, baseline_slow_rate_of_others: 0.01 },
};
const mixOf = (share: number): TrafficMix => ({
  ...{ facet: 'batch_size', excess: 0.2, mix: 0.2 * share, slowdown: 0.2 * (1 - share), share },
});

describe('an event with its drivers', () => {
  const event = anomalyFixture();

  it('is unchanged without drivers', () => {
    expect(withDrivers(event, { drivers: [], mix: undefined })).toBe(event);
  });

  it('names five at most, and is an event of the contract', () => {
    const extended = withDrivers(event, {
      drivers: new Array<Driver>(7).fill(driver),
      mix: mixOf(0.7),
    });
    expect(extended.drivers).toEqual(new Array<Driver>(5).fill(driver));
    expect(anomalyEventSchema.parse(extended)).toEqual(extended);
  });

  it('is traffic mix where that explains half of it, and the event says so', () => {
    expect(withDrivers(event, { drivers: [], mix: mixOf(0.72) })).toEqual({
      ...event,
      bottleneck: 'traffic_mix',
      severity: 'warning',
      mix_share: 0.72,
      summary: `${event.summary}; more large requests (by batch_size) explain 72 % of the rise in slow requests`,
    });
    const resolved = anomalyFixture({ state: 'resolved' });
    expect(withDrivers(resolved, { drivers: [], mix: mixOf(0.72) })).toEqual({
      ...{ ...resolved, bottleneck: 'traffic_mix', severity: 'warning', mix_share: 0.72 },
    });
  });

  it('says which sizes, of answers too', () => {
    const size = { ...driver, facet: 'output_tokens', value: '512-1023', share_of_all: 0.2 };
    const mix = { ...mixOf(0.9), facet: 'output_tokens' };
    const { summary } = withDrivers(event, { drivers: [driver, size], mix });
    expect(summary).toBe(
      `${event.summary}; more long answers (output_tokens 512 to 1023: 70 % of slow requests, 20 % of all) explain 90 % of the rise in slow requests`,
    );
  });

  it('stays critical where another model is affected, whose mix is not known', () => {
    expect(event.severity).toBe('critical');
    const values = ['ranker', 'embedder'].map((value) => ({
      ...{ dimension: 'model' as const, value, affected: 1, total: 1 },
    }));
    const scope = { affected: 2, unresolved: 2, total: 2, common: [], values };
    const wide = withDrivers({ ...event, scope }, { drivers: [], mix: mixOf(0.9) });
    expect(wide).toMatchObject({ bottleneck: 'traffic_mix', severity: 'critical' });
  });

  it('keeps its class where less is mix, and for a cold start', () => {
    expect(withDrivers(event, { drivers: [], mix: mixOf(0.4) })).toEqual({
      ...event,
      mix_share: 0.4,
    });
    const cold = anomalyFixture({ cold_start: true, bottleneck: 'cold_start' });
    expect(withDrivers(cold, { drivers: [], mix: mixOf(0.9) })).toEqual({
      ...cold,
      mix_share: 0.9,
    });
  });
});

describe('the mix of the traffic', () => {
  const bands = (amounts: readonly (readonly [number, number])[]) => new Map(amounts);
  const facet = 'output_tokens';
  const facets = [
    { facet, value: '64-127', now: bands([[0, 500]]), baseline: bands([[0, 1_960]]) },
    { facet, value: '512-1023', now: bands([[10, 500]]), baseline: bands([[10, 40]]) },
  ];
  const totals = {
    now: bands([
      [0, 500],
      [10, 500],
    ]),
    baseline: bands([
      [0, 1_960],
      [10, 40],
    ]),
  };
  const mixAt = (measured_stage: string, changed: Partial<AnomalyEvent> = {}) => {
    const event = anomalyFixture({ stage: 'decode', blame: [], ...changed });
    const measured = { ...event, evidence: { ...event.evidence, measured_stage } };
    return foundDrivers(facets, [{ series: seriesOf(event), ...totals }], measured).mix;
  };

  it('is by the length of answers too', () => {
    expect(mixAt('total')).toMatchObject({ facet, share: 1 });
  });

  it('is of no longer answers where a part before them is slow', () => {
    expect(mixAt('total', { stage: 'queue' })).toBeUndefined();
    expect(mixAt('queue', { stage: 'queue' })).toBeUndefined();
  });

  it('is by the size of the part to blame where the total was not measured', () => {
    // From 2 % to 50 % of long answers: p99 stays in their octave, which begins at 512.
    expect(mixAt('decode', { ratio: 1.2 })).toMatchObject({
      ...{ facet, share: 1 },
      growth: expect.closeTo(2 ** 0.48, 9),
    });
    expect(mixAt('decode', { ratio: 4 })).toMatchObject({ facet, share: 0.24 });
  });

  it('is by no size of which a few more are large by chance', () => {
    const sized = (now: number) => [
      { facet, value: '64-127', now: bands([[0, 95]]), baseline: bands([[0, 1_960]]) },
      { facet, value: '512-1023', now: bands([[0, now]]), baseline: bands([[0, 40]]) },
    ];
    const slow = { stage: 'decode', blame: [], quantile: 0.95, ratio: 4 };
    expect([sizeGrowth(sized(9), slow), sizeGrowth(sized(20), slow)?.facet]).toEqual([
      undefined,
      facet,
    ]);
  });

  it('is none of a time per token, which depends on no length', () => {
    expect(mixAt('time_per_output_token')).toBeUndefined();
  });
});
