import { carrySeriesWindow } from '../baseline/carry-series-window.ts';
import type { SeriesWindow } from '../baseline/series-window.ts';
import type { StateArchive } from '../baseline/state-archive.ts';

/** A window that waits to be learnt. */
export interface Quarantined {
  readonly window: SeriesWindow;
  learnable: boolean;
  readonly suspicious: boolean;
}

export function carryQuarantined(state: StateArchive, entry: Quarantined | undefined): Quarantined {
  return {
    window: carrySeriesWindow(state, entry?.window),
    learnable: state.flag(entry?.learnable ?? false),
    suspicious: state.flag(entry?.suspicious ?? false),
  };
}

export function withoutStage(entry: Quarantined, stage: string): Quarantined {
  const stages = new Map(entry.window.stages);
  stages.delete(stage);
  return { ...entry, window: { ...entry.window, stages } };
}
