import { describe, expect, it } from 'vitest';
import { blameText, effectsText, riseText } from '../../src/contract/blame-text.ts';
import { scopeMember } from '../../src/contract/scope-member.ts';
import { ofWorstSeries } from '../../src/contract/worst-series.ts';
import { anomalyFixture } from './anomaly-fixture.ts';

const { evidence } = anomalyFixture();
const measured = (stage: string) => ({ evidence: { ...evidence, measured_stage: stage } });
const prefill = { stage: 'prefill', excess_ms: 394, share: 0.96 };
const effects = [
  { stage: 'total', observed_ms: 1_080, baseline_ms: 1_000, ratio: 1.08 },
  { stage: 'first_token', observed_ms: 520, baseline_ms: 100, ratio: 5.2 },
];

describe('blameText', () => {
  it('says of a milestone that the mean of all requests is split', () => {
    const blame = [prefill, { stage: 'queue', excess_ms: 16, share: 0.04 }];
    expect(blameText(anomalyFixture({ ...measured('first_token'), blame }))).toBe(
      'all requests: mean first_token +410 ms; prefill +394 ms (96 %), rest +16 ms (4 %)',
    );
  });

  it('says of a part only how its own quantile rose', () => {
    const event = anomalyFixture({ ...measured('prefill'), blame: [{ ...prefill, share: 1 }] });
    expect(blameText(event)).toBe('p99 of prefill +394 ms');
  });

  it('never gives a stage more than all that rose, also of an event of before', () => {
    const blame = [
      { stage: 'prefill', excess_ms: 322, share: 3.22 },
      { stage: 'decode', excess_ms: -222, share: -2.22 },
    ];
    const event = anomalyFixture({ ...measured('prefill'), blame });
    expect(blameText(event)).toBe(
      'slowest 1 %: mean +100 ms; prefill +322 ms (100 % of what rose), decode −222 ms',
    );
    expect(riseText(event)).toBe('slowest 1 %: mean +100 ms');
  });
});

describe('effectsText', () => {
  it('says what users wait for, where only a stage was measured', () => {
    expect(effectsText(anomalyFixture())).toBe('');
    expect(effectsText(anomalyFixture({ effects }))).toBe('total p99 +8 %, first_token p99 +420 %');
    const [total] = effects;
    expect(effectsText(anomalyFixture({ effects: [{ ...total!, ratio: 0.93 }] }))).toBe(
      'total p99 −7 %',
    );
  });

  it('speaks of the worst series of an incident alone', () => {
    const own = anomalyFixture({ effects });
    const other = anomalyFixture({ region: 'us', stage: 'queue' });
    const { interval_ms, requests, blame, bottleneck, sql } = own;
    const worst = { interval_ms, requests, evidence, blame, bottleneck, sql };
    const incident = { ...own, members: [scopeMember(other)] };
    expect(effectsText(ofWorstSeries({ ...incident, worst }))).toBe('');
    expect(effectsText(ofWorstSeries({ ...incident, worst: { ...worst, effects } }))).not.toBe('');
  });
});
