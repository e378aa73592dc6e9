import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import { questionPath } from '../../data/use-answer.ts';

type Value = string | number | undefined;

/** A question about the requests of an incident: of its series, or of what all affected series share. */
export function incidentQuestion(
  endpoint: string,
  { event, dashboard }: AnomalyAnswer,
  more: Readonly<Record<string, Value>>,
): string {
  const { from, to, requests } = dashboard;
  return questionPath(endpoint, { from, to, model: event.model, ...requests, ...more });
}
