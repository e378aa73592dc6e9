import type { PipelineAnswer } from '../../data/answers.ts';
import { formatCount, secondsText } from '../../format/number.ts';
import { type Column, Table } from '../../parts/data-table.tsx';
import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';

const columns: readonly Column<PipelineAnswer['deliveries'][number]>[] = [
  { head: 'Receiver', class: 'name', cell: ({ receiver }) => receiver },
  { head: 'Due', isNumber: true, cell: ({ due }) => <Value value={due} as={formatCount} /> },
  {
    head: 'Oldest',
    isNumber: true,
    cell: ({ oldest_due_seconds: seconds }) => <Value value={seconds} as={secondsText} />,
  },
  { head: 'Last accepted', cell: ({ last_accepted_at: at }) => <Time at={at} /> },
  { head: 'Last answer', class: 'long', cell: ({ last_answer }) => last_answer },
];

/** Deliveries due at each receiver, and its last answer. */
export function Deliveries({ answer }: { readonly answer: PipelineAnswer }) {
  return (
    <Table
      caption="Receivers, and what is due at them"
      columns={columns}
      rows={answer.deliveries}
      keyOf={({ receiver }) => receiver}
    />
  );
}
