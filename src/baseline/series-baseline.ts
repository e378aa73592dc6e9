import type { SeriesWindow } from '../series/series-window.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import { BaselinePeriods, isYoung } from './baseline-periods.ts';
import type { SeriesReference, StageBands, StageReference } from './series-reference.ts';
import { StageBaseline } from './stage-baseline.ts';

/**
 * The recent past of a series, by stage.
 *
 * Windows are added to the sums of their stages a minute's at once, or when somebody asks for what they
 * change: of many series those sums are in no cache by then, and to fetch them takes longer than to add.
 */
export class SeriesBaseline implements SeriesReference {
  readonly #periods: BaselinePeriods;
  readonly #stages = new Map<string, StageBaseline>();
  /** Windows that are not in the sums yet, oldest first. */
  #pending: SeriesWindow[] = [];
  /** Until then windows may wait, of no other stages than the last one that was added had. */
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #quietStages: SeriesWindow['stages'] = new Map();
  #firstMs = Number.NaN;
  #lastMs = Number.NaN;
  /** Begin of the block that it has followed the day to. */
  #followedMs = Number.NaN;
  #windows = 0;
  #renewal: object = {};

  constructor(baselineMs: number, windowMs: number) {
    this.#periods = new BaselinePeriods(baselineMs, windowMs);
  }

  /** Windows learnt since it was made. */
  get windows(): number {
    return this.#windows;
  }

  /** Start of the first window learnt, NaN before it. */
  get firstMs(): number {
    return this.#firstMs;
  }

  /** What `reference` gives is the same for as long as this is: another object in each baseline. */
  get renewal(): object {
    return this.#renewal;
  }

  get stageNames(): Iterable<string> {
    this.#addPending();
    return this.#stages.keys();
  }

  /** Adds a window, later than all before. */
  learn(window: SeriesWindow): void {
    if (this.#windows === 0) this.#firstMs = window.windowStartMs;
    this.#windows += 1;
    this.#lastMs = window.windowStartMs;
    this.#followedMs = Number.NaN;
    this.#pending.push(window);
    if (window.windowStartMs >= this.#quietUntilMs || this.#isNews(window)) this.#addPending();
  }

  /** A stage is learnt no more. */
  forget(stage: string): void {
    this.#addPending();
    this.#stages.delete(stage);
  }

  /** Keeps what it holds until as much has come after `fromMs`: time before that did not count. */
  hold(fromMs: number): void {
    this.#addPending();
    for (const baseline of this.#stages.values()) baseline.hold(fromMs);
  }

  /**
   * Takes the time of a window that is not learnt. When for a baseline's length none was, what is usual goes with the
   * day from then on, until the next one is.
   */
  advance(windowStartMs: number): void {
    if (!(windowStartMs - this.#lastMs >= this.#periods.baselineMs)) return;
    const blockMs = this.#periods.blockOf(windowStartMs);
    if (blockMs === this.#followedMs) return;
    this.#addPending();
    this.#followedMs = blockMs;
    this.#renewal = {};
    for (const baseline of this.#stages.values()) baseline.advance(blockMs);
  }

  serialize(state: StateArchive): void {
    this.#addPending();
    state.section('series baseline', 2, () => {
      state.map(this.#stages, () => this.#newStage());
      this.#firstMs = state.number(this.#firstMs);
      this.#windows = state.number(this.#windows);
      this.#lastMs = state.number(this.#lastMs);
      this.#followedMs = state.number(this.#followedMs);
    });
  }

  /** Bands of a stage; undefined before its first window. */
  bands(stage: string): StageBands | undefined {
    this.#addPending();
    return this.#stages.get(stage)?.bands();
  }

  /** undefined while the stage has fewer than `minWindows` windows. */
  reference(stage: string, minWindows: number): StageReference | undefined {
    let baseline = this.#stages.get(stage);
    if (baseline === undefined || baseline.windows < minWindows || !baseline.isRenewed) {
      this.#addPending();
      baseline = this.#stages.get(stage);
    }
    if (baseline === undefined || baseline.windows < minWindows) return undefined;
    return baseline.reference();
  }

  /** In the order in which they came: sums of milliseconds are the same to the last bit. */
  #addPending(): void {
    const last = this.#pending.at(-1);
    if (last === undefined) return;
    for (const { windowStartMs, stages } of this.#pending) {
      for (const summary of stages.values()) {
        if (summary.digest.count > 0) this.#stageOf(summary.stage).learn(windowStartMs, summary);
      }
    }
    this.#pending = [];
    this.#renewal = {};
    this.#quietUntilMs = this.#periods.quietUntil(last.windowStartMs);
    this.#quietStages = last.stages;
    for (const stage of last.stages.keys()) {
      const baseline = this.#stages.get(stage);
      const isDue = baseline !== undefined && isYoung(baseline.windows);
      if (isDue) this.#quietUntilMs = Number.NEGATIVE_INFINITY;
    }
  }

  /** Whether it has a stage that may not have been met in its minute: what that renews is due. */
  #isNews({ stages }: SeriesWindow): boolean {
    for (const stage of stages.keys()) if (!this.#quietStages.has(stage)) return true;
    return false;
  }

  #stageOf(stage: string): StageBaseline {
    let baseline = this.#stages.get(stage);
    if (baseline === undefined) {
      baseline = this.#newStage();
      this.#stages.set(stage, baseline);
    }
    return baseline;
  }

  #newStage(): StageBaseline {
    return new StageBaseline(this.#periods);
  }
}
