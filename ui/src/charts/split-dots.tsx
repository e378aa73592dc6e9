import { shownName } from '../format/name.ts';
import { formatCount, formatMs, formatShare, msFormat, quantileName } from '../format/number.ts';
import { Quantile, Value } from '../parts/value.tsx';
import { logScale, type Scale } from './geometry/scale.ts';
import { type SplitRow, splitsOf } from './geometry/splits.ts';

interface Props {
  readonly caption: string;
  /** Head of the names: "Version". */
  readonly name: string;
  /** One row a value, with quantiles; the first is the dot at the left, the last that at the right. */
  readonly rows: readonly SplitRow[];
  /** Least and largest value of all splits, so that they compare. */
  readonly extent: readonly [number, number];
  /** Address of the requests with a value; absent: there is none. */
  readonly hrefOf?: (value: string) => string;
  readonly labelOf?: (value: string) => string;
  /** True if rows keep their order; those with most requests come first otherwise. */
  readonly isOrdered?: boolean;
  /** True if percentiles are read from bands. */
  readonly isApproximate?: boolean;
}

/** Rows at most; a model has more hosts than an eye has patience. */
const mostRows = 8;

/** Quantiles of each value of a dimension, as dots on a log axis that all dimensions share. */
export function SplitDots({
  caption,
  name,
  rows,
  extent,
  hrefOf,
  labelOf = (value) => value,
  isOrdered = false,
  isApproximate = false,
}: Props) {
  const total = rows.reduce((sum, { requests }) => sum + requests, 0);
  const { shown, hidden, slowest } = splitsOf(rows, mostRows, isOrdered);
  const { unit, format } = msFormat(
    shown.flatMap(({ quantiles }) => quantiles.map(({ ms }) => ms)),
  );
  const last = shown[0]?.quantiles.at(-1)?.q ?? 0.99;
  const x = logScale(extent, [3, 97]);
  const nameOf = (value: string) => shownName(labelOf(value)) || '(none)';
  return (
    <table class="splits">
      <caption class="sr">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col" class="splits-track">
            <span class="sr">Percentiles</span>
          </th>
          <th scope="col" class="number">
            {isApproximate && '≈ '}
            {quantileName(last)}, {unit}
          </th>
          <th scope="col" class="number">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map((row) => (
          <tr key={row.by}>
            <th scope="row">
              {hrefOf === undefined ? (
                nameOf(row.by)
              ) : (
                <a href={hrefOf(row.by)} title={`Only ${nameOf(row.by)}`}>
                  {nameOf(row.by)}
                </a>
              )}
            </th>
            <td class="splits-track">
              <Dots row={row} x={x} />
            </td>
            <td class="number">
              <Quantile q={last} ms={row.quantiles.at(-1)?.ms} requests={row.requests}>
                {format(row.quantiles.at(-1)?.ms)}
              </Quantile>
            </td>
            <td class="number" title={`${formatCount(row.requests)} requests`}>
              <Value value={row.requests}>
                {formatShare(total === 0 ? null : row.requests / total)}
              </Value>
            </td>
          </tr>
        ))}
      </tbody>
      {hidden > 0 && (
        <tfoot>
          <tr>
            <td colSpan={4}>
              {hidden} more with fewer requests, in the table
              {slowest !== null && (
                <>
                  ; slowest of them{' '}
                  {hrefOf === undefined ? (
                    nameOf(slowest.row.by)
                  ) : (
                    <a href={hrefOf(slowest.row.by)}>{nameOf(slowest.row.by)}</a>
                  )}
                  , {quantileName(slowest.q)}{' '}
                  <Quantile {...slowest} requests={slowest.row.requests}>
                    {formatMs(slowest.ms)}
                  </Quantile>
                </>
              )}
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function Dots({ row, x }: { readonly row: SplitRow; readonly x: Scale }) {
  const known = row.quantiles.flatMap(({ q, ms }) => (ms === null ? [] : [{ q, ms }]));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return null;
  const text = known.map(({ q, ms }) => `${quantileName(q)} ${formatMs(ms)}`).join(', ');
  return (
    <span class="dots" role="img" aria-label={text} title={text}>
      <i
        class="dots-line"
        style={{ left: `${x(first.ms)}%`, width: `${x(last.ms) - x(first.ms)}%` }}
      />
      {known.map(({ q, ms }) => (
        <i key={q} class="split-dot" data-last={q === last.q} style={{ left: `${x(ms)}%` }} />
      ))}
    </span>
  );
}
