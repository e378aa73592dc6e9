import { expect, it } from 'vitest';
import { OpenTail } from '../../../src/detect/tail/open-tail.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

const options = detectOptions();

/** A window of 1000 requests with a stage of the same duration each. */
function window(ms: number) {
  const counts = { requests: 1_000, errors: 0, timeouts: 0, cancelled: 0 };
  const bands = { bands: [], amounts: [] };
  const digest = TDigest.fromValues(Array(1_000).fill(ms));
  return { stage: '', ...counts, sumMs: 0, minMs: 0, maxMs: 0, digest, bands, bandsMs: bands };
}

it('follows the stage to blame while the total has a second cause', () => {
  const policy = { clearWindows: 3, decayedMs: 3_600_000 };
  const open = new OpenTail(anomalyFixture(), options, true, policy);
  open.start(0);
  expect([open.lead.stage, open.baselineMs]).toEqual(['total', 121]);
  const counts = { requests: 1_000, exceedances: 500, dispersion: 1, windows: 1 };
  open.follow({ stage: 'features', quantile: 0.99, baselineMs: 30, ratio: 4, ...counts }, 1);
  expect([open.lead.stage, open.baselineMs]).toEqual(['features', 30]);
  expect([open.observe(0, window(100)), open.observe(10_000, window(20))]).toEqual([true, false]);
});

it.each([
  ['it followed, not what the second cause still slows', true],
  ['it has measured', false],
])('ends with the tail that %s', (_, isFollowed) => {
  const open = new OpenTail(anomalyFixture(), options, true, {
    ...{ clearWindows: 3, decayedMs: 3_600_000 },
  });
  open.start(0);
  const counts = { requests: 1_000, exceedances: 500, dispersion: 1, windows: 1 };
  const lead = { stage: 'features', quantile: 0.95, baselineMs: 30, ratio: 4, ...counts };
  if (isFollowed) open.follow(lead, 1);
  const { recovered, resolution, summary } = open.resolve(
    'recovered',
    open.resolvedSummary('recovered', 0, 31),
    0,
  );
  const of = isFollowed ? 'p95 of features of ranker' : 'p99 of ranker';
  const baseline = isFollowed ? '30 ms' : '121 ms';
  expect({ recovered, resolution, summary }).toEqual({
    recovered: isFollowed ? { stage: 'features', quantile: 0.95 } : undefined,
    resolution: 'recovered',
    summary: expect.stringMatching(
      new RegExp(`^${of} .* recovered: 31 ms .baseline ${baseline}.$`),
    ),
  });
});

it('keeps the worst beside what it measures now', () => {
  const policy = { clearWindows: 3, decayedMs: 3_600_000 };
  const opened = anomalyFixture({ ratio: 2, severity: 'warning' });
  const open = new OpenTail(opened, options, true, policy);
  open.start(0);
  const peaks = [4, 3].map((ratio) => {
    const now = anomalyFixture({ ratio, severity: 'critical', affected_share: 0.1 });
    const at = '2026-11-01T12:00:00.000Z';
    const measured = { ...now, affected_share: 0.1, measured_at: at };
    const changed = open.change(measured, '', ['total', now.stage]);
    const event = changed && open.update({ ...changed, severity: 'warning' }, 0);
    return [event?.ratio, event?.peak?.ratio];
  });
  expect(peaks).toEqual([
    [4, 4],
    [3, 4],
  ]);
});

it('is as good as over where its tail would not keep it open', () => {
  const open = new OpenTail(anomalyFixture(), options, true, {
    ...{ clearWindows: 3, decayedMs: 3_600_000 },
  });
  open.start(0);
  // Half of the least effect is 15 % of 121 ms.
  const isBackAt = [140, 138].map((observed_ms) => {
    const { severity: _, ...now } = anomalyFixture({ observed_ms });
    open.measured({ ...now, measured_at: '2026-11-01T12:00:00.000Z' });
    return open.isBack;
  });
  expect(isBackAt).toEqual([false, true]);
});
