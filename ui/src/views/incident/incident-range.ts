import type { AnomalyAnswer } from '../../data/answers.ts';
import { isLive } from '../../state/place.ts';
import { absolute, type Changes } from '../../state/url.ts';

type Shown = Pick<AnomalyAnswer, 'dashboard'>;

/** The time that an incident's page shows: links to its model take it along. */
export function incidentRange({ dashboard }: Shown) {
  return absolute({ fromMs: Date.parse(dashboard.from), toMs: Date.parse(dashboard.to) });
}

/** The same for links to comparisons, where the address has no fixed range, as after the way to the model and back. */
export function rangeWithoutFixed(answer: Shown): Changes {
  return isLive.value ? incidentRange(answer) : {};
}
