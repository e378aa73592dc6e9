import type { MuteRow, MutesAnswer } from '../../data/answers.ts';
import { type Column, Table } from '../../parts/data-table.tsx';
import { Time } from '../../parts/time.tsx';

const columns: readonly Column<MuteRow>[] = [
  { head: 'What', class: 'name', cell: whatOf },
  { head: 'From', cell: ({ from }) => <Time at={from} /> },
  { head: 'Until', cell: ({ until }) => <Time at={until} /> },
  { head: 'Why', class: 'long', cell: ({ why }) => why },
  {
    head: 'Who',
    cell: ({ who, on_behalf_of: other }) => (other === null ? who : `${who} for ${other}`),
  },
  { head: 'Ended by', cell: ({ ended_by, state }) => ended_by ?? ends[state] },
];

/** Mutes, their authors, and who ended them. */
export function Mutes({ answer }: { readonly answer: MutesAnswer }) {
  return (
    <Table
      caption="Mutes, who added and who ended them"
      columns={columns}
      rows={answer.rows}
      keyOf={({ id }) => id}
    />
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
