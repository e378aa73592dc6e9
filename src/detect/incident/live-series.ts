import { unversionedKey } from '../../series/series-key.ts';
import { emptySeries, type Series } from '../../series/series-window.ts';
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
  if (kind === 'drift') {
    const byKey = new Map(series.map((each) => [unversionedKey(each), { ...each, version: '' }]));
    return [...byKey.values()];
  }
  if (!isOfOneSeries(kind)) {
    const models = [...new Set(series.map(({ model }) => model))];
    return models.map((model) => ({ ...emptySeries, model }));
  }
  // Anomalies of cold starts name the warm series.
  return kind === 'cold_starts' ? series.filter(({ cold_start }) => !cold_start) : series;
}
