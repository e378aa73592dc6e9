import { totalStage } from '../../base/dimensions.ts';
import type { SeriesReference, StageReference } from '../../baseline/series-reference.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { TestLevels } from '../options/page-budget.ts';
import type { PeakPool } from '../score/peak-pool.ts';
import { type Settling, ShiftTest } from './shift-test.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

/** A stage, and the renewal of a baseline as of which its test compares with it, if it does. */
interface JudgedStage {
  readonly stage: string;
  readonly test: ShiftTest;
  renewal: object | undefined;
}

const nothing: readonly ShiftVerdict[] = [];

/** The tests of one series, by stage. */
export class StageTests {
  readonly #options: DetectOptions;
  readonly #pool: PeakPool;
  readonly #tests = new Map<string, ShiftTest>();
  /** Those of the last window, in its order, which the next one mostly has, too. */
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

  /** By stages that have a test, in the order in which they were met. */
  get stages(): ReadonlyMap<string, unknown> {
    return this.#tests;
  }

  /** A stage is judged no more. */
  forget(stage: string): void {
    this.#tests.delete(stage);
    this.#judged.length = 0;
  }

  /**
   * What is odd about a window and those before it: nothing, mostly. Stages of which too little was learnt
   * are not judged.
   *
   * @param before the tests of the series that this one has come to replace: those of new stages begin with
   * what they know.
   */
  evaluate(
    window: SeriesWindow,
    levels: TestLevels,
    baseline: SeriesReference,
    before: StageTests | undefined,
  ): readonly ShiftVerdict[] {
    let verdicts: ShiftVerdict[] | undefined;
    let place = 0;
    let total: TDigest | undefined;
    let isTotalAsked = false;
    for (const summary of window.stages.values()) {
      const judged = this.#at(place, summary.stage, before);
      place += 1;
      if (judged.renewal !== baseline.renewal) {
        if (!isTotalAsked) total = this.#referenceOf(totalStage, baseline)?.digest;
        isTotalAsked = true;
        judged.test.compareWith(this.#referenceOf(summary.stage, baseline), total);
        judged.renewal = baseline.renewal;
      }
      const verdict = judged.test.evaluate(window.windowStartMs, summary, levels);
      if (verdict === undefined) continue;
      verdicts ??= [];
      verdicts.push(verdict);
    }
    // Of most windows there is nothing to say: nothing is made for them.
    return verdicts ?? nothing;
  }

  /** Lets a window out of quarantine: `ShiftTest.settle`. */
  learn(startMs: number, as: Settling): void {
    for (const test of this.#tests.values()) test.learn(startMs, as);
  }

  /** What was told is over by itself: `ShiftTest.endEmitted`. */
  endEmitted(levels: TestLevels): void {
    for (const test of this.#tests.values()) test.endEmitted(levels);
  }

  /** What they said has been dealt with: `ShiftTest.forgetRun`. */
  forgetRun(): void {
    for (const test of this.#tests.values()) test.forgetRun();
  }

  /** The baseline is another one from now on. */
  rebase(): void {
    for (const test of this.#tests.values()) test.rebase();
  }

  serialize(state: StateArchive): void {
    state.map(this.#tests, (stage) => this.#newTest(stage));
  }

  /** The stage that has a place in a window. */
  #at(place: number, stage: string, before: StageTests | undefined): JudgedStage {
    const known = this.#judged[place];
    if (known?.stage === stage) return known;
    let test = this.#tests.get(stage);
    if (test === undefined) {
      test = this.#newTest(stage);
      const inherited = before?.of(stage);
      if (inherited !== undefined) test.inherit(inherited);
      this.#tests.set(stage, test);
    }
    const judged = { stage, test, renewal: undefined };
    this.#judged[place] = judged;
    return judged;
  }

  #referenceOf(stage: string, baseline: SeriesReference): StageReference | undefined {
    return baseline.reference(stage, this.#options.min_baseline_windows);
  }

  #newTest(stage: string): ShiftTest {
    return new ShiftTest(stage, this.#options, this.#pool);
  }
}
