import { unversionedKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';

/** Whether anomalies of the kind are of one series; others are of a model, or of all versions of a series. */
export function isOfOneSeries(kind: AnomalyEvent['kind']): boolean {
  return ['tail_shift', 'error_rate', 'cold_starts'].includes(kind);
}

/** Of series that are judged, what anomalies of a kind may be of. */
export function liveSeries(
  kind: AnomalyEvent['kind'],
  series: readonly Series[],
): readonly Series[] {
  if (kind === 'drift') return unversioned(series);
  if (!isOfOneSeries(kind)) return modelsOf(series);
  // Cold starts are told of the warm series that they are a part of.
  return kind === 'cold_starts' ? series.filter(({ cold_start }) => !cold_start) : series;
}

/** Each once, whatever its version. */
function unversioned(series: readonly Series[]): Series[] {
  const byKey = new Map(series.map((each) => [unversionedKey(each), { ...each, version: '' }]));
  return [...byKey.values()];
}

/** Each of their models, as anomalies of models name them. */
function modelsOf(series: readonly Series[]): Series[] {
  const none = { service: '', version: '', request_type: '', region: '', host: '', tenant: '' };
  const models = [...new Set(series.map(({ model }) => model))];
  return models.map((model) => ({ ...none, model, cold_start: false }));
}
