import type { AnomalyAnswer } from '../../data/answers.ts';
import { formatShare } from '../../format/number.ts';
import { type Column, Table } from '../../parts/data-table.tsx';
import { Value } from '../../parts/value.tsx';

type Driver = NonNullable<AnomalyAnswer['event']['drivers']>[number];

const columns: readonly Column<Driver>[] = [
  {
    head: 'Value',
    isName: true,
    cell: ({ facet, value }) => (
      <>
        <span class="hint">{facet.replaceAll('_', ' ')}</span> {value}
      </>
    ),
  },
  {
    head: <span class="sr">Shares</span>,
    class: 'driver-track',
    cell: ({ share_of_slow: slow, share_of_all: all }) => (
      <span class="driver-bars" aria-hidden="true">
        <i class="driver-slow" style={{ width: `${slow * 100}%` }} />
        <i class="driver-all" style={{ width: `${all * 100}%` }} />
      </span>
    ),
  },
  {
    head: 'Of slow',
    isNumber: true,
    cell: ({ share_of_slow }) => <Value value={share_of_slow} as={formatShare} />,
  },
  {
    head: 'Of all',
    isNumber: true,
    cell: ({ share_of_all }) => <Value value={share_of_all} as={formatShare} />,
  },
];

/** Values that slow requests have more often than others, as bars against their share of all requests. */
export function Drivers({
  event: { drivers = [] },
  common,
}: Pick<AnomalyAnswer, 'event' | 'common'>) {
  return (
    <>
      {drivers.length > 0 && (
        <Table
          class="drivers"
          caption="Values that are more frequent among slow requests"
          columns={columns}
          rows={drivers}
          keyOf={({ facet, value }) => `${facet} ${value}`}
        />
      )}
      {common.length > 0 && (
        <p class="common">
          All affected series have{' '}
          {common.map(({ dimension, value }, i) => (
            <span key={dimension}>
              {i > 0 && ', '}
              {dimension.replaceAll('_', ' ')} <b>{value}</b>
            </span>
          ))}
          ; others of these models do not.
        </p>
      )}
    </>
  );
}
