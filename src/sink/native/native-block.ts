import { RowBinaryWriter } from '../row-binary/row-binary-writer.ts';

/** A column of a block, which is used again for the next block. */
export interface NativeColumn {
  /** Bytes before the data; absent where its type has none. */
  readonly prefix?: Uint8Array;
  /** Removes all rows. */
  reset(): void;
  /** The bytes of all rows. They are the column's own memory, and hold until its next change. */
  parts(): readonly Uint8Array[];
}

/**
 * One block of ClickHouse's Native format (https://clickhouse.com/docs/interfaces/formats/Native): the number
 * of columns and of rows, then name, type and data of each column. The server takes columns over whole, and
 * spends a twentieth of the CPU that the same rows cost it in RowBinary.
 *
 * Without a protocol version, as over HTTP: columns have no serialization of their own.
 */
export function nativeBlock(
  columns: Readonly<Record<string, NativeColumn>>,
  types: Readonly<Record<string, string>>,
  rowCount: number,
): Buffer {
  const names = Object.keys(types);
  const parts: Uint8Array[] = [];
  const head = new RowBinaryWriter(256);
  head.varUint(names.length);
  head.varUint(rowCount);
  for (const name of names) {
    const column = columns[name] as NativeColumn;
    head.string(name);
    head.string(types[name] as string);
    parts.push(head.copy());
    head.reset();
    if (column.prefix !== undefined) parts.push(column.prefix);
    parts.push(...column.parts());
  }
  return Buffer.concat(parts);
}
