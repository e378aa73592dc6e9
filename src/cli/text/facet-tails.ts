import { valueText } from '../../series/value-text.ts';
import type { FacetValue } from '../../sink/read-facets.ts';
import { colorsOf } from './colors.ts';
import { MarkedPercentiles } from './few-requests.ts';
import { renderTable, right } from './table.ts';

/** Percentiles that `tails --by` has of a facet. */
export const facetQuantiles = [0.5, 0.9, 0.95, 0.99, 0.999] as const;

/**
 * The rows of a facet as the dashboard has them: sizes go up, hosts and other names go from the slowest p99 on.
 */
export function inShownOrder<Row extends Omit<FacetValue, 'bands'>>(rows: readonly Row[]): Row[] {
  const isSize = rows.every(({ value }) => sizeOf(value) !== undefined);
  const slowness = ({ quantiles }: Row) => quantiles.find(({ q }) => q === 0.99)?.ms ?? 0;
  return rows.toSorted((x, y) =>
    isSize
      ? (sizeOf(x.value) ?? 0) - (sizeOf(y.value) ?? 0)
      : slowness(y) - slowness(x) || x.value.localeCompare(y.value),
  );
}

/** Low edge of a bucket such as `512-1023`, or its only value; undefined of a name. */
function sizeOf(value: string): number | undefined {
  const match = /^(\d+)(?:-\d+)?$/.exec(value);
  return match === null ? undefined : Number(match[1]);
}

/** Renders percentiles by the values of a facet, and how exact they are. */
export function renderFacetTails(
  rows: readonly Omit<FacetValue, 'bands'>[],
  color: boolean,
): string {
  const { bold, dim } = colorsOf({ color });
  const percentiles = new MarkedPercentiles({ color });
  const table = renderTable({
    color,
    columns: [rows[0]?.facet ?? 'value', ...right('requests', 'p50', 'p90', 'p95', 'p99', 'p99.9')],
    rows: rows.map(({ value, requests, quantiles }) => [
      { text: valueText(value), style: bold },
      requests.toLocaleString('en-US'),
      ...quantiles.map(({ q, ms }) => percentiles.cell(q, ms, requests, '≈')),
    ]),
  });
  const note =
    'whole requests of all regions, types and starts; percentiles are read from bands, within 25 %\n';
  return `${table}${percentiles.line()}${dim(note)}`;
}
