import type { SeriesWindow } from '../series/series-window.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import { BaselinePeriods, isYoung } from './baseline-periods.ts';
import type { SeriesReference, StageBands, StageReference } from './series-reference.ts';
import { StageBaseline } from './stage-baseline.ts';

/**
 * Baseline of a series, by stage.
 *
 * Windows are added to the sums once a minute, or when a reader needs them. With many series the sums are out
 * of cache, and fetching them costs more than adding.
 */
export class SeriesBaseline implements SeriesReference {
  readonly #periods: BaselinePeriods;
  readonly #stages = new Map<string, StageBaseline>();
  /** Windows not yet added to the sums, oldest first. */
  #pending: SeriesWindow[] = [];
  /** Time until which windows may wait, if their stages are those of the last window added. */
  #deferUntilMs = Number.NEGATIVE_INFINITY;
  #deferStages: SeriesWindow['stages'] = new Map();
  #firstMs = Number.NaN;
  #lastMs = Number.NaN;
  /** Start of the block that it followed the day to. */
  #followedMs = Number.NaN;
  #windows = 0;
  #renewal: object = {};

  constructor(baselineMs: number, windowMs: number) {
    this.#periods = new BaselinePeriods(baselineMs, windowMs);
  }

  get windows(): number {
    return this.#windows;
  }

  /** Start of the first window learnt, NaN before it. */
  get firstMs(): number {
    return this.#firstMs;
  }

  /** Identity of the references: the same object as long as `reference` returns the same. */
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
    if (window.windowStartMs >= this.#deferUntilMs || this.#hasNewStage(window)) this.#addPending();
  }

  forget(stage: string): void {
    this.#addPending();
    this.#stages.delete(stage);
  }

  /** Keeps its windows until as much time has been learnt after `fromMs`. */
  hold(fromMs: number): void {
    this.#addPending();
    for (const baseline of this.#stages.values()) baseline.hold(fromMs);
  }

  /**
   * Observes the time of a window that is not learnt. After a baseline's length without learning, the
   * references follow the day until the next window is learnt.
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

  bands(stage: string): StageBands | undefined {
    this.#addPending();
    return this.#stages.get(stage)?.bands();
  }

  /** Reference of a stage; undefined while it has fewer than `minWindows` windows. */
  reference(stage: string, minWindows: number): StageReference | undefined {
    let baseline = this.#stages.get(stage);
    if (baseline === undefined || baseline.windows < minWindows || !baseline.isRenewed) {
      this.#addPending();
      baseline = this.#stages.get(stage);
    }
    if (baseline === undefined || baseline.windows < minWindows) return undefined;
    return baseline.reference();
  }

  /** Adds the pending windows in their order, so that sums are the same to the last bit. */
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
    this.#deferUntilMs = this.#periods.nextBoundary(last.windowStartMs);
    this.#deferStages = last.stages;
    for (const stage of last.stages.keys()) {
      const baseline = this.#stages.get(stage);
      const isDue = baseline !== undefined && isYoung(baseline.windows);
      if (isDue) this.#deferUntilMs = Number.NEGATIVE_INFINITY;
    }
  }

  /** Returns true for a stage that was not in the last window added: its reference may be due for renewal. */
  #hasNewStage({ stages }: SeriesWindow): boolean {
    for (const stage of stages.keys()) if (!this.#deferStages.has(stage)) return true;
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
