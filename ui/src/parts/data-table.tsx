import type { ComponentChildren, JSX } from 'preact';
import { formatCount } from '../format/number.ts';
import { Time } from './time.tsx';

/** A column of a table. One unit a column: it stands in the head. */
export interface Column<Row> {
  readonly key: string;
  readonly head: ComponentChildren;
  /** Name for a card at 400 px; the head where it is a text. */
  readonly label?: string;
  readonly unit?: string;
  /** Numbers stand right, with tabular figures. */
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  /** Value that a click on the head sorts by; without it the column does not sort. */
  readonly sortBy?: (row: Row) => number | string | null;
  readonly class?: string;
}

/** Table behind a panel's button "Table": heads, and rows of the same length. */
export interface TableOf {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** Rows that a table draws at most; a browser slows down with more. */
const maxRows = 1_000;

/** A plain table of the numbers behind a chart. */
export function DataTable({ heads, rows, caption }: TableOf & { caption: ComponentChildren }) {
  const shown = rows.slice(0, maxRows);
  const isNumber = heads.map((_, column) => rows.some((row) => typeof row[column] === 'number'));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard
    <section class="table-scroll" tabIndex={0}>
      <table class="data">
        <caption class="sr">{caption}</caption>
        <thead>
          <tr>
            {heads.map((head, column) => (
              <th scope="col" key={head} class={isNumber[column] ? 'number' : ''}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, at) => (
            <tr key={at}>
              {row.map((value, column) => (
                <td key={column} class={isNumber[column] ? 'number' : ''}>
                  <Cell value={value} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
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

interface SortedProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Key of a column, with "-" in front for the largest first. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

/** A table that sorts by its heads, and becomes cards at 400 px. */
export function SortedTable<Row>(props: SortedProps<Row>) {
  const { caption, columns, rows, keyOf, sort, onSort } = props;
  const [by, isDown] = sort.startsWith('-') ? [sort.slice(1), true] : [sort, false];
  const headOf = (column: Column<Row>): JSX.Element => {
    const isSorted = column.key === by;
    const flip = () => onSort(isSorted ? `${isDown ? '' : '-'}${by}` : firstSort(column));
    return (
      <th
        key={column.key}
        scope="col"
        class={classOf(column)}
        aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}
      >
        {column.sortBy === undefined ? (
          headText(column)
        ) : (
          <button type="button" class="head" onClick={flip}>
            {isSorted && (
              <span aria-hidden="true" class="arrow">
                {isDown ? '▾' : '▴'}
              </span>
            )}
            {headText(column)}
          </button>
        )}
      </th>
    );
  };
  return (
    <table class="cards">
      <caption class="sr">{caption}</caption>
      <thead>
        <tr>{columns.map(headOf)}</tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td key={column.key} class={classOf(column)} data-label={labelOf(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Rows in the order of `sort`; nulls come last, whichever way it sorts. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string,
): Row[] {
  const isDown = sort.startsWith('-');
  const sortBy = columns.find(({ key }) => key === sort.replace(/^-/, ''))?.sortBy;
  if (sortBy === undefined) return [...rows];
  return [...rows].sort((left, right) => {
    const [a, b] = [sortBy(left), sortBy(right)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order = typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b);
    return isDown ? -order : order;
  });
}

/** Numbers begin with the largest, names with the first. */
function firstSort<Row>({ key, isNumber }: Column<Row>): string {
  return isNumber ? `-${key}` : key;
}

function headText<Row>({ head, unit }: Column<Row>): ComponentChildren {
  if (unit === undefined) return head;
  return (
    <>
      {head} <span class="unit">{unit}</span>
    </>
  );
}

function labelOf<Row>({ head, label, unit }: Column<Row>): string {
  const text = label ?? (typeof head === 'string' ? head : '');
  return unit === undefined ? text : `${text} ${unit}`;
}

function classOf<Row>(column: Column<Row>): string {
  return [column.isNumber ? 'number' : '', column.class ?? ''].filter(Boolean).join(' ');
}
