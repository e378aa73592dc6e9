import type { ComponentChildren } from 'preact';
import { formatCount } from '../format/number.ts';
import type { TableOf } from './table-of.ts';
import { Time } from './time.tsx';

/** A column of a table. One unit a column: it stands in the head. */
export interface Column<Row> {
  readonly head: ComponentChildren;
  /** Name for a card at 400 px; the head where it is a text. */
  readonly label?: string;
  readonly unit?: string;
  /** Unit that a number has on a card alone, where the head with its unit is hidden. */
  readonly cardUnit?: string | undefined;
  /** Numbers stand right, with tabular figures. */
  readonly isNumber?: boolean;
  /** True if its cells name their rows. */
  readonly isName?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  /** Name in `sort`; without it the column does not sort. */
  readonly key?: string;
  /** Value that a click on the head sorts by. */
  readonly sortBy?: (row: Row) => number | string | null;
  readonly class?: string;
}

interface TableProps<Row> {
  readonly caption: ComponentChildren;
  /** True if the caption is shown, and not only read out. */
  readonly isTitled?: boolean;
  /** Its style. @default cards: a card a row at 400 px */
  readonly class?: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, at: number) => string | number;
  /** Key of a column, with "-" in front for the largest first. */
  readonly sort?: string;
  readonly onSort?: (sort: string) => void;
  /** Below all rows, as wide as they are. */
  readonly foot?: ComponentChildren;
}

/** A table whose columns say what stands in them. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  sort,
  foot,
  ...more
}: TableProps<Row>) {
  return (
    <table class={more.class ?? 'cards'}>
      <caption class={more.isTitled ? '' : 'sr'}>{caption}</caption>
      <thead>
        <tr>
          {columns.map((column, i) => (
            <Head key={i} {...{ column, sort }} onSort={more.onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={keyOf(row, at)}>
            {columns.map((column, i) =>
              column.isName ? (
                <th key={i} scope="row">
                  {column.cell(row)}
                </th>
              ) : (
                <td
                  key={i}
                  class={classOf(column)}
                  data-label={labelOf(column)}
                  data-unit={column.cardUnit}
                >
                  {column.cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
      {foot !== undefined && (
        <tfoot>
          <tr>
            <td colSpan={columns.length}>{foot}</td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly sort: string | undefined;
  readonly onSort: ((sort: string) => void) | undefined;
}

/** Numbers begin with the largest, names with the first. */
function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const { key, head, unit, isNumber } = column;
  const isDown = sort === `-${key}`;
  const isSorted = key !== undefined && (isDown || sort === key);
  const text = (
    <>
      {head}
      {unit !== undefined && <span class="unit"> {unit}</span>}
    </>
  );
  return (
    <th
      scope="col"
      class={classOf(column)}
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}
    >
      {key === undefined ? (
        text
      ) : (
        <button
          type="button"
          class="head"
          onClick={() => onSort?.((isSorted ? isDown : !isNumber) ? key : `-${key}`)}
        >
          {isSorted && (
            <span aria-hidden="true" class="arrow">
              {isDown ? '▾' : '▴'}
            </span>
          )}
          {text}
        </button>
      )}
    </th>
  );
}

function labelOf<Row>({ head, label, unit }: Column<Row>): string {
  const text = label ?? (typeof head === 'string' ? head : '');
  return unit === undefined ? text : `${text} ${unit}`;
}

function classOf<Row>(column: Column<Row>): string {
  return [column.isNumber ? 'number' : '', column.class ?? ''].filter(Boolean).join(' ');
}

/** Rows in the order of `sort`; nulls come last, whichever way it sorts. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string,
): readonly Row[] {
  const isDown = sort.startsWith('-');
  const sortBy = columns.find(({ key }) => key === sort.replace(/^-/, ''))?.sortBy;
  if (sortBy === undefined) return rows;
  return rows.toSorted((left, right) => {
    const [a, b] = [sortBy(left), sortBy(right)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order = typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b);
    return isDown ? -order : order;
  });
}

/** Rows that a table draws at most; a browser slows down with more. */
const maxRows = 1_000;

/** A plain table of the numbers behind a chart. */
export function DataTable({ heads, rows, caption }: TableOf & { caption: ComponentChildren }) {
  const columns = heads.map((head, column) => ({
    head,
    isNumber: rows.some((row) => typeof row[column] === 'number'),
    cell: (row: TableOf['rows'][number]) => <Cell value={row[column] ?? null} />,
  }));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
    <section class="table-scroll" tabIndex={0}>
      <Table
        class="data"
        {...{ caption, columns }}
        rows={rows.slice(0, maxRows)}
        keyOf={(_, at) => at}
      />
      {rows.length > maxRows && (
        <p class="notice">
          The first {maxRows} of {rows.length} rows. The query (SQL) returns all.
        </p>
      )}
    </section>
  );
}

const timeForm = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const digits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 6 });

/** A number for people with the exact one for machines, a time in the page's zone, or a text. */
function Cell({ value }: { readonly value: string | number | null }) {
  if (value === null) return <span class="none">–</span>;
  if (typeof value === 'number') {
    const text = Number.isInteger(value) ? formatCount(value) : digits.format(value);
    return <data value={String(value)}>{text}</data>;
  }
  return timeForm.test(value) ? <Time at={value} /> : <span>{value}</span>;
}
