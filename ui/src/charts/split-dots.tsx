import { valueText } from '../../../src/series/value-text.ts';
import { shownName } from '../format/name.ts';
import {
  boundPrefix,
  formatMs,
  formatShare,
  msFormat,
  plural,
  quantileName,
} from '../format/number.ts';
import { type Column, Table } from '../parts/data-table.tsx';
import { Quantile, Value } from '../parts/value.tsx';
import { logScale, type Scale } from './geometry/scale.ts';
import { hiddenWords, type LeftOut, type SplitRow, splitsOf } from './geometry/splits.ts';

interface Props {
  readonly caption: string;
  /** Head of the names: "Version". */
  readonly name: string;
  /** One row a value, with quantiles; the first is the dot at the left, the last that at the right. */
  readonly rows: readonly SplitRow[];
  /** Values that the rows lack, those with the fewest requests; absent: none. */
  readonly leftOut?: LeftOut;
  /** Least and largest value of all splits, so that they compare. */
  readonly extent: readonly [number, number];
  /** Address of the requests with a value; absent: there is none. */
  readonly hrefOf?: (value: string) => string;
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
  leftOut = { rows: 0, requests: 0 },
  extent,
  hrefOf,
  isOrdered = false,
  isApproximate = false,
}: Props) {
  const total = rows.reduce((sum, { requests }) => sum + requests, leftOut.requests);
  const { shown, hidden, slowest } = splitsOf(rows, mostRows, isOrdered);
  const { unit, format } = msFormat(
    shown.flatMap(({ quantiles }) => quantiles.map(({ ms }) => ms)),
  );
  const last = shown[0]?.quantiles.at(-1)?.q ?? 0.99;
  const x = logScale(extent, [3, 97]);
  const nameOf = ({ by }: SplitRow) => {
    const text = shownName(valueText(by));
    return hrefOf === undefined ? (
      text
    ) : (
      <a href={hrefOf(by)} title={`Only ${text}`}>
        {text}
      </a>
    );
  };
  const columns: readonly Column<SplitRow>[] = [
    { head: name, isName: true, cell: nameOf },
    {
      head: <span class="sr">Percentiles</span>,
      class: 'splits-track',
      cell: (row) => <Dots row={row} x={x} />,
    },
    {
      head: `${isApproximate ? '≈ ' : ''}${quantileName(last)}, ${unit}`,
      isNumber: true,
      cell: ({ quantiles, requests }) => (
        <Quantile q={last} ms={quantiles.at(-1)?.ms} requests={requests}>
          {boundPrefix(quantiles.at(-1)?.at_least === true)}
          {format(quantiles.at(-1)?.ms)}
        </Quantile>
      ),
    },
    {
      head: 'Share',
      isNumber: true,
      cell: ({ requests }) => (
        <span title={plural(requests, 'request')}>
          <Value value={requests}>{formatShare(total === 0 ? null : requests / total)}</Value>
        </span>
      ),
    },
  ];
  const [more, slowestOf] = hiddenWords(hidden, leftOut.rows);
  const foot = hidden > 0 && (
    <>
      {more}
      {slowest !== null && (
        <>
          ; {slowestOf} {nameOf(slowest.row)}, {quantileName(slowest.q)}{' '}
          <Quantile q={slowest.q} ms={slowest.ms} requests={slowest.row.requests}>
            {boundPrefix(slowest.isAtLeast)}
            {formatMs(slowest.ms)}
          </Quantile>
        </>
      )}
    </>
  );
  return (
    <Table
      class="splits"
      {...{ caption, columns }}
      rows={shown}
      keyOf={({ by }) => by}
      foot={foot || undefined}
    />
  );
}

function Dots({ row, x }: { readonly row: SplitRow; readonly x: Scale }) {
  const known = row.quantiles.flatMap(({ q, ms, at_least = false }) =>
    ms === null ? [] : [{ q, ms, isAtLeast: at_least }],
  );
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return null;
  const text = known
    .map(({ q, ms, isAtLeast }) => `${quantileName(q)} ${boundPrefix(isAtLeast)}${formatMs(ms)}`)
    .join(', ');
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
