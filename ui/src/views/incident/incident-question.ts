import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import { questionPath } from '../../data/use-answer.ts';

type Value = string | number | undefined;

/** A question about the requests of an incident: of its series, or of what all affected series share. */
export function incidentQuestion(
  endpoint: string,
  { event, dashboard }: AnomalyAnswer,
  more: Readonly<Record<string, Value>>,
): string {
  const shared = new Map(event.scope?.common.map(({ dimension, value }) => [dimension, value]));
  const of = (name: 'version' | 'region' | 'request_type') =>
    event.scope === undefined ? event[name] : shared.get(name);
  return questionPath(endpoint, {
    from: dashboard.from,
    to: dashboard.to,
    model: event.model,
    version: of('version'),
    region: of('region'),
    request_type: of('request_type'),
    start: event.cold_start ? 'cold' : 'warm',
    ...more,
  });
}
