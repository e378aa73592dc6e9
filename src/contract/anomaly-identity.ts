import { createHash } from 'node:crypto';
import { seriesKey } from '../series/series-key.ts';
import type { Series } from '../series/series-window.ts';
import type { AnomalyEvent } from './anomaly-event.ts';

const modelChars = 64;

/**
 * Names the incident of a series and kind, the same before and after any restart. At most 100
 * characters of `[A-Za-z0-9._/-]`, which every pager and Kafka accept.
 *
 * @param name distinguishes several of one kind and series.
 */
export function dedupKeyOf(kind: AnomalyEvent['kind'], series: Series, name = ''): string {
  const model = series.model.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, modelChars);
  return `${kind}/${model}/${digestOf(seriesKey(series) + name).slice(0, 16)}`;
}

/** Dedup key without the number that follows it while another open incident has the same key. */
export function dedupKeyOfSeries(dedupKey: string): string {
  return dedupKey.replace(/(\/[0-9a-f]{16})\.\d+$/, '$1');
}

/** Names one episode: 32 hex digits of its dedup key and start. */
export function anomalyIdOf(dedupKey: string, startedAtMs: number): string {
  return digestOf(`${dedupKey}@${startedAtMs}`).slice(0, 32);
}

/** Id of the row of the series that opened an incident: the incident has the id of the anomaly itself. */
export function firstMemberIdOf(anomalyId: string): string {
  return digestOf(`${anomalyId}/first`).slice(0, 32);
}

/** Key of anomalies that likely have one cause: same kind, model and blamed stage. */
export function groupKeyOf(kind: AnomalyEvent['kind'], model: string, stage: string): string {
  return `${kind}|${model}|${stage}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
