import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import type { AnomalyEvent, Resolution } from '../../../src/contract/anomaly-event.ts';
import { OpenTail } from '../../../src/detect/tail/open-tail.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest]
  ? Rest
  : never;

const options = detectOptions();
const openedMs = Date.parse(anomalyFixture().emitted_at);

function anomaly(changed: Partial<AnomalyEvent> = {}, clearWindows = 3): OpenTail {
  const policy = { clearWindows, decayedMs: 60 * minuteMs };
  const open = new OpenTail(anomalyFixture(changed), options, true, policy);
  open.start(0);
  return open;
}

/** Observes a window as the lifecycle does. */
function observe(open: OpenTail, startMs: number, ...seen: Tail<Parameters<OpenTail['observe']>>) {
  open.reach(startMs);
  const isAnomalous = open.observe(startMs, ...seen);
  if (isAnomalous === undefined) return undefined;
  open.count(startMs, isAnomalous);
  return isAnomalous ? 'anomalous' : 'clear';
}

/** Updates as the lifecycle does. */
function update(
  open: OpenTail,
  measured: AnomalyEvent,
  nowMs: number,
  anomalous: readonly string[],
  baselineFactor = 1,
) {
  const { affected_share = 0, observed_ms, ratio } = measured;
  const measured_at = new Date(nowMs).toISOString();
  const peak = { observed_ms, ratio, at: measured_at };
  const now = { ...measured, affected_share, measured_at, peak };
  const changed = open.change(now, 'worse', anomalous, baselineFactor);
  const { severity } = open.event;
  const rises = severity !== 'critical' && changed?.severity === 'critical';
  if (changed === undefined || (!rises && !open.isUpdateDue)) return undefined;
  return open.update({ ...changed, severity: rises ? 'critical' : severity }, nowMs);
}

function resolve(open: OpenTail, resolution: Resolution, nowMs: number, nowQuantileMs?: number) {
  return open.resolve(resolution, open.resolvedSummary(resolution, nowMs, nowQuantileMs), nowMs);
}

/** A window of 1000 requests whose slowest 2 % have `tailMs`. */
function stage(tailMs: number, requests = 1000) {
  const values = Array.from({ length: requests }, (_, i) => (i % 50 === 0 ? tailMs : 50));
  const bands = { bands: [], amounts: [] };
  const counts = { requests, errors: 0, timeouts: 0, cancelled: 0, sumMs: 0, minMs: 0, maxMs: 0 };
  const digest = TDigest.fromValues(values);
  return { stage: 'total', ...counts, digest, bands, bandsMs: bands };
}

/** Evaluates the first window and one this much later; returns the update. */
function updateAt(
  open: OpenTail,
  afterMs: number,
  measured: AnomalyEvent,
  { lateMs = 2_000, out = ['total', measured.stage] } = {},
) {
  const windowMs = 10_000;
  const firstMs = Math.floor((openedMs - windowMs) / windowMs) * windowMs;
  observe(open, firstMs, stage(400));
  observe(open, firstMs + afterMs, stage(400));
  return update(open, measured, firstMs + afterMs + windowMs + lateMs, out);
}

describe('OpenTail', () => {
  it('is over after as many clear windows in a row as it needs', () => {
    const open = anomaly();
    const tails = [400, 60, 60, 400, 60, 60, 60, 60];
    const over = tails.map((tailMs, i) => {
      observe(open, i * 10_000, stage(tailMs));
      return open.isOver;
    });
    // It evaluates two windows together, so a slow one counts for one window more.
    expect(over).toEqual([false, false, false, false, false, false, false, true]);
  });

  it('continues above half of the least effect, though it would not open there', () => {
    // Baseline 121 ms: opens at 157.3 ms, continues above 139.15 ms. 3 % were above it at opening, now 2 %
    // are.
    const emitted = () => {
      const { evidence } = anomalyFixture();
      return anomaly({ evidence: { ...evidence, exceedances: 36 } });
    };
    expect(observe(emitted(), 0, stage(145))).toBe('anomalous');
    expect(observe(emitted(), 0, stage(60))).toBe('clear');
  });

  it('ends with a rest that is significantly nearer to the baseline than to the opening', () => {
    // 12 % were above 121 ms at opening, 1 % in the baseline: of 1000 requests 20 are much nearer to that.
    expect(observe(anomaly(), 0, stage(145))).toBe('clear');
    expect(observe(anomaly(), 0, stage(145), { isRising: true })).toBe('clear');
    // It still exceeds by all of the least effect, or where another stage does.
    expect(observe(anomaly(), 0, stage(158))).toBe('anomalous');
    expect(observe(anomaly(), 0, stage(145), { isOtherExceeding: true })).toBe('anomalous');
    // Few requests, an overdispersed series and a small opening leave it uncertain.
    expect(observe(anomaly(), 0, stage(145, 50))).toBe('anomalous');
    const { evidence } = anomalyFixture();
    const overdispersed = anomaly({ evidence: { ...evidence, dispersion: 20 } });
    expect(observe(overdispersed, 0, stage(145))).toBe('anomalous');
    // Where all requests were slow at opening, recovery of one in ten changes little.
    const all = anomaly({ evidence: { ...evidence, exceedances: 1200 } });
    const values = [...Array(100).fill(50), ...Array(900).fill(125)];
    expect(observe(all, 0, { ...stage(125), digest: TDigest.fromValues(values) })).toBe(
      'anomalous',
    );
  });

  it('continues while its evidence rises, until none of the last six windows matches the opening by itself', () => {
    const open = anomaly();
    const values = [...Array(120).fill(400), ...Array(880).fill(50)];
    observe(open, 0, { ...stage(400), digest: TDigest.fromValues(values) });
    const after = [1, 2, 3, 4, 5, 6, 7].map((window) =>
      observe(open, window * 10_000, stage(60), { isRising: true }),
    );
    expect(after.indexOf('clear')).toBe(5);
  });

  describe('that decays', () => {
    // Baseline 121 ms, least effect 157.3 ms: above 148.2 ms is pageable in the long run.
    const { evidence, requests } = anomalyFixture();
    /**
     * Every other window exceeds by itself, so clear ones never follow each other. Minutes until it is over.
     */
    const minutesTo = (tailMs: number, emitted: number, around = { beside: '', every: 0 }) => {
      const changed = { evidence: { ...evidence, exceedances: requests * emitted } };
      const open = anomaly(changed, 18);
      for (let window = 0; window < 6 * 180; window++) {
        const [shares, ms] = window % 2 === 0 ? [30, tailMs] : [2, 60];
        const values = [...Array(1000 - shares).fill(50), ...Array(shares).fill(ms)];
        const summary = { ...stage(ms), digest: TDigest.fromValues(values) };
        const isBeside = window % around.every === 1;
        const following = observe(open, window * 10_000, summary, {
          isRising: true,
          [around.beside]: isBeside,
        });
        expect([following, open.isOver && !open.hasDecayed]).toEqual(['anomalous', false]);
        if (open.isOver) return window / 6;
      }
      return undefined;
    };

    it('is over after an hour below the pageable effect', () => {
      expect(minutesTo(147, 0.04)).toBe(60);
    });

    it('continues while its quantile exceeds by nearly the least effect', () => {
      expect(minutesTo(149, 0.04)).toBeUndefined();
    });

    it('continues while it matches the opening, however small that was', () => {
      expect(minutesTo(147, 0.015)).toBeUndefined();
    });

    it.each(['isOtherExceeding', 'isOtherAnomalous'] as const)(
      'continues while %s, beyond chance',
      (beside) => {
        expect(minutesTo(147, 0.04, { beside, every: 18 })).toBeUndefined();
        expect(minutesTo(147, 0.04, { beside, every: 22 })).toBe(60);
      },
    );

    it('is held open by a replay', () => {
      const open = anomaly({ evidence: { ...evidence, exceedances: 36 } }, 18);
      for (let window = 0; window <= 6 * 60; window++) {
        observe(open, window * 10_000, stage(60), { isRising: true });
      }
      expect(open.hasDecayed).toBe(true);
      open.holdOpen();
      expect(open.isOver).toBe(false);
    });
  });

  it('is compared with the baseline at the time of day', () => {
    // Baseline 121 ms: twice that at noon, of which 300 ms are beyond half of the least effect, and 250 are
    // not.
    const open = anomaly({}, 1);
    expect(observe(open, 0, stage(250))).toBe('anomalous');
    expect(observe(open, 10 * 60 * minuteMs, stage(250), { baselineFactor: 2 })).toBe('clear');
    expect(open.baselineMs).toBe(242);
    expect(resolve(open, 'recovered', openedMs, 250).summary).toMatch(
      /: 250 ms \(baseline 242 ms\)$/,
    );
    expect(observe(anomaly(), 0, stage(320), { baselineFactor: 2 })).toBe('anomalous');
    expect(observe(anomaly(), 0, stage(100), { baselineFactor: 0.5 })).toBe('anomalous');
  });

  it('is compared with the measurement of an update from then on', () => {
    const open = anomaly();
    const larger = anomalyFixture({ observed_ms: 1_400, baseline_ms: 242, ratio: 1_400 / 242 });
    const lateMs = openedMs + 10 * minuteMs;
    observe(open, openedMs, stage(1_400), { baselineFactor: 2 });
    observe(open, lateMs, stage(1_400), { baselineFactor: 2 });
    const emitted = update(open, larger, lateMs, ['total', 'features'], 2);
    expect(emitted).toMatchObject({ state: 'updated', baseline_ms: 242 });
    observe(open, lateMs + 10_000, stage(1_400), { baselineFactor: 2.5 });
    expect(open.baselineMs).toBe(302.5);
  });

  it.each(['isOtherExceeding', 'isOtherAnomalous'] as const)('continues while %s', (beside) => {
    expect(observe(anomaly(), 0, stage(60), { [beside]: true })).toBe('anomalous');
    expect(observe(anomaly(), 0, stage(60), { [beside]: false })).toBe('clear');
  });

  it('looks back ten minutes at most, however few requests came since', () => {
    const open = anomaly();
    observe(open, 0, stage(400));
    const everyMinute = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((minute) =>
      observe(open, minute * minuteMs, stage(60, 1)),
    );
    // One request a minute is too few to evaluate, once the slow ones are that long ago.
    expect(everyMinute).toEqual([...Array(9).fill('anomalous'), undefined, undefined]);
    expect(open.silentMs(11 * minuteMs)).toBe(2 * minuteMs);
  });

  it('skips windows without requests, and counts its silence from the last evaluated one', () => {
    const open = anomaly();
    expect(observe(open, 0, stage(400))).toBe('anomalous');
    expect(observe(open, 10_000, undefined)).toBeUndefined();
    expect(observe(open, 20_000, undefined)).toBeUndefined();
    expect(open.silentMs(30_000)).toBe(30_000);
  });

  it('evaluates windows of too few requests together, once they are enough', () => {
    const open = anomaly();
    expect(observe(open, 0, stage(60, 20))).toBeUndefined();
    expect(open.silentMs(0)).toBe(0);
    expect(observe(open, 10_000, stage(60, 20))).toBe('clear');
    expect(observe(open, 20_000, stage(400, 20))).toBe('anomalous');
  });

  it('is not held open by one chance slow request among few', () => {
    // One request a window: thirty of them, five minutes, are evaluated together.
    const following = (slow: readonly number[], rising: readonly number[] = []) => {
      const open = anomaly();
      return Array.from({ length: 45 }, (_, window) => {
        const summary = stage(slow.includes(window) ? 400 : 60, 1);
        return observe(open, window * 10_000, summary, { isRising: rising.includes(window) });
      }).slice(29);
    };
    expect(following([32])).toEqual(Array(16).fill('clear'));
    expect(following([28, 32]).indexOf('anomalous')).toBe(3);
    // Its evidence rises with each slow request, and shows only that there was one.
    expect(following([], [32])).toEqual(Array(16).fill('clear'));
    expect(following([30], [32]).indexOf('anomalous')).toBe(3);
  });

  it('evaluates no more windows together than opening does', () => {
    const many = { ...options, min_requests: 100 };
    const following = (requests: number) => {
      const open = new OpenTail(anomalyFixture(), many, true, {
        clearWindows: 3,
        decayedMs: 60 * minuteMs,
      });
      const window = stage(60, requests);
      return Array.from({ length: 40 }, (_, i) => observe(open, i * 10_000, window));
    };
    // Thirty windows of three hold too few; forty would not, nor do twenty-five of four.
    expect(following(3)).toEqual(Array(40).fill(undefined));
    expect(following(4).indexOf('clear')).toBe(24);
  });

  it('emits at once that it has become critical, and never a lower severity', () => {
    const open = anomaly({ severity: 'warning' });
    const measured = anomalyFixture({ severity: 'critical', ratio: 4 });
    const event = updateAt(open, 10_000, measured);
    expect(event).toMatchObject({ state: 'updated', revision: 2, severity: 'critical', ratio: 4 });
    const calmer = anomalyFixture({ severity: 'warning', ratio: 6 });
    const later = updateAt(open, 11 * minuteMs, calmer);
    expect(later).toMatchObject({ revision: 3, severity: 'critical', ratio: 6 });
  });

  it('emits growth by half, five minutes after the last event at the earliest', () => {
    const open = anomaly({ ratio: 2 });
    const grown = anomalyFixture({ ratio: 3 });
    expect(updateAt(open, 5 * minuteMs - 10_000, grown)).toBeUndefined();
    expect(updateAt(open, 6 * minuteMs, anomalyFixture({ ratio: 2.9 }))).toBeUndefined();
    expect(updateAt(anomaly({ ratio: 2 }), 5 * minuteMs, grown)?.revision).toBe(2);
  });

  it('counts these minutes in event time, independently of when a window is evaluated', () => {
    const grown = anomalyFixture({ ratio: 3 });
    const updates = [0, 1, 60 * minuteMs].map((lateMs) => {
      const open = anomaly({ ratio: 2 });
      return [5 * minuteMs - 10_000, 5 * minuteMs].map((afterMs) => {
        return updateAt(open, afterMs, grown, { lateMs })?.revision;
      });
    });
    expect(updates).toEqual([
      [undefined, 2],
      [undefined, 2],
      [undefined, 2],
    ]);
  });

  it('is emitted once an hour at most, where it recurs', () => {
    const updateMinutes = (pauseWindows: number) => {
      const open = anomaly({ ratio: 2 }, 18);
      const emitted: number[] = [];
      for (let window = 0; window <= 6 * 75; window++) {
        const isOut = window % 24 < 24 - pauseWindows;
        observe(open, openedMs + window * 10_000, stage(isOut ? 400 : 60));
        if (window === 0) open.begin();
        const grown = anomalyFixture({ ratio: 2 ** (emitted.length + 2) });
        if (isOut && update(open, grown, openedMs, []) !== undefined) emitted.push(window / 6);
      }
      return emitted;
    };
    expect(updateMinutes(0)).toEqual([5, 15, 35, 75]);
    // Two windows are evaluated together, so three clear ones do not count yet.
    expect(updateMinutes(3)).toEqual([5, 15, 35, 75]);
    expect(updateMinutes(12)).toEqual([60]);
  });

  it('waits twice as long after each update', () => {
    const open = anomaly({ ratio: 1.5 });
    const update = (ratio: number, minutes: number) =>
      updateAt(open, minutes * minuteMs, anomalyFixture({ ratio }))?.revision;
    expect([update(3, 5), update(6, 14), update(6, 15), update(12, 34), update(12, 35)]).toEqual([
      2,
      undefined,
      3,
      undefined,
      4,
    ]);
  });

  it('emits only its end while the tail is clear', () => {
    const open = anomaly();
    const blame = [{ stage: 'queue', excess_ms: 1, share: 1 }];
    const inside = anomalyFixture({ stage: 'queue', blame, observed_ms: 150, ratio: 1.24 });
    expect(updateAt(open, 10 * minuteMs, inside)).toBeUndefined();
    expect(updateAt(open, 10 * minuteMs + 10_000, inside)).toBeUndefined();
    const out = { ...inside, observed_ms: 158, ratio: 1.31 };
    expect(updateAt(open, 10 * minuteMs + 20_000, out)?.revision).toBe(2);
  });

  it('emits another culprit when it explains half in two windows in a row', () => {
    const open = anomaly();
    const culprit = (share: number) => {
      const blame = [{ stage: 'queue', excess_ms: 100, share }];
      return anomalyFixture({ stage: 'queue', blame });
    };
    const emitted = [0.9, 0.4, 0.9, 0.9].map((share, i) => {
      return updateAt(open, 10 * minuteMs + i * 10_000, culprit(share));
    });
    expect(emitted.slice(0, 3)).toEqual([undefined, undefined, undefined]);
    expect(emitted[3]).toMatchObject({ stage: 'queue', revision: 2 });
  });

  it('blames another stage only where that one exceeds by its own requests', () => {
    const blamed = (stage: string) => {
      const blame = [{ stage, excess_ms: 100, share: 0.9 }];
      return anomalyFixture({ stage, blame, ratio: 40 });
    };
    const emitted = (stage: string, out: string[]) => {
      const open = anomaly();
      return [10, 11].map((minutes) => {
        return updateAt(open, minutes * minuteMs, blamed(stage), { out })?.stage;
      });
    };
    expect(emitted('queue', ['total', 'features'])).toEqual([undefined, undefined]);
    expect(emitted('queue', ['total'])).toEqual([undefined, undefined]);
    expect(emitted('queue', ['total', 'queue'])).toEqual(['queue', undefined]);
    // Unaccounted time is blamed where no stage exceeds.
    expect(emitted('unaccounted', ['total', 'features'])).toEqual([undefined, undefined]);
    expect(emitted('unaccounted', ['total'])).toEqual(['unaccounted', undefined]);
    // The emitted stage stays blamed.
    expect(emitted(anomalyFixture().stage, ['total'])).toEqual([anomalyFixture().stage, undefined]);
  });

  it('emits growth over the highest emitted value, not over the last', () => {
    const open = anomaly({ ratio: 2 });
    const culprit = (stage: string, ratio: number) =>
      anomalyFixture({ stage, ratio, blame: [{ stage, excess_ms: 100, share: 0.9 }] });
    const { stage: first } = anomalyFixture();
    expect(updateAt(open, 5 * minuteMs, culprit(first, 4))?.ratio).toBe(4);
    expect(updateAt(open, 20 * minuteMs, culprit('queue', 2))).toBeUndefined();
    expect(updateAt(open, 20 * minuteMs + 10_000, culprit('queue', 2))?.ratio).toBe(2);
    expect(updateAt(open, 60 * minuteMs, culprit('queue', 5.9))).toBeUndefined();
    expect(updateAt(open, 60 * minuteMs + 10_000, culprit('queue', 6))?.ratio).toBe(6);
  });

  it('is measured when it may have become critical, or after a pause', () => {
    const afterMinutes = (minutes: number, severity: AnomalyEvent['severity']) => {
      const open = anomaly({ severity });
      observe(open, openedMs + minutes * minuteMs, stage(400));
      return ['total', 'queue'].map((one) => open.mayUpdate(one));
    };
    expect(afterMinutes(1, 'warning')).toEqual([true, false]);
    expect(afterMinutes(1, 'critical')).toEqual([false, false]);
    expect(afterMinutes(6, 'critical')).toEqual([true, true]);
  });

  it('is over as long after the tail fell as the setting says, though it is evaluated with slow windows', () => {
    // 12 % were slow at opening; six windows are evaluated together.
    const { evidence } = anomalyFixture();
    const measured_at = new Date(0).toISOString();
    const open = anomaly({ evidence: { ...evidence, windows: 6 }, measured_at }, 18);
    const tails = [...Array(6).fill(400), ...Array(18).fill(60)];
    const over = tails.map((tailMs, i) => {
      const values = Array.from({ length: 50 }, (_, n) => (n < 6 ? tailMs : 50));
      observe(open, i * 10_000, { ...stage(tailMs, 50), digest: TDigest.fromValues(values) });
      return open.isOver;
    });
    expect(over.indexOf(true)).toBe(23);
    expect(resolve(open, 'recovered', 240_000, 60).ended_at).toBe('1970-01-01T00:01:00.000Z');
  });

  it('gives the reason for its end in its last event', () => {
    const at = openedMs + minuteMs;
    const subject = 'p99 of ranker (search, eu-west-1)';
    expect(resolve(anomaly(), 'recovered', at, 123.4)).toMatchObject({
      state: 'resolved',
      revision: 2,
      resolution: 'recovered',
      resolved_at: new Date(at).toISOString(),
      summary: `${subject} recovered: 123 ms (baseline 121 ms)`,
    });
    expect(resolve(anomaly(), 'no_traffic', at, undefined).summary).toBe(
      `${subject}: too few requests to evaluate`,
    );
    expect(resolve(anomaly(), 'rebaselined', at, 400).summary).toBe(
      `${subject} has stayed at 400 ms for 82 s and is now the baseline (was 121 ms)`,
    );
  });
});
