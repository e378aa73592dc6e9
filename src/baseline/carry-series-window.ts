import { carryBands } from './carry-bands.ts';
import { carryDigest } from './carry-digest.ts';
import { carrySeries } from './carry-series.ts';
import { packStages } from './pack-stages.ts';
import type { Bands, SeriesWindow, StageSummary } from './series-window.ts';
import type { StateArchive } from './state-archive.ts';

const noBands: Bands = { bands: [], amounts: [] };

export function carrySeriesWindow(
  state: StateArchive,
  window: SeriesWindow | undefined,
): SeriesWindow {
  let carried = window;
  state.section('series window', 1, () => {
    const windowStartMs = state.number(window?.windowStartMs ?? 0);
    const windowMs = state.number(window?.windowMs ?? 0);
    const series = carrySeries(state, window?.series);
    const stages = state.list(window?.stages.values() ?? [], (one) => carrySummary(state, one));
    carried ??= { windowStartMs, windowMs, series, stages: packStages(stages) };
  });
  return carried as SeriesWindow;
}

function carrySummary(state: StateArchive, summary: StageSummary | undefined): StageSummary {
  const { stage = '', requests = 0, errors = 0, timeouts = 0, cancelled = 0 } = summary ?? {};
  const { sumMs = 0, minMs = 0, maxMs = 0, bands = noBands, bandsMs = noBands } = summary ?? {};
  return {
    stage: state.text(stage),
    requests: state.number(requests),
    errors: state.number(errors),
    timeouts: state.number(timeouts),
    cancelled: state.number(cancelled),
    sumMs: state.number(sumMs),
    minMs: state.number(minMs),
    maxMs: state.number(maxMs),
    digest: carryDigest(state, summary?.digest),
    bands: carryBands(state, bands),
    bandsMs: carryBands(state, bandsMs),
  };
}
