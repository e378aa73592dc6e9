type Plain = string | number | null;

/** Table behind a panel's "Show as a table": heads, and rows of the same length. */
export interface TableOf {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly Plain[])[];
}

type Field<Row> = keyof Row & string;
/** A field under its own name, or a head with a field or with what reads a value from a row. */
export type PlainColumn<Row> =
  | Field<Row>
  | readonly [head: string, of: Field<Row> | ((row: Row) => Plain)];

/** A table of rows by its columns. */
export function tableOf<Row extends object>(
  rows: readonly Row[],
  columns: readonly PlainColumn<Row>[],
): TableOf {
  const pairs = columns.map((column) =>
    typeof column === 'string' ? ([column, column] as const) : column,
  );
  return {
    heads: pairs.map(([head]) => head),
    rows: rows.map((row) =>
      pairs.map(([, of]) => (typeof of === 'string' ? (row[of] as Plain) : of(row))),
    ),
  };
}
