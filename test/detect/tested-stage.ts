import { BaselinePeriods } from '../../src/baseline/baseline-periods.ts';
import { StageBaseline } from '../../src/baseline/stage-baseline.ts';
import { quarantineWindows } from '../../src/detect/options/detect-options.ts';
import { pageBudget } from '../../src/detect/options/page-budget.ts';
import { PeakPool } from '../../src/detect/score/peak-pool.ts';
import { type ReleaseOutcome, ShiftTest } from '../../src/detect/tail/shift-test.ts';
import type { ShiftVerdict } from '../../src/detect/tail/shift-verdict.ts';
import { Random } from '../../src/generate/random.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { detectOptions } from '../scenarios/run-scenario.ts';

const options = detectOptions();
const levels = pageBudget(1e-3, 1);

/** Milliseconds of a request in a window. */
export type Draw = (random: Random, window: number) => number;

/** A test, and the windows that it evaluates and learns as in SeriesDetector. */
export class TestedStage {
  readonly test: ShiftTest;
  readonly #random = new Random('shift');
  readonly #baseline = new StageBaseline(new BaselinePeriods(options.baseline, options.window));
  readonly #waiting: {
    readonly startMs: number;
    readonly summary: ReturnType<typeof summaryOf>;
  }[] = [];
  window = 0;

  constructor(stage = 'total') {
    this.test = new ShiftTest(stage, options, new PeakPool());
  }

  /** Evaluates windows of so many requests; returns the verdicts of the last ones. */
  run(windows: number, draw: Draw, requests = 30, as: ReleaseOutcome = 'learnt') {
    const verdicts: (ShiftVerdict & { window: number })[] = [];
    for (let i = 0; i < windows; i++, this.window++) {
      const startMs = this.window * options.window;
      const values = Array.from({ length: requests }, () => draw(this.#random, this.window));
      const summary = summaryOf(values);
      const reference = this.#baseline.windows < 20 ? undefined : this.#baseline.reference();
      this.test.compareWith(reference, undefined);
      const verdict = this.test.evaluate(startMs, summary, levels);
      if (verdict !== undefined) verdicts.push({ ...verdict, window: i });
      this.#waiting.push({ startMs, summary });
      if (this.#waiting.length > quarantineWindows) this.#learn(as);
    }
    return verdicts;
  }

  #learn(as: ReleaseOutcome): void {
    const oldest = this.#waiting.shift();
    if (oldest === undefined) return;
    this.test.learn(oldest.startMs, as);
    if (as === 'learnt') this.#baseline.learn(oldest.startMs, oldest.summary);
  }
}

export function summaryOf(values: readonly number[]) {
  const none = { bands: [], amounts: [] };
  const counts = { errors: 0, timeouts: 0, cancelled: 0, sumMs: 0, minMs: 0, maxMs: 0 };
  const digest = TDigest.fromValues(values, 200);
  return {
    ...{ stage: 'total', requests: values.length, ...counts },
    ...{ digest, bands: none, bandsMs: none },
  };
}
