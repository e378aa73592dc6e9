import { totalStage } from '../../base/dimensions.ts';
import type { SeriesReference, StageReference } from '../../baseline/series-reference.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { type ReleaseOutcome, ShiftTest } from './shift-test.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

/** A stage's test, and the renewal of the baseline that it compares with, if any. */
interface JudgedStage {
  readonly stage: string;
  readonly test: ShiftTest;
  renewal: object | undefined;
}

const noVerdicts: readonly ShiftVerdict[] = [];

/** Tests of one series, by stage. */
export class StageTests {
  readonly #options: DetectOptions;
  readonly #pool: PeakPool;
  readonly #tests = new Map<string, ShiftTest>();
  /** Tests of the last window in its order, which the next one mostly shares. */
  readonly #judged: JudgedStage[] = [];

  /** @param pool shared by all tests of all series. */
  constructor(options: DetectOptions, pool: PeakPool) {
    this.#options = options;
    this.#pool = pool;
  }

  get size(): number {
    return this.#tests.size;
  }

  of(stage: string): ShiftTest | undefined {
    return this.#tests.get(stage);
  }

  /** Stages with a test as keys, in the order in which they first occurred. */
  get stages(): ReadonlyMap<string, unknown> {
    return this.#tests;
  }

  /** Drops the test of a stage. */
  forget(stage: string): void {
    this.#tests.delete(stage);
    this.#judged.length = 0;
  }

  /**
   * Returns the verdicts of a window's unusual stages, mostly none. It skips stages without enough learnt
   * windows.
   *
   * @param before tests of the series that this one replaces, from which tests of new stages inherit.
   */
  evaluate(
    window: SeriesWindow,
    levels: TestLevels,
    baseline: SeriesReference,
    before: StageTests | undefined,
  ): readonly ShiftVerdict[] {
    let verdicts: ShiftVerdict[] | undefined;
    let index = 0;
    let total: TDigest | undefined;
    let hasTotal = false;
    for (const summary of window.stages.values()) {
      const judged = this.#at(index, summary.stage, before);
      index += 1;
      if (judged.renewal !== baseline.renewal) {
        if (!hasTotal) total = this.#referenceOf(totalStage, baseline)?.digest;
        hasTotal = true;
        judged.test.compareWith(this.#referenceOf(summary.stage, baseline), total);
        judged.renewal = baseline.renewal;
      }
      const verdict = judged.test.evaluate(window.windowStartMs, summary, levels);
      if (verdict === undefined) continue;
      verdicts ??= [];
      verdicts.push(verdict);
    }
    // Most windows have no verdict: one shared empty list avoids an allocation.
    return verdicts ?? noVerdicts;
  }

  /** Releases a window from quarantine: `ShiftTest.learn`. */
  learn(startMs: number, as: ReleaseOutcome): void {
    for (const test of this.#tests.values()) test.learn(startMs, as);
  }

  /** Ends an emitted anomaly that recovered by itself: `ShiftTest.endEmitted`. */
  endEmitted(levels: TestLevels): void {
    for (const test of this.#tests.values()) test.endEmitted(levels);
  }

  /** Resets the evidence: `ShiftTest.forgetRun`. */
  forgetRun(): void {
    for (const test of this.#tests.values()) test.forgetRun();
  }

  /** Starts over with another baseline: `ShiftTest.rebase`. */
  rebase(): void {
    for (const test of this.#tests.values()) test.rebase();
  }

  serialize(state: StateArchive): void {
    state.map(this.#tests, (stage) => this.#newTest(stage));
  }

  /** Stage at an index of a window. */
  #at(index: number, stage: string, before: StageTests | undefined): JudgedStage {
    const last = this.#judged[index];
    if (last?.stage === stage) return last;
    let test = this.#tests.get(stage);
    if (test === undefined) {
      test = this.#newTest(stage);
      const inherited = before?.of(stage);
      if (inherited !== undefined) test.inherit(inherited);
      this.#tests.set(stage, test);
    }
    const judged = { stage, test, renewal: undefined };
    this.#judged[index] = judged;
    return judged;
  }

  #referenceOf(stage: string, baseline: SeriesReference): StageReference | undefined {
    return baseline.reference(stage, this.#options.min_baseline_windows);
  }

  #newTest(stage: string): ShiftTest {
    return new ShiftTest(stage, this.#options, this.#pool);
  }
}
