import { TDigest } from '../sketch/t-digest.ts';
import { type StateArchive, serializeFields } from '../snapshot/archive.ts';
import { packStages } from './pack-stages.ts';
import { attributesField } from './series-key.ts';
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
  return state.section('series', 1, () => {
    const saved = series === undefined ? undefined : withAttributesInTenant(series);
    return attributesOutOfTenant(serializeFields<NamedSeries>(state, saved, emptySeries));
  });
}

/**
 * Own dimensions stand behind the tenant, after a NUL, which they have none of. So a series without any is
 * saved as versions before them saved it, and their snapshots are read.
 */
const separator = '\u0000';

type NamedSeries = Omit<Series, 'attributes'>;

function withAttributesInTenant({ attributes, ...series }: Series): NamedSeries {
  if (attributes === undefined && !series.tenant.includes(separator)) return series;
  return { ...series, tenant: `${series.tenant}${separator}${attributes ?? ''}` };
}

function attributesOutOfTenant(series: NamedSeries): Series {
  const at = series.tenant.lastIndexOf(separator);
  if (at < 0) return series;
  const tenant = series.tenant.slice(0, at);
  return { ...series, tenant, ...attributesField(series.tenant.slice(at + 1)) };
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
