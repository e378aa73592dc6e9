import { withDayOf } from '../../../src/contract/as-of.ts';
import type { AnomalyAnswer } from '../data/answers.ts';
import { questionPath, useAnswer } from '../data/use-answer.ts';
import { shownName } from '../format/name.ts';
import { WithTimes } from '../parts/time.tsx';
import { hrefTo, place } from '../state/place.ts';
import { SeverityTag } from './open-incidents.tsx';

/** The way back to the incident from which one came here; nothing where one did not. */
export function IncidentContext() {
  const id = place.value.params.incident;
  const answered = useAnswer<AnomalyAnswer>(
    id === undefined ? undefined : questionPath(`anomalies/${encodeURIComponent(id)}`, {}),
  );
  if (id === undefined) return null;
  const event = answered.value.answer?.event;
  return (
    <nav class="incident-context" aria-label="Incident">
      <a href={hrefTo({ view: 'incident', id })}>← Incident</a>
      {event !== undefined && (
        <>
          <SeverityTag
            of={event}
            text={`${event.severity}, ${event.resolved_at === null ? 'open' : 'resolved'}`}
          />
          <span class="hint">
            <WithTimes text={shownName(withDayOf(event.summary, event))} />
          </span>
        </>
      )}
    </nav>
  );
}
