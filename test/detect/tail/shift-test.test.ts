import { describe, expect, it } from 'vitest';
import { pageBudget } from '../../../src/detect/options/page-budget.ts';
import { logExceedanceTail } from '../../../src/detect/stats/exceedance-tail.ts';
import { CusumBank } from '../../../src/detect/tail/evidence/cusum-bank.ts';
import type { ShiftVerdict } from '../../../src/detect/tail/shift-verdict.ts';
import { Random } from '../../../src/generate/random.ts';
import { Arena } from '../../../src/memory/arena.ts';
import { StateWriter } from '../../../src/snapshot/archive-writer.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { type Draw, TestedStage } from '../tested-stage.ts';

const options = detectOptions();
const levels = pageBudget(1e-3, 1);
const perDay = 8_640;

const baseline: Draw = (random) => random.lognormal(50, 0.3);
const slowed =
  (share: number, factor: number): Draw =>
  (random, window) =>
    baseline(random, window) * (random.chance(share) ? factor : 1);

function learnt(stage?: string, days = 1.2): TestedStage {
  const tested = new TestedStage(stage);
  tested.run(Math.round(days * perDay), baseline);
  return tested;
}

describe('ShiftTest', () => {
  it('opens nothing in two days without a fault', () => {
    const verdicts = new TestedStage().run(2 * perDay, baseline);
    expect(verdicts.length).toBeGreaterThan(0);
    expect(verdicts.filter(({ opens }) => opens)).toEqual([]);
  });

  it('opens on the first window of an outage, with 30 requests in it', () => {
    const [first] = learnt().run(1, slowed(1, 10));
    expect(first).toMatchObject({
      opens: true,
      window: 0,
      windows: 1,
      requests: 30,
      exceeding: true,
    });
    expect(first?.startedAtMs).toBe(first?.windowStartMs);
  });

  it('opens on the second window of an outage, where the first lacks one request', () => {
    const fewer = options.min_requests - 1;
    const verdicts = learnt().run(2, slowed(1, 10), fewer);
    expect(verdicts.map(({ opens, requests }) => [opens, requests])).toEqual([
      [false, fewer],
      [true, 2 * fewer],
    ]);
  });

  it('opens in a few minutes when one request in ten becomes three times as slow', () => {
    const opening = learnt()
      .run(60, slowed(0.1, 3))
      .find(({ opens }) => opens);
    expect(opening?.window).toBeLessThan(18);
    expect(opening?.exceedances).toBeGreaterThan(opening?.expected ?? 0);
    expect(opening?.logP).toBeLessThanOrEqual(opening?.logAlpha ?? 0);
  });

  it('names the quantile that shows it: the p99 where three requests in a hundred are slow', () => {
    const opening = learnt()
      .run(60, slowed(0.03, 10), 200)
      .find(({ opens }) => opens);
    expect([options.quantiles[0], opening?.q]).toEqual([0.95, 0.99]);
  });

  it('never opens on a clear effect below the least one', () => {
    const verdicts = learnt().run(300, slowed(1, 1.12), 300);
    expect(Math.min(...verdicts.map(({ logP }) => logP))).toBeLessThan(-100);
    expect(verdicts.filter(({ opens }) => opens)).toEqual([]);
  });

  it('does not open on a few slow requests after minutes below the least effect: half of them must show it', () => {
    const tested = learnt();
    const small = slowed(1, 1.12);
    const before = tested.run(90, small);
    const [last] = before.slice(-1);
    expect(last?.logP).toBeLessThan(last?.logAlpha ?? 0);
    const draw: Draw = (random, window) => small(random, window) * (random.chance(0.15) ? 1.8 : 1);
    const verdicts = tested.run(40, draw);
    const shown = verdicts.filter(({ exceedances, expected }) => exceedances >= 3 * expected);
    expect(shown[0]?.window).toBeLessThan(6);
    expect(before.some(({ opens }) => opens)).toBe(false);
    const opening = verdicts.find(({ opens }) => opens);
    expect(opening?.window).toBeGreaterThan(shown[0]?.window ?? 0);
    expect(opening?.windows).toBeGreaterThanOrEqual(15);
  });

  it('does not open on a few chance slow requests, though much evidence is for a small effect', () => {
    const small = slowed(1, 1.1);
    const draw: Draw = (random, window) => small(random, window) * (random.chance(0.02) ? 2 : 1);
    const verdicts = learnt().run(150, draw, 10);
    const byChance = ({ exceedances, requests, expected }: ShiftVerdict) =>
      logExceedanceTail(exceedances, requests, expected / requests, 1) > Math.log(1e-3);
    const shown = verdicts.filter(
      ({ anomalous, logP, logAlpha }) => anomalous && logP <= 1.3 * logAlpha && logP > 2 * logAlpha,
    );
    const [few, many] = [shown.filter(byChance), shown.filter((verdict) => !byChance(verdict))];
    expect(few.length).toBeGreaterThan(0);
    expect(few.some(({ opens }) => opens)).toBe(false);
    expect(many.some(({ opens }) => opens)).toBe(true);
  });

  it('does not open on one window of a few very slow requests, nor on one of a stage', () => {
    expect(learnt().run(1, slowed(0.1, 8), 300)[0]).toMatchObject({
      opens: false,
      exceeding: true,
    });
    expect(learnt('forward').run(1, slowed(1, 10))[0]).toMatchObject({
      opens: false,
      exceeding: true,
    });
  });

  it('needs ninety requests of a stage, half as many where it is beyond doubt', () => {
    const firstOf = (draw: Draw) =>
      learnt('forward')
        .run(12, draw, 30)
        .find(({ opens }) => opens)?.window;
    expect(firstOf(slowed(1, 2))).toBe(1);
    expect(firstOf(slowed(0.5, 1.6))).toBeGreaterThanOrEqual(2);
  });

  it('opens for a burst once: an emitted one that ended by itself is remembered from then on', () => {
    const burst = slowed(0.25, 3);
    const opensAgain = (isEmitted: boolean) => {
      const tested = learnt();
      const opens = (verdicts: readonly ShiftVerdict[]) =>
        verdicts.some((verdict) => verdict.opens);
      expect(opens(tested.run(6, burst))).toBe(true);
      tested.run(12, baseline, 30, 'open');
      if (isEmitted) tested.test.endEmitted(levels);
      tested.test.forgetRun();
      tested.run(600, baseline);
      return opens(tested.run(6, burst));
    };
    expect([opensAgain(false), opensAgain(true)]).toEqual([true, false]);
  });

  it('requires a fifth more evidence of a stage than of whole requests, as long as it may be a burst', () => {
    const firstOf = (stage: string) => {
      const verdicts = learnt(stage).run(30, slowed(0.15, 2.5), 30);
      const clear = verdicts.findIndex(({ logP, logAlpha }) => logP <= logAlpha);
      const opening = verdicts.findIndex(({ opens }) => opens);
      return { verdicts, clear, opening };
    };
    const total = firstOf('total');
    expect(total.opening).toBe(total.clear);
    const { verdicts, clear, opening } = firstOf('forward');
    expect(opening).toBeGreaterThan(clear);
    const times = ({ logP, logAlpha }: ShiftVerdict) => logP / logAlpha;
    expect(verdicts.slice(clear, opening).every((verdict) => times(verdict) < 1.2)).toBe(true);
    expect(times(verdicts[opening] as ShiftVerdict)).toBeGreaterThanOrEqual(1.2);
  });

  it('opens on durations that the baseline never has, though the share of slow requests varies widely', () => {
    // Up to six in ten are four times as slow, another part in each window.
    const part = (window: number) => 0.6 * new Random(`part ${window}`).uniform() ** 2;
    const overdispersed: Draw = (random, window) =>
      baseline(random, window) * (random.chance(part(window)) ? 4 : 1);
    const tested = new TestedStage();
    expect(tested.run(2 * perDay, overdispersed).filter(({ opens }) => opens)).toEqual([]);
    // The sum of their evidence does not find it in forty minutes.
    const opening = tested
      .run(120, (random, window) => overdispersed(random, window) * (random.chance(0.05) ? 3 : 1))
      .find(({ opens }) => opens);
    expect(opening?.window).toBeLessThan(60);
  });

  it('remembers anomalies at this time of the day before, of its own, of its first hour and of its predecessor', () => {
    const job = slowed(0.3, 4);
    /** True where a job an hour after the beginning, or at it, counts as recurring the next day. */
    const recursAfter = (at: number, first: Draw, heir = false) => {
      const before = new TestedStage('features');
      before.run(at, baseline);
      before.run(60, first);
      before.run(1_200 - at, baseline);
      const after = heir ? new TestedStage('features') : before;
      if (heir) after.test.inherit(before.test);
      after.window = perDay - 600 + at;
      after.run(600, baseline);
      return after
        .run(60, job)
        .slice(-20)
        .map(({ recurs }) => recurs);
    };
    const all = (recurs: boolean) => Array(20).fill(recurs);
    expect(recursAfter(600, job)).toEqual(all(true));
    expect(recursAfter(600, job, true)).toEqual(all(true));
    // No baseline existed then.
    expect(recursAfter(0, job)).toEqual(all(true));
    expect(recursAfter(12, job, true)).toEqual(all(true));
    expect(recursAfter(600, baseline)).toEqual(all(false));
    expect(recursAfter(0, baseline)).toEqual(all(false));
    // A different shape is another fault, however clear.
    expect(recursAfter(600, slowed(1, 2))).toEqual(all(false));
  });

  it('waits in a young series until it has lasted, or is beyond doubt', () => {
    const firstOf = (draw: Draw) =>
      learnt('total', 0.02)
        .run(18, draw, 100)
        .find(({ opens }) => opens)?.window;
    expect(firstOf(slowed(0.12, 2))).toBeGreaterThanOrEqual(3);
    expect(firstOf(slowed(1, 10))).toBeLessThanOrEqual(1);
  });

  it('opens nothing for what is over', () => {
    const tested = learnt();
    tested.run(5, slowed(0.3, 4));
    const after = tested.run(12, baseline);
    expect(after.filter(({ opens }) => opens)).toEqual([]);
    expect(after.filter(({ rising, window }) => rising && window >= 6)).toEqual([]);
  });

  it('drops evidence that has fallen far from its peak, long before it reaches zero', () => {
    const tested = learnt();
    const most = (verdicts: readonly ShiftVerdict[]) =>
      Math.max(0, ...verdicts.map(({ logP }) => -logP));
    const peak = most(tested.run(60, slowed(0.1, 4)));
    // Baseline requests reduce it slowly; below 60 % of the peak counts as over.
    const scores = tested.run(300, baseline).map(({ logP }) => -logP);
    const fading = scores.filter((score) => score > 20);
    expect(fading.length).toBeGreaterThan(0);
    expect(Math.min(...fading)).toBeGreaterThan(0.5 * peak);
  });

  it('requires twice as much when as much came the day before', () => {
    const tested = learnt();
    const burst = () => tested.run(60, slowed(0.1, 3));
    expect(burst().some(({ opens }) => opens)).toBe(true);
    tested.run(perDay - 60, baseline);
    const again = burst();
    expect(again.filter(({ opens }) => opens)).toEqual([]);
    expect(again.some(({ recurs }) => recurs)).toBe(true);
  });

  it('is as sensitive for a new version as for its predecessor', () => {
    const before = learnt('forward');
    const young = new TestedStage('forward');
    young.test.inherit(before.test);
    young.run(60, baseline);
    const opening = young.run(60, slowed(0.3, 3)).find(({ opens }) => opens);
    expect(opening?.window).toBeLessThan(6);
  });

  it('restarts against another baseline', () => {
    const tested = learnt();
    tested.run(4, slowed(0.3, 4));
    tested.test.rebase();
    expect(tested.run(2, baseline)).toEqual([]);
  });

  it('forgets an effect of hours soon after its end', () => {
    const tested = new TestedStage();
    tested.run(perDay, baseline);
    expect(tested.run(6 * 60 * 3, slowed(0.1, 3), 30, 'resolved').at(-1)?.rising).toBe(true);
    const after = tested.run(360, baseline, 30, 'resolved');
    expect(after.at(-1)?.window ?? 0).toBeLessThan(90);
  });

  it('scores the same wherever its memory grows', () => {
    const overdispersed: Draw = (random, window) =>
      baseline(random, window) * (random.chance(window % 3 === 0 ? 0.3 : 0.02) ? 4 : 1);
    const saved = (prepare: () => void) => {
      const tested = new TestedStage();
      for (let window = 0; window < 50; window++) {
        // Their variation is found soon after the first ones are learnt.
        if (window >= 32 && window < 42) prepare();
        tested.run(1, overdispersed, 200);
      }
      const writer = new StateWriter();
      tested.test.serialize(writer);
      return writer.drain();
    };
    const grown = saved(fillMemory);
    expect(saved(() => {}).equals(grown)).toBe(true);
  });
});

/** Fills the memory, so that the next evidence makes it grow. */
function fillMemory(): void {
  const memory = Arena.shared();
  const before = memory.doubles.length;
  let last = memory.allocate(CusumBank.doubles);
  while (memory.doubles.length === before) last = memory.allocate(CusumBank.doubles);
  const left = memory.doubles.length - last.offset - last.doubles;
  memory.allocate(left - (left % CusumBank.doubles));
}
