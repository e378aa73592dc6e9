import type { PipelineAnswer } from '../../data/answers.ts';
import { formatCount, secondsText } from '../../format/number.ts';
import { type Column, sorted, Table } from '../../parts/data-table.tsx';
import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';
import { place, setParams } from '../../state/place.ts';

type Partition = PipelineAnswer['partitions'][number];
const defaultSort = 'partition';

const columns: readonly Column<Partition>[] = [
  {
    key: 'partition',
    head: 'Partition',
    class: 'name',
    sortBy: ({ topic, partition }) => `${topic} ${String(partition).padStart(6, '0')}`,
    cell: ({ topic, partition }) => `${topic} ${partition}`,
  },
  {
    key: 'offset',
    head: 'Stored offset',
    isNumber: true,
    sortBy: (row) => row.stored_offset,
    cell: (row) => <Value value={row.stored_offset} as={formatCount} />,
  },
  {
    key: 'lag',
    head: 'Lag',
    unit: 'messages',
    isNumber: true,
    sortBy: (row) => row.lag_messages,
    cell: (row) => <Value value={row.lag_messages} as={formatCount} />,
  },
  {
    key: 'watermark',
    head: 'Watermark',
    sortBy: (row) => row.watermark,
    cell: ({ watermark }) => <Time at={watermark} />,
  },
  {
    key: 'behind',
    head: 'Behind',
    isNumber: true,
    sortBy: (row) => row.behind_seconds,
    cell: ({ behind_seconds }) => <Value value={behind_seconds} as={secondsText} />,
  },
  {
    key: 'stored',
    head: 'Last stored',
    sortBy: (row) => row.stored_at,
    cell: ({ stored_at }) => <Time at={stored_at} />,
  },
];

/** Offset up to which each partition is stored. */
export function Partitions({ answer }: { readonly answer: PipelineAnswer }) {
  const { sort = defaultSort } = place.value.params;
  return (
    <Table
      caption="Partitions, and how far each is stored"
      columns={columns}
      rows={sorted(answer.partitions, columns, sort)}
      keyOf={({ topic, partition }) => `${topic} ${partition}`}
      sort={sort}
      onSort={(next) => setParams({ sort: next === defaultSort ? undefined : next })}
    />
  );
}
