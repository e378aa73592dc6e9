import type { ReadonlySignal } from '@preact/signals';
import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import type { Answered } from '../../data/use-answer.ts';
import { formatRatio, msFormat, plural } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';
import { hrefTo } from '../../state/place.ts';
import { type SeriesRow, seriesRows, seriesTable } from './series-rows.ts';

/** The series that the incident affects, the worst first. */
export function AffectedSeries({
  answered,
}: {
  readonly answered: ReadonlySignal<Answered<AnomalyAnswer>>;
}) {
  const { answer } = answered.value;
  return (
    <Panel
      name="series"
      title={answer === undefined ? 'Affected series' : titleOf(answer)}
      answered={answered}
      empty={(answer) =>
        seriesRows(answer).length === 0
          ? 'This incident is of tailmark itself, not of a series.'
          : undefined
      }
      table={(answer) => seriesTable(seriesRows(answer))}
    >
      {(answer) => {
        const rows = seriesRows(answer);
        return <SeriesTable rows={rows} more={answer.series_count - rows.length} />;
      }}
    </Panel>
  );
}

function titleOf({ series_count, event: { kind, scope } }: AnomalyAnswer): string {
  if (kind === 'pipeline') return 'Affected series';
  return scope === undefined
    ? plural(series_count, 'affected series', 'affected series')
    : `${scope.affected} of ${scope.total} series affected, ${scope.unresolved} not recovered`;
}

function SeriesTable({
  rows,
  more,
}: {
  readonly rows: readonly SeriesRow[];
  readonly more: number;
}) {
  const isMs = rows.every(({ unit }) => unit === 'ms');
  const column = msFormat(
    isMs ? rows.flatMap(({ observed, baseline }) => [observed, baseline]) : [],
  );
  const headOf = (name: string) => (isMs ? `${name}, ${column.unit}` : name);
  return (
    <>
      <table class="cards">
        <caption class="sr">Affected series</caption>
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col">{isMs ? 'Stage' : 'Measured'}</th>
            <th scope="col" class="number">
              {headOf('Observed')}
            </th>
            <th scope="col" class="number">
              {headOf('Baseline')}
            </th>
            <th scope="col" class="number">
              Ratio
            </th>
            <th scope="col">Since</th>
            <th scope="col">Recovered</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const format = isMs ? column.format : row.format;
            return (
              <tr key={`${row.name} ${row.measured}`}>
                <td class="name">
                  {row.model === '' ? (
                    row.name
                  ) : (
                    <a href={hrefTo({ view: 'model', model: row.model }, row.filters)}>
                      {row.name}
                    </a>
                  )}
                </td>
                <td data-label={isMs ? 'Stage' : 'Measured'}>{row.measured}</td>
                <td class="number" data-label="Observed" data-unit={isMs ? column.unit : undefined}>
                  <Value value={row.observed}>{format(row.observed)}</Value>
                </td>
                <td class="number" data-label="Baseline" data-unit={isMs ? column.unit : undefined}>
                  <Value value={row.baseline}>{format(row.baseline)}</Value>
                </td>
                <td class="number" data-label="Ratio">
                  <Value value={row.ratio}>{formatRatio(row.ratio)}</Value>
                </td>
                <td data-label="Since">
                  <Time at={row.startedAt} />
                </td>
                <td data-label="Recovered">
                  {row.resolvedAt === null ? 'no' : <Time at={row.resolvedAt} />}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {more > 0 && <p class="hint">{more} more affected series.</p>}
    </>
  );
}
