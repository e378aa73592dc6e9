import { unaccounted } from '../charts/geometry/composition.ts';
import type {
  CompositionAnswer,
  DensityAnswer,
  FacetsAnswer,
  RequestsAnswer,
  TailsAnswer,
} from '../data/answers.ts';
import { quantileName } from '../format/number.ts';
import type { TableOf } from '../parts/data-table.tsx';

/** Numbers of a fan: a row a step. */
export function fanTable({ rows }: TailsAnswer): TableOf {
  const names = rows[0]?.quantiles.map(({ q }) => `${quantileName(q)}, ms`) ?? [];
  return {
    heads: [
      'at',
      'state',
      'requests',
      'failed',
      ...names,
      'baseline low, ms',
      'baseline, ms',
      'baseline high, ms',
    ],
    rows: rows.map(({ at, state, requests, failed, quantiles, baseline }) => [
      at,
      state,
      requests,
      failed,
      ...quantiles.map(({ ms }) => ms),
      baseline?.low_ms ?? null,
      baseline?.median_ms ?? null,
      baseline?.high_ms ?? null,
    ]),
  };
}

/** Numbers of splits: a row a value. */
export function splitTable({ rows }: TailsAnswer, name: string): TableOf {
  const names = rows[0]?.quantiles.map(({ q }) => `${quantileName(q)}, ms`) ?? [];
  return {
    heads: [name, 'requests', 'failed', 'mean, ms', ...names],
    rows: rows.map((row) => [
      row.by,
      row.requests,
      row.failed,
      row.mean_ms,
      ...row.quantiles.map(({ ms }) => ms),
    ]),
  };
}

/** Numbers by facet: a row a value. */
export function facetsTable({ rows }: FacetsAnswer): TableOf {
  const names = rows[0]?.quantiles.map(({ q }) => quantileName(q)) ?? [];
  return {
    heads: [
      ...['facet', 'value', 'requests'],
      ...names.flatMap((name) => [`${name} ≈, ms`, `${name} from, ms`, `${name} to, ms`]),
    ],
    rows: rows.map(({ facet, value, requests, quantiles }) => [
      ...[facet, value, requests],
      ...quantiles.flatMap(({ ms, low_ms, high_ms }) => [ms, low_ms, high_ms]),
    ]),
  };
}

/** Numbers of a density: a row a band of a step. */
export function densityTable({ rows }: DensityAnswer): TableOf {
  return {
    heads: ['at', 'state', 'from, ms', 'requests', 'of'],
    rows: rows.flatMap(({ at, state, requests, bands }) =>
      bands.map((band) => [at, state, band.from_ms, band.requests, requests]),
    ),
  };
}

/** Numbers of a composition: a row a slice, a column a stage. */
export function compositionTable({ rows }: CompositionAnswer): TableOf {
  const all = rows.flatMap(({ parts }) => parts.map(({ stage }) => stage));
  const stages = [...new Set(all)].sort(
    (x, y) => Number(x === unaccounted) - Number(y === unaccounted),
  );
  const meanOf = (row: (typeof rows)[number], stage: string) =>
    row.parts.find((part) => part.stage === stage)?.mean_ms ?? 0;
  const hasSteps = rows.some(({ at }) => at !== null);
  return {
    heads: [
      ...(hasSteps ? ['at'] : []),
      ...['from share', 'to share', 'above, ms', 'below, ms', 'requests', 'mean, ms'],
      ...stages.map((stage) => `${stage}, ms`),
      'baseline, ms',
    ],
    rows: rows.map((row) => [
      ...(hasSteps ? [row.at] : []),
      row.from_share,
      row.to_share,
      row.above_ms,
      row.below_ms,
      row.requests,
      row.mean_ms,
      ...stages.map((stage) => meanOf(row, stage)),
      row.baseline?.mean_ms ?? null,
    ]),
  };
}

/** Numbers of the slowest requests: a row a request, a column a stage. */
export function requestsTable({ rows }: RequestsAnswer): TableOf {
  const stages = [...new Set(rows.flatMap((row) => row.stages.map(({ stage }) => stage)))];
  return {
    heads: [
      ...['at', 'total, ms', 'status', 'version', 'type', 'region', 'host', 'trace'],
      ...stages.map((stage) => `${stage}, ms`),
    ],
    rows: rows.map((row) => [
      ...[row.at, row.total_ms, row.status, row.version, row.request_type, row.region],
      ...[row.host, row.trace_id],
      ...stages.map((stage) => row.stages.find((part) => part.stage === stage)?.ms ?? null),
    ]),
  };
}
