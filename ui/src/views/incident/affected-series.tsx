import type { ReadonlySignal } from '@preact/signals';
import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import type { Answered } from '../../data/use-answer.ts';
import { formatRatio, msFormat } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';
import { hrefTo } from '../../state/place.ts';
import type { Changes } from '../../state/url.ts';
import { incidentRange } from './incident-range.ts';
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
      title={answer === undefined || isOfTailmark(answer) ? 'Affected series' : answer.series_title}
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

function SeriesTable({
  rows,
  more,
  context,
}: {
  readonly rows: readonly SeriesRow[];
  readonly more: number;
  /** Range and stage of the incident, for links. */
  readonly context: Changes;
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
            {isMs && <th scope="col">Blame</th>}
            <th scope="col">Measured</th>
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
            <th scope="col">Until</th>
            <th scope="col">Resolved</th>
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
                    <a
                      href={hrefTo(
                        { view: 'model', model: row.model },
                        { ...context, ...row.filters },
                      )}
                    >
                      {row.name}
                    </a>
                  )}
                </td>
                {isMs && <td data-label="Blame">{row.blame}</td>}
                <td data-label="Measured">{row.measured}</td>
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
                <td data-label="Until">
                  <Until of={row} />
                </td>
                <td data-label="Resolved">
                  {row.resolvedAt === null ? '–' : <Time at={row.resolvedAt} />}
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

/** Time at which the series' tail fell. A tail that has become the baseline never did. */
function Until({ of: { endedAt, resolvedAt } }: { readonly of: SeriesRow }) {
  if (resolvedAt === null) return <>open</>;
  return endedAt === null ? <>–</> : <Time at={endedAt} />;
}
