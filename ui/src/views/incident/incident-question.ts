import type { AnomalyAnswer } from '../../data/answers.ts';
import { type Question, questionPath } from '../../data/use-answer.ts';

/** A question about the requests of an incident: of its series, or of what all affected series share. */
export function incidentQuestion(
  endpoint: string,
  { event, dashboard }: AnomalyAnswer,
  more: Question,
): string {
  const { from, to, requests } = dashboard;
  return questionPath(endpoint, { from, to, model: event.model, ...requests, ...more });
}
