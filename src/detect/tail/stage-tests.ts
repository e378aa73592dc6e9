import { totalStage } from '../../base/dimensions.ts';
import type { SeriesReference, StageReference } from '../../baseline/series-reference.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { ShiftTest } from './shift-test.ts';
import type { ShiftVerdict } from './shift-verdict.ts';
import { effectOptionsOf } from './tail-threshold.ts';

/** A stage's test, and the renewal of the baseline that it compares with, if any. */
interface StageTest {
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
  readonly #last: StageTest[] = [];

  /** @param pool shared by all tests of all series. */
  constructor(options: DetectOptions, pool: PeakPool) {
    this.#options = options;
    this.#pool = pool;
  }

  /** Tests by stage, in the order in which the stages first occurred. */
  get byStage(): ReadonlyMap<string, ShiftTest> {
    return this.#tests;
  }

  get all(): Iterable<ShiftTest> {
    return this.#tests.values();
  }

  /** Drops the test of a stage. */
  forget(stage: string): void {
    this.#tests.delete(stage);
    this.#last.length = 0;
  }

  /**
   * Returns the verdicts of a window's unusual stages, mostly none.
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
    for (const summary of window.stages.values()) {
      const one = this.#at(index, summary.stage, before);
      index += 1;
      if (one.renewal !== baseline.renewal) {
        const total = this.#referenceOf(totalStage, baseline)?.digest;
        one.test.compareWith(this.#referenceOf(summary.stage, baseline), total);
        one.renewal = baseline.renewal;
      }
      const verdict = one.test.evaluate(window.windowStartMs, summary, levels);
      if (verdict === undefined) continue;
      verdicts ??= [];
      verdicts.push(verdict);
    }
    // Most windows have no verdict: one shared empty list avoids an allocation.
    return verdicts ?? noVerdicts;
  }

  serialize(state: StateArchive): void {
    state.map(this.#tests, (stage) => this.#newTest(stage));
  }

  /** Test of the stage at an index of a window. */
  #at(index: number, stage: string, before: StageTests | undefined): StageTest {
    const last = this.#last[index];
    if (last?.stage === stage) return last;
    let test = this.#tests.get(stage);
    if (test === undefined) {
      test = this.#newTest(stage);
      const inherited = before?.byStage.get(stage);
      if (inherited !== undefined) test.inherit(inherited);
      this.#tests.set(stage, test);
    }
    const one = { stage, test, renewal: undefined };
    this.#last[index] = one;
    return one;
  }

  #referenceOf(stage: string, baseline: SeriesReference): StageReference | undefined {
    return baseline.reference(stage, this.#options.min_baseline_windows);
  }

  #newTest(stage: string): ShiftTest {
    return new ShiftTest(stage, effectOptionsOf(stage, this.#options), this.#pool);
  }
}
