import type { MuteRow, MutesAnswer } from '../../../../src/views/answers/mutes.ts';
import { Time } from '../../parts/time.tsx';

/** Mutes, their authors, and who ended them. */
export function Mutes({ answer }: { readonly answer: MutesAnswer }) {
  return (
    <table class="cards">
      <caption class="sr">Mutes, who added and who ended them</caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">From</th>
          <th scope="col">Until</th>
          <th scope="col">Why</th>
          <th scope="col">Who</th>
          <th scope="col">Ended by</th>
        </tr>
      </thead>
      <tbody>
        {answer.rows.map((row) => (
          <tr key={row.id}>
            <td class="name" data-label="What">
              {whatOf(row)}
            </td>
            <td data-label="From">
              <Time at={row.from} />
            </td>
            <td data-label="Until">
              <Time at={row.until} />
            </td>
            <td class="long" data-label="Why">
              {row.why}
            </td>
            <td data-label="Who">
              {row.on_behalf_of === null ? row.who : `${row.who} for ${row.on_behalf_of}`}
            </td>
            <td data-label="Ended by">{row.ended_by ?? ends[row.state]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Texts that are shown in place of a name. */
const ends = { later: 'begins later', holds: 'still holds', over: 'ran out' } as const;

function whatOf({ models, kinds, dimensions }: MuteRow): string {
  return [
    ...(models.length > 0 ? [`model ${models.join(' or ')}`] : []),
    ...(kinds.length > 0 ? [`kind ${kinds.join(' or ')}`] : []),
    ...Object.entries(dimensions).map(([dimension, value]) => `${dimension} ${value}`),
  ].join(', ');
}
