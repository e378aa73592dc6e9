import { createHash } from 'node:crypto';
import { seriesKey } from '../../series/series-key.ts';
import type { Series } from '../../series/series-window.ts';
import type { AnomalyEvent } from './anomaly-event.ts';

const modelChars = 64;

/**
 * Names the incident of a series and kind, the same before and after any restart. At most 100
 * characters of `[A-Za-z0-9._/-]`, which every pager and Kafka accept.
 *
 * @param name tells several of one kind and series apart.
 */
export function dedupKeyOf(kind: AnomalyEvent['kind'], series: Series, name = ''): string {
  const model = series.model.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, modelChars);
  return `${kind}/${model}/${digestOf(seriesKey(series) + name).slice(0, 16)}`;
}

/** The key of the series itself: while another page has that one, an incident's has a number after it. */
export function dedupKeyOfSeries(dedupKey: string): string {
  return dedupKey.replace(/(\/[0-9a-f]{16})\.\d+$/, '$1');
}

/** Names one episode: 32 hex digits of its dedup key and start. */
export function anomalyIdOf(dedupKey: string, startedAtMs: number): string {
  return digestOf(`${dedupKey}@${startedAtMs}`).slice(0, 32);
}

/** Names the part of a shared anomaly that is of the series it was opened by, which has its id. */
export function firstMemberIdOf(anomalyId: string): string {
  return digestOf(`${anomalyId}/first`).slice(0, 32);
}

/** Anomalies that likely have one cause: same kind, model and blamed stage. */
export function groupKeyOf(kind: AnomalyEvent['kind'], model: string, stage: string): string {
  return `${kind}|${model}|${stage}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
