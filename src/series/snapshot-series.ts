import { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import { packStages } from './pack-stages.ts';
import type { Bands, Series, SeriesWindow, StageSummary } from './series-window.ts';

const emptyDigest = TDigest.fromCentroids([], []);
const noBands: Bands = { bands: [], amounts: [] };
const emptySeries: Series = {
  service: '',
  model: '',
  version: '',
  request_type: '',
  region: '',
  host: '',
  tenant: '',
  cold_start: false,
};

export function serializeSeries(state: StateArchive, series: Series = emptySeries): Series {
  let restored = series;
  state.section('series', 1, () => {
    restored = {
      service: state.text(series.service),
      model: state.text(series.model),
      version: state.text(series.version),
      request_type: state.text(series.request_type),
      region: state.text(series.region),
      host: state.text(series.host),
      tenant: state.text(series.tenant),
      cold_start: state.flag(series.cold_start),
    };
  });
  return restored;
}

export function serializeSeriesWindow(
  state: StateArchive,
  window: SeriesWindow | undefined,
): SeriesWindow {
  let restored = window;
  state.section('series window', 1, () => {
    const windowStartMs = state.number(window?.windowStartMs ?? 0);
    const windowMs = state.number(window?.windowMs ?? 0);
    const series = serializeSeries(state, window?.series);
    const stages = state.list(window?.stages.values() ?? [], (each) =>
      serializeSummary(state, each),
    );
    restored ??= { windowStartMs, windowMs, series, stages: packStages(stages) };
  });
  return restored as SeriesWindow;
}

function serializeSummary(state: StateArchive, summary: StageSummary | undefined): StageSummary {
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
    digest: serializeDigest(state, summary?.digest),
    bands: serializeBands(state, bands),
    bandsMs: serializeBands(state, bandsMs),
  };
}

export function serializeDigest(state: StateArchive, digest: TDigest = emptyDigest): TDigest {
  const means = state.numbers(digest.means);
  const weights = state.numbers(digest.weights);
  return digest === emptyDigest ? TDigest.fromCentroids(means, weights) : digest;
}

export function serializeBands(
  state: StateArchive,
  { bands, amounts }: Bands | undefined = noBands,
): Bands {
  return { bands: [...state.numbers(bands)], amounts: [...state.numbers(amounts)] };
}
