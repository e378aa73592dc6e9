import type { SeriesWindow } from './series-window.ts';
import { StageBaseline, type StageReference } from './stage-baseline.ts';
import type { StateArchive } from './state-archive.ts';

/** The recent past of a series, by stage. */
export class SeriesBaseline {
  readonly #baselineMs: number;
  readonly #windowMs: number;
  readonly #stages = new Map<string, StageBaseline>();
  #firstMs = Number.NaN;
  #windows = 0;

  constructor(baselineMs: number, windowMs: number) {
    this.#baselineMs = baselineMs;
    this.#windowMs = windowMs;
  }

  /** Windows learnt since it was made. */
  get windows(): number {
    return this.#windows;
  }

  /** Start of the first window learnt, NaN before it. */
  get firstMs(): number {
    return this.#firstMs;
  }

  learn(window: SeriesWindow): void {
    if (this.#windows === 0) this.#firstMs = window.windowStartMs;
    this.#windows += 1;
    for (const summary of window.stages.values()) {
      if (summary.digest.count === 0) continue;
      let baseline = this.#stages.get(summary.stage);
      if (baseline === undefined) {
        baseline = this.#newStage();
        this.#stages.set(summary.stage, baseline);
      }
      baseline.learn(window.windowStartMs, summary);
    }
  }

  /** Keeps what it holds until as much has come after `fromMs`: time before that did not count. */
  hold(fromMs: number): void {
    for (const baseline of this.#stages.values()) baseline.hold(fromMs);
  }

  carry(state: StateArchive): void {
    state.section('series baseline', 1, () => {
      state.map(this.#stages, () => this.#newStage());
      this.#firstMs = state.number(this.#firstMs);
      this.#windows = state.number(this.#windows);
    });
  }

  /** Bands of a stage; undefined before its first window. */
  bands(stage: string): ReturnType<StageBaseline['bands']> | undefined {
    return this.#stages.get(stage)?.bands();
  }

  /** undefined while the stage has fewer than `minWindows` windows. */
  reference(stage: string, minWindows: number): StageReference | undefined {
    const baseline = this.#stages.get(stage);
    if (baseline === undefined || baseline.windows < minWindows) return undefined;
    return baseline.reference();
  }

  #newStage(): StageBaseline {
    return new StageBaseline(this.#baselineMs, this.#windowMs);
  }
}
