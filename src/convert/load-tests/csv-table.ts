import type { DraftSink, Origin } from '../../formats/format-reader.ts';
import type { CsvRecord } from './csv-records.ts';
import { FieldReader } from './field-reader.ts';
import { originOf } from './json-lines.ts';

interface Row {
  readonly fields: FieldReader;
  readonly origin: Origin;
}

/** Gives the cells of records the names of the header, and rejects what is no row. */
export class CsvTable {
  readonly #sink: DraftSink;
  readonly #headerOf: (cells: readonly string[]) => readonly string[] | undefined;
  readonly #defaults: readonly (readonly string[])[];
  readonly #delimiter: string;
  #columns: readonly string[] | undefined;
  #index = new Map<string, number>();

  /**
   * @param headerOf returns the columns where the record is a header; files put together have several.
   * @param defaults columns of files without a header: those with as many cells as the first record.
   */
  constructor(
    sink: DraftSink,
    headerOf: (cells: readonly string[]) => readonly string[] | undefined,
    defaults: readonly (readonly string[])[],
    delimiter = ',',
  ) {
    this.#delimiter = delimiter;
    this.#sink = sink;
    this.#headerOf = headerOf;
    this.#defaults = defaults;
  }

  /** Returns the row of a record; undefined where it is a header or was rejected. */
  row({ line, text, cells }: CsvRecord): Row | undefined {
    if (cells === undefined) {
      const rule = 'must be CSV, with quotes closed and at most 1 MiB long';
      const detail = `Line ${line} ${rule}: it begins with ${JSON.stringify(text.slice(0, 40))}`;
      this.#sink.reject('invalid_line', detail, originOf(text));
      return undefined;
    }
    const header = this.#headerOf(cells);
    if (header !== undefined) {
      this.#name(header);
      return undefined;
    }
    if (this.#columns === undefined) {
      const known = this.#defaults.find((columns) => columns.length === cells.length);
      if (known !== undefined) this.#name(known);
    }
    const columns = this.#columns;
    if (columns?.length !== cells.length) {
      const counts = columns?.length ?? this.#defaults.map(({ length }) => length).join(' or ');
      const detail = `Line ${line} must have ${counts} fields: it has ${cells.length}`;
      this.#sink.reject('invalid_line', detail, originOf(text));
      return undefined;
    }
    const fieldOf = (name: string) => cells[this.#index.get(name) ?? -1];
    const origin = originOf(() => `${columns.join(this.#delimiter)}\n${text}\n`);
    return { fields: new FieldReader(`Line ${line}`, fieldOf), origin };
  }

  #name(columns: readonly string[]): void {
    this.#columns = columns;
    this.#index = new Map(columns.map((name, i) => [name, i]));
  }
}
