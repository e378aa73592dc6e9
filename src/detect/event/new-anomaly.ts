import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { anomalyIdOf, dedupKeyOf } from '../../contract/anomaly-identity.ts';
import { seriesOf } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import type { DetectOptions } from '../options/detect-options.ts';

export interface NewAnomalyInput {
  readonly kind: AnomalyEvent['kind'];
  readonly series: Series;
  /** As in `dedupKeyOf`. */
  readonly name?: string | undefined;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly options: DetectOptions;
}

/** Fields of an opening event that are common to all kinds. */
export function newAnomaly({ kind, series, name, startedAtMs, nowMs, options }: NewAnomalyInput) {
  const dedupKey = dedupKeyOf(kind, series, name);
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    id: anomalyIdOf(dedupKey, startedAtMs),
    revision: 1,
    dedup_key: dedupKey,
    state: 'opened',
    kind,
    ...seriesOf(series),
    exemplars: [] as string[],
    started_at: iso(startedAtMs),
    detected_at: iso(nowMs),
    emitted_at: iso(nowMs),
    ended_at: null,
    resolved_at: null,
    resolution: null,
    runbook_url: options.runbookUrl ?? null,
  } satisfies Partial<AnomalyEvent>;
}
