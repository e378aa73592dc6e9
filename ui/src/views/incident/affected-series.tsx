import type { AnomalyAnswer } from '../../data/answers.ts';
import type { Asked } from '../../data/use-answer.ts';
import { formatRatio, msFormat } from '../../format/number.ts';
import { type Column, Table } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';
import { hrefTo } from '../../state/place.ts';
import type { Changes } from '../../state/url.ts';
import { incidentRange } from './incident-question.ts';
import { type SeriesRow, seriesRows, seriesTable } from './series-rows.ts';

/** The series that the incident affects, the most affected first. */
export function AffectedSeries({ answered }: { readonly answered: Asked<AnomalyAnswer> }) {
  const { answer } = answered.value;
  return (
    <Panel
      name="series"
      title={answer === undefined || isOfTailmark(answer) ? 'Affected series' : answer.series_title}
      answered={answered}
      empty={(answer) =>
        seriesRows(answer).length === 0 && 'This incident is of tailmark itself, not of a series.'
      }
      table={(answer) => seriesTable(seriesRows(answer))}
    >
      {(answer) => {
        const rows = seriesRows(answer);
        const stage = answer.dashboard.measured_stage;
        return (
          <SeriesTable
            rows={rows}
            more={answer.series_count - rows.length}
            context={{ ...incidentRange(answer), stage }}
          />
        );
      }}
    </Panel>
  );
}

const isOfTailmark = ({ event }: AnomalyAnswer) => event.kind === 'pipeline';

interface SeriesProps {
  readonly rows: readonly SeriesRow[];
  readonly more: number;
  /** Range and stage of the incident, for links. */
  readonly context: Changes;
}

function SeriesTable({ rows, more, context }: SeriesProps) {
  return (
    <>
      <Table
        caption="Affected series"
        columns={columnsOf(rows, context)}
        rows={rows}
        keyOf={({ name, measured }) => `${name} ${measured}`}
      />
      {more > 0 && <p class="hint">{more} more affected series.</p>}
    </>
  );
}

function columnsOf(rows: readonly SeriesRow[], context: Changes): readonly Column<SeriesRow>[] {
  const isMs = rows.every(({ unit }) => unit === 'ms');
  const { unit, format } = msFormat(
    isMs ? rows.flatMap(({ observed, baseline }) => [observed, baseline]) : [],
  );
  const measured = (label: string, of: (row: SeriesRow) => number | null) => ({
    ...{ label, head: isMs ? `${label}, ${unit}` : label, isNumber: true },
    cardUnit: isMs ? unit : undefined,
    cell: (row: SeriesRow) => <Value value={of(row)} as={isMs ? format : row.format} />,
  });
  return [
    { head: 'Series', class: 'name', cell: (row) => <SeriesName {...{ row, context }} /> },
    ...(isMs ? [{ head: 'Blame', cell: ({ blame }: SeriesRow) => blame }] : []),
    { head: 'Measured', cell: (row) => row.measured },
    measured('Observed', ({ observed }) => observed),
    measured('Baseline', ({ baseline }) => baseline),
    {
      head: 'Ratio',
      isNumber: true,
      cell: ({ ratio }) => <Value value={ratio} as={formatRatio} />,
    },
    { head: 'As of', cell: ({ measuredAt }) => <Time at={measuredAt} /> },
    { head: 'Since', cell: ({ startedAt }) => <Time at={startedAt} /> },
    // A tail that has become the baseline never fell.
    {
      head: 'Until',
      cell: ({ endedAt, resolvedAt }) => (resolvedAt === null ? 'open' : <Time at={endedAt} />),
    },
    { head: 'Resolved', cell: ({ resolvedAt }) => <Time at={resolvedAt} /> },
  ];
}

function SeriesName({ row, context }: { readonly row: SeriesRow; readonly context: Changes }) {
  const { name, model, filters } = row;
  if (model === '') return <>{name}</>;
  return <a href={hrefTo({ view: 'model', model }, { ...context, ...filters })}>{name}</a>;
}
