import type { Bands } from './series-window.ts';
import type { StageReference } from './stage-baseline.ts';

/** Requests of a stage by band of their total; of `total` also its milliseconds. */
export interface StageBands {
  readonly bands: Bands;
  readonly bandsMs: Bands;
}

/** What a series' windows are compared with: its own past (`SeriesBaseline`) or that of others (`BorrowedBaseline`). */
export interface SeriesReference {
  /** The same object for as long as `reference` gives the same. */
  readonly renewal: object;
  /** Stages of which anything is known. */
  readonly stageNames: Iterable<string>;
  /** Undefined while fewer windows than that are known of the stage. */
  reference(stage: string, minWindows: number): StageReference | undefined;
  /** Undefined where nothing is known of the stage. */
  bands(stage: string): StageBands | undefined;
}
