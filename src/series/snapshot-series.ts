import { TDigest } from '../sketch/t-digest.ts';
import { type StateArchive, serializeFields } from '../snapshot/archive.ts';
import { packStages } from './pack-stages.ts';
import {
  type Bands,
  emptySeries,
  type Series,
  type SeriesWindow,
  type StageSummary,
} from './series-window.ts';

const emptyDigest = TDigest.fromCentroids([], []);

const emptyCounts = {
  stage: '',
  requests: 0,
  errors: 0,
  timeouts: 0,
  cancelled: 0,
  sumMs: 0,
  minMs: 0,
  maxMs: 0,
};

export function serializeSeries(state: StateArchive, series: Series | undefined): Series {
  return state.section('series', 1, () => serializeFields(state, series, emptySeries));
}

export function serializeSeriesWindow(
  state: StateArchive,
  window: SeriesWindow | undefined,
): SeriesWindow {
  return state.section('series window', 1, () => {
    const times = serializeFields(state, window, { windowStartMs: 0, windowMs: 0 });
    const series = serializeSeries(state, window?.series);
    const stages = state.list(window?.stages.values() ?? [], (each) =>
      serializeSummary(state, each),
    );
    return window ?? { ...times, series, stages: packStages(stages) };
  });
}

function serializeSummary(state: StateArchive, summary: StageSummary | undefined): StageSummary {
  return {
    ...serializeFields(state, summary, emptyCounts),
    digest: serializeDigest(state, summary?.digest),
    bands: serializeBands(state, summary?.bands),
    bandsMs: serializeBands(state, summary?.bandsMs),
  };
}

export function serializeDigest(state: StateArchive, digest: TDigest = emptyDigest): TDigest {
  const means = state.numbers(digest.means);
  const weights = state.numbers(digest.weights);
  return digest === emptyDigest ? TDigest.fromCentroids(means, weights) : digest;
}

export function serializeBands(
  state: StateArchive,
  { bands, amounts }: Bands = { bands: [], amounts: [] },
): Bands {
  return { bands: [...state.numbers(bands)], amounts: [...state.numbers(amounts)] };
}
