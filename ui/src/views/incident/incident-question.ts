import type { AnomalyAnswer } from '../../data/answers.ts';
import { type Question, questionPath } from '../../data/use-answer.ts';
import { isLive } from '../../state/place.ts';
import { sidesOf } from '../../state/sides-of.ts';
import { absolute, type Changes } from '../../state/url.ts';

/** A question about the requests of an incident: of its series, or of what all affected series share. */
export function incidentQuestion(
  endpoint: string,
  { event, dashboard }: AnomalyAnswer,
  more: Question,
): string {
  const { from, to, requests } = dashboard;
  return questionPath(endpoint, { from, to, model: event.model, ...requests, ...more });
}

type Shown = Pick<AnomalyAnswer, 'dashboard'>;

/** The time that an incident's page shows: links to its model take it along. */
export function incidentRange({ dashboard }: Shown) {
  return absolute(spanOf(dashboard));
}

/** The same for links to comparisons, where the address has no fixed range, as after the way to the model and back. */
export function rangeWithoutFixed(answer: Shown): Changes {
  return isLive.value ? incidentRange(answer) : {};
}

/** The address of its comparison with the time before it; undefined where there is none. */
export function comparisonWithBefore(answer: AnomalyAnswer): Changes | undefined {
  const { compared, requests } = answer.dashboard;
  const { model } = answer.event;
  if (model === '' || compared === null) return undefined;
  const { start, region, request_type, attributes } = requests;
  const sides = sidesOf({ a: spanOf(compared.a), b: spanOf(compared.b) });
  return {
    ...rangeWithoutFixed(answer),
    ...{ model, start, region, request_type, attributes },
    ...sides,
  };
}

function spanOf({ from, to }: { readonly from: string; readonly to: string }) {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) };
}
