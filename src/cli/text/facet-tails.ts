import { formatMs } from '../../detect/event/format.ts';
import type { FacetValue } from '../../sink/read-facets.ts';
import { colorsOf } from './colors.ts';
import { renderTable, right } from './table.ts';

/** Percentiles that `tails --by` has of a facet. */
export const facetQuantiles = [0.5, 0.9, 0.95, 0.99, 0.999] as const;

/** Renders percentiles by the values of a facet, and how exact they are. */
export function renderFacetTails(
  rows: readonly Omit<FacetValue, 'bands'>[],
  color: boolean,
): string {
  const { bold, dim } = colorsOf({ color });
  const table = renderTable({
    color,
    columns: [rows[0]?.facet ?? 'value', ...right('requests', 'p50', 'p90', 'p95', 'p99', 'p99.9')],
    rows: rows.map(({ value, requests, quantiles }) => [
      { text: value === '' ? '(none)' : value, style: bold },
      requests.toLocaleString('en-US'),
      ...quantiles.map(({ q, ms }) => {
        const text = `≈${formatMs(ms)}`;
        return q === 0.99 ? { text, style: bold } : text;
      }),
    ]),
  });
  const note = 'whole requests; percentiles are read from bands, within 25 %\n';
  return `${table}${dim(note)}`;
}
