import type { Rate } from '../../../../src/contract/anomaly-event.ts';
import { ownLabels } from '../../../../src/contract/format.ts';
import { stageLabel } from '../../../../src/contract/measure-unit.ts';
import { formatRate } from '../../charts/rate-text.ts';
import type { AnomalyAnswer } from '../../data/answers.ts';
import { shownName } from '../../format/name.ts';
import { formatMs, quantileName } from '../../format/number.ts';
import { tableOf } from '../../parts/table-of.ts';
import { shownRate } from './incident-rate.ts';

type Listed = AnomalyAnswer['series'][number];

/** A series of an incident: the rate that is anomalous in it, or else its quantile. */
export interface SeriesRow {
  readonly name: string;
  readonly model: string;
  readonly filters: Readonly<Record<string, string>>;
  /** The blamed stage; null of a rate. */
  readonly blame: string | null;
  /** The quantile and its stage, "p99 of total", or what the rate counts. */
  readonly measured: string;
  readonly unit: string;
  /** Null where an older event has no rate of this series. */
  readonly observed: number | null;
  readonly baseline: number | null;
  readonly ratio: number | null;
  /** A value of it with its unit. */
  readonly format: (value: number | null) => string;
  /** End of the windows that these are of; null of older events. */
  readonly measuredAt: string | null;
  readonly startedAt: string;
  /** Time at which its tail, or its rate, fell; null while it is open, and where that is unknown. */
  readonly endedAt: string | null;
  /** Time at which that was noticed. */
  readonly resolvedAt: string | null;
}

/** Series of an incident, the most affected first; none of one of tailmark itself. */
export function seriesRows({
  event,
  series,
}: Pick<AnomalyAnswer, 'event' | 'series'>): readonly SeriesRow[] {
  if (event.kind === 'pipeline') return [];
  return series.map((each) => rowOf(each, event.rate));
}

function rowOf(series: Listed, rateOfIncident: Rate | undefined): SeriesRow {
  const { model, version, region, request_type, cold_start, rate, quantile } = series;
  const row = {
    name: nameOf(series),
    model,
    filters: {
      ...{ version, region, request_type, start: cold_start ? 'cold' : 'warm' },
      ...(series.attributes !== undefined && { attributes: series.attributes }),
    },
    blame: null,
    measuredAt: series.measured_at ?? null,
    startedAt: series.started_at,
    endedAt: series.ended_at ?? null,
    resolvedAt: series.resolved_at,
  };
  const known = rate ?? rateOfIncident;
  if (known === undefined) {
    return {
      ...row,
      blame: series.stage,
      measured: `${quantileName(quantile)} of ${shownName(stageLabel(series.measured_stage))}`,
      ...{ unit: 'ms', format: formatMs, ratio: series.ratio },
      ...{ observed: series.observed_ms, baseline: series.baseline_ms },
    };
  }
  const { measure, measured } = shownRate(known);
  return {
    ...row,
    ...{ measured, unit: known.unit, format: (value) => formatRate(measure, value) },
    observed: rate?.observed ?? null,
    baseline: rate?.baseline ?? null,
    ratio: rate?.ratio ?? null,
  };
}

/** "ranker, 2026-11-01, search, eu-west-1": the dimensions that it has; "all models" without one. */
function nameOf(series: Listed): string {
  const { model, version, request_type, region, host, tenant, cold_start } = series;
  const own = ownLabels(series);
  const known = [model, version, request_type, region, host, tenant, ...own].filter(
    (value) => value !== '',
  );
  if (known.length === 0) return 'all models';
  return [...known.map(shownName), ...(cold_start ? ['cold starts'] : [])].join(', ');
}

/** Numbers of the series; a row has its own unit where one of them is a rate. */
export function seriesTable(rows: readonly SeriesRow[]) {
  const isMs = rows.every(({ unit }) => unit === 'ms');
  return tableOf(rows, [
    ['series', 'name'],
    ...(isMs ? (['blame'] as const) : []),
    'measured',
    [isMs ? 'observed, ms' : 'observed', 'observed'],
    [isMs ? 'baseline, ms' : 'baseline', 'baseline'],
    ...(isMs ? [] : (['unit'] as const)),
    'ratio',
    ['as of', 'measuredAt'],
    ['since', 'startedAt'],
    ['until', 'endedAt'],
    ['resolved', 'resolvedAt'],
  ]);
}
