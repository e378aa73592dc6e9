import { describe, expect, it } from 'vitest';
import { anomalySummary } from '../../../src/detect/event/anomaly-summary.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

describe('anomalySummary', () => {
  it('states the change, the place, the size and the cause', () => {
    expect(anomalySummary(anomalyFixture())).toBe(
      'p99 of ranker (search, eu-west-1) is 412 ms, 3.4x its baseline of 121 ms; in the slowest 1 % features rose by 253 ms, the mean by 291 ms',
    );
  });

  it('names the measured stage where it is not the total, and does not blame it again', () => {
    const { evidence } = anomalyFixture();
    const event = anomalyFixture({
      quantile: 0.999,
      cold_start: true,
      observed_ms: 12_345,
      baseline_ms: 0.84,
      ratio: 14_696.4,
      evidence: { ...evidence, measured_stage: 'queue' },
      blame: [{ stage: 'queue', excess_ms: 12_344, share: 1 }],
    });
    expect(anomalySummary(event)).toBe(
      'p99.9 of queue of ranker (search, eu-west-1, cold starts) is 12.3 s, 14696x its baseline of 0.84 ms',
    );
  });

  it('says since when the history is known, where the history before was not read', () => {
    const { evidence } = anomalyFixture();
    const history_from = '2026-11-01T11:14:20.000Z';
    const event = anomalyFixture({ blame: [], evidence: { ...evidence, history_from } });
    expect(anomalySummary(event)).toBe(
      'p99 of ranker (search, eu-west-1) is 412 ms, 3.4x its baseline of 121 ms; known since 2026-11-01 11:14 UTC only: the history before was not read',
    );
  });

  it('has observed value and baseline in one unit', () => {
    const slow = { observed_ms: 17_700, baseline_ms: 6_553, ratio: 2.7, blame: [] };
    expect(anomalySummary(anomalyFixture(slow))).toBe(
      'p99 of ranker (search, eu-west-1) is 17.7 s, 2.7x its baseline of 6.55 s',
    );
  });

  it('names the rise of which a stage may have more than all', () => {
    const blame = [
      { stage: 'features', excess_ms: 294.3, share: 1.16 },
      { stage: 'queue', excess_ms: -39.9, share: -0.16 },
    ];
    expect(anomalySummary(anomalyFixture({ blame }))).toMatch(
      /; in the slowest 1 % features rose by 294 ms, the mean by 254 ms$/,
    );
  });
});
