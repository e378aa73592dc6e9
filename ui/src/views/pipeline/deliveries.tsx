import type { PipelineAnswer } from '../../../../src/views/answers/pipeline.ts';
import { durationText, formatCount } from '../../format/number.ts';

import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';

/** Deliveries due at each receiver, and its last answer. */
export function Deliveries({ answer }: { readonly answer: PipelineAnswer }) {
  return (
    <table class="cards">
      <caption class="sr">Receivers, and what is due at them</caption>
      <thead>
        <tr>
          <th scope="col">Receiver</th>
          <th scope="col" class="number">
            Due
          </th>
          <th scope="col" class="number">
            Oldest
          </th>
          <th scope="col">Last accepted</th>
          <th scope="col">Last answer</th>
        </tr>
      </thead>
      <tbody>
        {answer.deliveries.map((row) => (
          <tr key={row.receiver}>
            <td class="name" data-label="Receiver">
              {row.receiver}
            </td>
            <td class="number" data-label="Due">
              <Value value={row.due}>{formatCount(row.due)}</Value>
            </td>
            <td class="number" data-label="Oldest">
              <Value value={row.oldest_due_seconds}>
                {row.oldest_due_seconds === null
                  ? '–'
                  : durationText(row.oldest_due_seconds * 1000)}
              </Value>
            </td>
            <td data-label="Last accepted">
              {row.last_accepted_at === null ? '–' : <Time at={row.last_accepted_at} />}
            </td>
            <td class="long" data-label="Last answer">
              {row.last_answer}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
