import type { AnomalyRow } from '../data/answers.ts';
import { durationText } from '../format/number.ts';
import { Time, WithTimes } from '../parts/time.tsx';
import { tickingNow } from '../state/now.ts';
import { hrefTo } from '../state/place.ts';

interface TagProps {
  readonly of: Pick<AnomalyRow, 'severity' | 'resolved_at'>;
  /** @default its severity, or that it is resolved */
  readonly text?: string;
}

/** The severity as a word beside its colour, which alone says nothing. */
export function SeverityTag({ of: { severity, resolved_at }, text }: TagProps) {
  const state = resolved_at === null ? severity : 'resolved';
  return <span class={`tag ${state}`}>{text ?? state}</span>;
}

interface ListProps {
  readonly label?: string;
  /** Open ones, the most urgent first. */
  readonly rows: readonly AnomalyRow[];
}

/** Open incidents as sentences. */
export function OpenIncidentList({ label, rows }: ListProps) {
  return (
    <ul class="incidents" aria-label={label}>
      {rows.map((row) => (
        <li key={row.id} class={`incident ${row.severity}`}>
          <a data-row href={hrefTo({ view: 'incident', id: row.id })}>
            <WithTimes text={row.summary} />
          </a>
          <p>
            <SeverityTag of={row} /> since <Time at={row.started_at} /> (
            {durationText(tickingNow() - Date.parse(row.started_at))}) · delivered to{' '}
            {row.accepted_by.join(', ') || 'nobody'}
          </p>
        </li>
      ))}
    </ul>
  );
}
