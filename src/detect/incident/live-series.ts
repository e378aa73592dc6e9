import { unversionedKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';

/** Reports whether a kind is of one series; others are of a model, or of all versions of a series. */
export function isOfOneSeries(kind: AnomalyEvent['kind']): boolean {
  return ['tail_shift', 'error_rate', 'cold_starts'].includes(kind);
}

/** Series, or models, that may have anomalies of a kind. */
export function liveSeries(
  kind: AnomalyEvent['kind'],
  series: readonly Series[],
): readonly Series[] {
  if (kind === 'drift') return unversioned(series);
  if (!isOfOneSeries(kind)) return modelsOf(series);
  // Anomalies of cold starts name the warm series.
  return kind === 'cold_starts' ? series.filter(({ cold_start }) => !cold_start) : series;
}

/** Series without their versions, each once. */
function unversioned(series: readonly Series[]): Series[] {
  const byKey = new Map(series.map((each) => [unversionedKey(each), { ...each, version: '' }]));
  return [...byKey.values()];
}

/** Models of series, as anomalies of models name them. */
function modelsOf(series: readonly Series[]): Series[] {
  const none = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
  const models = [...new Set(series.map(({ model }) => model))];
  return models.map((model) => ({ ...none, model, cold_start: false }));
}
