import type { PipelineAnswer } from '../../data/answers.ts';
import { formatCount, formatShare } from '../../format/number.ts';
import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';
import { Problems } from './freshness.tsx';

/** Says whether every event counts once: the ledger, and the outcomes of the events of the last hour. */
export function Stored({ answer }: { readonly answer: PipelineAnswer }) {
  const { ledger, stored_last_hour: hour } = answer;
  return (
    <>
      <p class={ledger.ok ? 'verdict good' : 'verdict bad'}>
        {ledger.ok ? 'Every event counted once.' : 'The ledger does not add up.'}{' '}
        <span class="hint">
          Checked <Time at={ledger.checked_at} />.
        </span>
      </p>
      <Problems problems={ledger.problems} />
      <table class="plain">
        <caption>Events of the last hour</caption>
        <tbody>
          <Row name="consumed" events={hour.consumed} of={hour.consumed} />
          <Row name="aggregated" events={hour.aggregated} of={hour.consumed} />
          <Row name="late" events={hour.late} of={hour.consumed} />
          {hour.unmapped > 0 && (
            <Row name="no event by intent" events={hour.unmapped} of={hour.consumed} />
          )}
          <Row name="rejected" events={hour.rejected_events} of={hour.consumed} />
          {hour.rejected.map(({ reason, events }) => (
            <Row key={reason} name={`rejected: ${reason}`} events={events} of={hour.consumed} />
          ))}
        </tbody>
      </table>
      {hour.rejected.length > 0 && (
        <p class="hint">
          Reasons are those of this process since <Time at={hour.reasons_since} />. Rejected by
          other processes, or before: unknown.
        </p>
      )}
    </>
  );
}

interface RowProps {
  readonly name: string;
  readonly events: number;
  readonly of: number;
}

function Row({ name, events, of }: RowProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">
        <Value value={events} as={formatCount} />
      </td>
      <td class="number hint">{events > 0 && events !== of ? formatShare(events / of) : ''}</td>
    </tr>
  );
}
