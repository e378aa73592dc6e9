import type { AnomaliesAnswer, AnomalyRow } from '../../data/answers.ts';
import type { Asked } from '../../data/use-answer.ts';
import { lastedText } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { tableOf } from '../../parts/table-of.ts';
import { Time } from '../../parts/time.tsx';
import { hrefTo } from '../../state/place.ts';
import { OpenIncidentList, SeverityTag } from '../open-incidents.tsx';
import { byUrgency, isOpen } from './open-anomalies.ts';

interface AnomaliesProps {
  readonly answered: Asked<AnomaliesAnswer>;
}

/** Open incidents as sentences, the worst first. Nothing where none is open. */
export function OpenIncidents({ answered }: AnomaliesProps) {
  const isAnyOpen = answered.value.answer?.rows.some(isOpen) === true;
  if (!isAnyOpen) return null;
  return (
    <Panel name="open" title="Open incidents" answered={answered} class="open-incidents">
      {(answer) => <OpenIncidentList rows={answer.rows.filter(isOpen).toSorted(byUrgency)} />}
    </Panel>
  );
}

const fields = [
  ...(['started_at', 'ended_at', 'resolved_at', 'model', 'stage'] as const),
  ...(['kind', 'severity', 'headline'] as const),
];

/** Incidents that are over, the newest first: what is open stands above. */
export function IncidentsPanel({ answered }: AnomaliesProps) {
  return (
    <Panel
      name="incidents"
      title="Resolved in this range"
      answered={answered}
      empty={({ rows }) => rows.every(isOpen) && 'No incident ended in this range.'}
      table={({ rows }) => tableOf(rows, fields)}
    >
      {(answer) => (
        <ul class="incident-list">
          {answer.rows.filter(isResolved).map((row) => (
            <li key={row.id}>
              <span class="when">
                <Time at={row.started_at} />{' '}
                <span class="for">
                  <Lasted of={row} />
                </span>
              </span>
              <a data-row href={hrefTo({ view: 'incident', id: row.id })}>
                {row.headline}
              </a>
              <SeverityTag of={row} />
            </li>
          ))}
          {answer.next !== null && <li class="hint">There are more: choose a shorter range.</li>}
        </ul>
      )}
    </Panel>
  );
}

const isResolved = (row: AnomalyRow) => !isOpen(row);

/** Its duration, in event time; where its end is unknown, the time at which that was noticed. */
function Lasted({ of: { started_at, ended_at, resolved_at } }: { readonly of: AnomalyRow }) {
  if (ended_at !== null) return <>{lastedText(started_at, ended_at)}</>;
  if (resolved_at === null) return null;
  return (
    <>
      resolved <Time at={resolved_at} />
    </>
  );
}
