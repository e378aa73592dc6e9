import type { ReadonlySignal } from '@preact/signals';
import type { ScopeMember } from '../../../../src/detect/event/anomaly-event.ts';
import type { AnomalyAnswer } from '../../../../src/views/answers/anomalies.ts';
import type { Answered } from '../../data/use-answer.ts';
import { formatRatio, msFormat, plural } from '../../format/number.ts';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { Value } from '../../parts/value.tsx';
import { hrefTo } from '../../state/place.ts';

type Series = Pick<
  ScopeMember,
  'model' | 'version' | 'request_type' | 'region' | 'host' | 'tenant' | 'service' | 'cold_start'
>;
type Shown = Series &
  Pick<
    ScopeMember,
    'stage' | 'observed_ms' | 'baseline_ms' | 'ratio' | 'started_at' | 'resolved_at'
  >;

/** The series that the incident affects, the worst first. */
export function AffectedSeries({
  answered,
}: {
  readonly answered: ReadonlySignal<Answered<AnomalyAnswer>>;
}) {
  const count = answered.value.answer?.series_count ?? 1;
  const scope = answered.value.answer?.event.scope;
  const title =
    scope === undefined
      ? plural(count, 'affected series', 'affected series')
      : `${scope.affected} of ${scope.total} series affected, ${scope.unresolved} not recovered`;
  return (
    <Panel
      name="series"
      title={title}
      answered={answered}
      table={(answer) => tableOf(seriesOf(answer))}
    >
      {(answer) => (
        <SeriesTable rows={seriesOf(answer)} more={answer.series_count - seriesOf(answer).length} />
      )}
    </Panel>
  );
}

function seriesOf({ event }: AnomalyAnswer): readonly Shown[] {
  return event.members ?? [event];
}

function SeriesTable({ rows, more }: { readonly rows: readonly Shown[]; readonly more: number }) {
  const { unit, format } = msFormat(
    rows.flatMap(({ observed_ms, baseline_ms }) => [observed_ms, baseline_ms]),
  );
  return (
    <>
      <table class="cards">
        <caption class="sr">Affected series</caption>
        <thead>
          <tr>
            <th scope="col">Series</th>
            <th scope="col">Stage</th>
            <th scope="col" class="number">
              Observed, {unit}
            </th>
            <th scope="col" class="number">
              Baseline, {unit}
            </th>
            <th scope="col" class="number">
              Ratio
            </th>
            <th scope="col">Since</th>
            <th scope="col">Recovered</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={nameOf(row)}>
              <td class="name">
                <a href={hrefTo({ view: 'model', model: row.model }, filtersOf(row))}>
                  {nameOf(row)}
                </a>
              </td>
              <td data-label="Stage">{row.stage}</td>
              <td class="number" data-label={`Observed, ${unit}`}>
                <Value value={row.observed_ms}>{format(row.observed_ms)}</Value>
              </td>
              <td class="number" data-label={`Baseline, ${unit}`}>
                <Value value={row.baseline_ms}>{format(row.baseline_ms)}</Value>
              </td>
              <td class="number" data-label="Ratio">
                <Value value={row.ratio}>{formatRatio(row.ratio)}</Value>
              </td>
              <td data-label="Since">
                <Time at={row.started_at} />
              </td>
              <td data-label="Recovered">
                {row.resolved_at === null ? 'no' : <Time at={row.resolved_at} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p class="hint">{more} more affected series.</p>}
    </>
  );
}

/** "ranker, 2026-11-01, search, eu-west-1": the dimensions that it has. */
function nameOf({
  model,
  version,
  request_type,
  region,
  host,
  tenant,
  cold_start,
}: Series): string {
  const known = [model, version, request_type, region, host, tenant].filter(
    (value) => value !== '',
  );
  return [...known, ...(cold_start ? ['cold'] : [])].join(', ');
}

function filtersOf({ version, region, request_type, cold_start }: Series) {
  return { version, region, request_type, start: cold_start ? 'cold' : 'warm' };
}

function tableOf(rows: readonly Shown[]) {
  return {
    heads: ['series', 'stage', 'observed, ms', 'baseline, ms', 'ratio', 'since', 'recovered'],
    rows: rows.map((row) => [
      ...[nameOf(row), row.stage, row.observed_ms, row.baseline_ms, row.ratio],
      ...[row.started_at, row.resolved_at],
    ]),
  };
}
