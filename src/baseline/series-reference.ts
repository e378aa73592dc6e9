import type { StageSummary } from '../series/series-window.ts';
import { serializeDigest } from '../series/snapshot-series.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import { type StateArchive, serializeFields } from '../snapshot/archive.ts';
import type { DiurnalRatios } from './diurnal-profile.ts';

/** Baseline of a stage of a series. */
export interface StageReference {
  readonly digest: TDigest;
  readonly windows: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Ratios of the time of day that are applied since `toMs`. */
  readonly diurnal?: DiurnalRatios | undefined;
  /** Factor by which durations may exceed it: 1, unless the baseline is borrowed. */
  readonly allowance: number;
}

/** Requests of a stage by band of their total; of `total` also its milliseconds. */
export type StageBands = Pick<StageSummary, 'bands' | 'bandsMs'>;

/** Baseline of a series: its own (`SeriesBaseline`) or a borrowed one (`BorrowedBaseline`). */
export interface SeriesReference {
  /** The same object as long as `reference` returns the same. */
  readonly renewal: object;
  readonly stageNames: Iterable<string>;
  /** Undefined while the stage has fewer windows. */
  reference(stage: string, minWindows: number): StageReference | undefined;
  /** Undefined for an unknown stage. */
  bands(stage: string): StageBands | undefined;
}

/** Serializes the fields that own and borrowed references have in common. */
export function serializeReference(state: StateArchive, saved: StageReference | undefined) {
  const digest = serializeDigest(state, saved?.digest);
  return { digest, ...serializeFields(state, saved, { windows: 0, fromMs: 0, toMs: 0 }) };
}
