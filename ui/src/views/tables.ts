import { unaccounted } from '../charts/geometry/composition.ts';
import { hasTokens } from '../charts/geometry/request-bars.ts';
import type {
  CompositionAnswer,
  DensityAnswer,
  FacetsAnswer,
  RequestsAnswer,
  TailsAnswer,
} from '../data/answers.ts';
import { quantileName } from '../format/number.ts';
import { type PlainColumn, type TableOf, tableOf } from '../parts/table-of.ts';

type Tails = TailsAnswer['rows'];

const quantileColumns = (rows: Tails): readonly PlainColumn<Tails[number]>[] => [
  ...(rows[0]?.quantiles ?? []).map(
    ({ q }, i): PlainColumn<Tails[number]> => [
      `${quantileName(q)}, ms`,
      ({ quantiles }) => quantiles[i]?.ms ?? null,
    ],
  ),
  ...(rows.some(({ quantiles }) => boundsOf(quantiles) !== '')
    ? ([['at least', ({ quantiles }: Tails[number]) => boundsOf(quantiles)]] as const)
    : []),
];

/** Names of the quantiles that are lower bounds: "p99, p99.9". */
function boundsOf(quantiles: Tails[number]['quantiles']): string {
  const bounds = quantiles.filter(({ at_least }) => at_least);
  return bounds.map(({ q }) => quantileName(q)).join(', ');
}

/** Numbers of a fan: a row a step. */
export const fanTable = ({ rows }: TailsAnswer): TableOf =>
  tableOf(rows, [
    ...(['at', 'state', 'requests', 'failed'] as const),
    ...quantileColumns(rows),
    ['baseline low, ms', ({ baseline }) => baseline?.low_ms ?? null],
    ['baseline, ms', ({ baseline }) => baseline?.median_ms ?? null],
    ['baseline high, ms', ({ baseline }) => baseline?.high_ms ?? null],
  ]);

/** Numbers of splits: a row a value. */
export const splitTable = ({ rows }: TailsAnswer, name: string): TableOf =>
  tableOf(rows, [
    [name, 'by'],
    'requests',
    'failed',
    ['mean, ms', 'mean_ms'],
    ...quantileColumns(rows),
  ]);

/** Numbers by facet: a row a value. */
export const facetsTable = ({ rows }: FacetsAnswer): TableOf =>
  tableOf(rows, [
    ...(['facet', 'value', 'requests'] as const),
    ...(rows[0]?.quantiles ?? []).flatMap(({ q }, i) =>
      (
        [
          ['≈', 'ms'],
          ['from', 'low_ms'],
          ['to', 'high_ms'],
        ] as const
      ).map(
        ([what, key]): PlainColumn<FacetsAnswer['rows'][number]> => [
          `${quantileName(q)} ${what}, ms`,
          ({ quantiles }) => quantiles[i]?.[key] ?? null,
        ],
      ),
    ),
  ]);

/** Numbers of a density: a row a band of a step. */
export function densityTable({ rows }: DensityAnswer): TableOf {
  const cells = rows.flatMap(({ at, state, requests: all, bands }) =>
    bands.map((band) => ({ ...band, at, state, all })),
  );
  return tableOf(cells, ['at', 'state', ['from, ms', 'from_ms'], 'requests', ['of', 'all']]);
}

/** Numbers of a composition: a row a slice, a column a stage. */
export function compositionTable({ rows }: CompositionAnswer): TableOf {
  const all = rows.flatMap(({ parts }) => parts.map(({ stage }) => stage));
  const isRest = (stage: string) => Number(stage === unaccounted);
  const stages = [...new Set(all)].sort((x, y) => isRest(x) - isRest(y));
  return tableOf(rows, [
    ...(rows.some(({ at }) => at !== null) ? (['at'] as const) : []),
    ['from share', 'from_share'],
    ['to share', 'to_share'],
    ['above, ms', 'above_ms'],
    ['below, ms', 'below_ms'],
    'requests',
    ['mean, ms', 'mean_ms'],
    ...stages.map(
      (stage): PlainColumn<CompositionAnswer['rows'][number]> => [
        `${stage}, ms`,
        ({ parts }) => parts.find((part) => part.stage === stage)?.mean_ms ?? 0,
      ],
    ),
    ['baseline, ms', ({ baseline }) => baseline?.mean_ms ?? null],
  ]);
}

/** Numbers of the slowest requests: a row a request, a column a stage. */
export function requestsTable({ rows }: RequestsAnswer): TableOf {
  const stages = [...new Set(rows.flatMap((row) => row.stages.map(({ stage }) => stage)))];
  return tableOf(rows, [
    'at',
    ['total, ms', 'total_ms'],
    ...(['status', 'version'] as const),
    ['type', 'request_type'],
    ...(['region', 'host'] as const),
    ['trace', 'trace_id'],
    ...stages.map(
      (stage): PlainColumn<RequestsAnswer['rows'][number]> => [
        `${stage}, ms`,
        (row) => row.stages.find((part) => part.stage === stage)?.ms ?? null,
      ],
    ),
    ...(hasTokens(rows) ? (['input_tokens', 'output_tokens'] as const) : []),
  ]);
}
