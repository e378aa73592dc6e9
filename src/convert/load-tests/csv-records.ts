import { parse } from 'csv-parse/sync';
import type { Line } from '../lines.ts';

/** Longest line of a CSV file that is read. */
export const maxCsvLineBytes = 1024 * 1024;
/** Maximum lines of a quoted field: a longer one has a mistake in its first line. */
const maxRecordLines = 200;

/** A record of a CSV file. */
export interface CsvRecord {
  /** Number of the line it begins in. */
  readonly line: number;
  readonly text: string;
  /** Undefined where the text is no CSV. */
  readonly cells: readonly string[] | undefined;
}

interface PendingLine {
  readonly number: number;
  readonly text: string;
  readonly hasOddQuotes: boolean;
}

/** Puts lines together to records: a quoted field may span several. */
class RecordAssembler {
  readonly #delimiter: string;
  #pending: PendingLine[] = [];
  #charCount = 0;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  add(number: number, text: string): void {
    const quoteCount = text.includes('"') ? text.split('"').length - 1 : 0;
    this.#pending.push({ number, text, hasOddQuotes: quoteCount % 2 === 1 });
    this.#charCount += text.length;
  }

  /**
   * Yields the records that are complete. Where several lines make no record, the first of them alone is
   * wrong, and the others are read again: a quote that nobody closed costs one line, not the rest of the file.
   */
  *take(isEnd: boolean): Generator<CsvRecord> {
    while (this.#pending.length > 0) {
      const lineCount = this.#recordLines();
      if (lineCount === undefined) {
        const isOver = this.#pending.length >= maxRecordLines || this.#charCount > maxCsvLineBytes;
        if (!isEnd && !isOver) return;
        yield this.#shift(1, false);
      } else {
        yield this.#shift(lineCount, true);
      }
    }
  }

  /** Returns the number of lines of the first record, or undefined where its last line is not there. */
  #recordLines(): number | undefined {
    let isOpen = false;
    for (const [i, { hasOddQuotes }] of this.#pending.entries()) {
      if (hasOddQuotes) isOpen = !isOpen;
      if (!isOpen) return i + 1;
    }
    return undefined;
  }

  #shift(lineCount: number, isComplete: boolean): CsvRecord {
    const taken = this.#pending.slice(0, lineCount);
    const line = taken[0]?.number ?? 0;
    const joined = taken.map(({ text }) => text).join('\n');
    const cells = isComplete ? cellsOf(joined, this.#delimiter) : undefined;
    const removed = cells === undefined ? taken.slice(0, 1) : taken;
    this.#pending.splice(0, removed.length);
    for (const { text } of removed) this.#charCount -= text.length;
    return { line, text: cells === undefined ? (removed[0]?.text ?? '') : joined, cells };
  }
}

function cellsOf(text: string, delimiter: string): readonly string[] | undefined {
  if (!text.includes('"')) return text.split(delimiter);
  try {
    const rows: string[][] = parse(text, { delimiter, relax_column_count: true });
    return rows.length === 1 ? rows[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Reads CSV (RFC 4180) as a stream. Empty lines are left out; memory does not grow with the file. */
export async function* csvRecords(
  source: AsyncIterable<Line>,
  delimiter = ',',
): AsyncGenerator<CsvRecord, void> {
  const assembler = new RecordAssembler(delimiter);
  for await (const { number, text } of source) {
    if (text === undefined) {
      yield* assembler.take(true);
      yield { line: number, text: '', cells: undefined };
    } else if (text !== '') {
      assembler.add(number, text);
      yield* assembler.take(false);
    }
  }
  yield* assembler.take(true);
}
