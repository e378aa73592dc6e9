import type { AnomaliesAnswer, AnomalyRow } from '../../data/answers.ts';
import type { Asked } from '../../data/use-answer.ts';
import { durationText } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { tableOf } from '../../parts/table-of.ts';
import { Time } from '../../parts/time.tsx';
import { tickingNow } from '../../state/now.ts';
import { hrefTo } from '../../state/place.ts';
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
      {(answer) => (
        <ul class="incidents">
          {answer.rows
            .filter(isOpen)
            .toSorted(byUrgency)
            .map((row) => (
              <li key={row.id} class={`incident ${row.severity}`}>
                <a data-row href={incidentHref(row)}>
                  {row.summary}
                </a>
                <p>
                  <Severity of={row} /> since <Time at={row.started_at} /> (
                  {durationText(tickingNow() - Date.parse(row.started_at))}) · {deliveredTo(row)}
                </p>
              </li>
            ))}
        </ul>
      )}
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
      empty={({ rows }) => (rows.every(isOpen) ? 'No incident ended in this range.' : undefined)}
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
              <a data-row href={incidentHref(row)}>
                {row.headline}
              </a>
              <Severity of={row} />
            </li>
          ))}
          {answer.next !== null && <li class="hint">There are more: choose a shorter range.</li>}
        </ul>
      )}
    </Panel>
  );
}

/** The word, and a sign beside it: colour alone says nothing. */
function Severity({ of: { severity, resolved_at } }: { readonly of: AnomalyRow }) {
  const isOver = resolved_at !== null;
  return (
    <span class={`tag ${isOver ? 'resolved' : severity}`}>{isOver ? 'resolved' : severity}</span>
  );
}

const isResolved = (row: AnomalyRow) => !isOpen(row);

function incidentHref({ id }: AnomalyRow): string {
  return hrefTo({ view: 'incident', id });
}

function deliveredTo({ accepted_by }: AnomalyRow): string {
  if (accepted_by.length === 0) return 'delivered to nobody';
  return `delivered to ${accepted_by.join(', ')}`;
}

/** Its duration, in event time; where its end is unknown, the time at which that was noticed. */
function Lasted({ of: { started_at, ended_at, resolved_at } }: { readonly of: AnomalyRow }) {
  if (ended_at !== null) return <>{durationText(Date.parse(ended_at) - Date.parse(started_at))}</>;
  if (resolved_at === null) return null;
  return (
    <>
      resolved <Time at={resolved_at} />
    </>
  );
}
