import type { Bands } from '../series/series-window.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import type { Course } from './diurnal-profile.ts';

/** What a stage of a series usually looks like. */
export interface StageReference {
  readonly digest: TDigest;
  readonly windows: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** How far the day has moved it since then. */
  readonly course: Course | undefined;
  /** So many times as long still counts as the same: 1, but where it is the past of other series. */
  readonly allowance: number;
}

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
