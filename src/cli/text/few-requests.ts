import { isHollow, requestsNeeded } from '../../contract/few-requests.ts';
import { formatCount, formatMs, quantileName } from '../../contract/format.ts';
import { colorsOf } from './colors.ts';
import type { TableCell } from './table.ts';

/** Percentiles of a table; those that rest on too few requests have a star, which its last line explains. */
export class MarkedPercentiles {
  readonly #colors: ReturnType<typeof colorsOf>;
  readonly #marked = new Set<number>();

  constructor(io: { readonly color: boolean }) {
    this.#colors = colorsOf(io);
  }

  /**
   * The text of a percentile: `412 ms`, `*412 ms`, `–` where there is none.
   *
   * @param requests that it is of.
   * @param prefix of its number. @default none
   */
  text(q: number, ms: number, requests: number, prefix = ''): string {
    const text = `${prefix}${formatMs(ms)}`;
    if (!Number.isFinite(ms) || !isHollow(q, requests)) return text;
    this.#marked.add(q);
    return `*${text}`;
  }

  /** The same as a cell for a terminal. */
  cell(...of: Parameters<MarkedPercentiles['text']>): TableCell {
    const { bold, dim } = this.#colors;
    const text = this.text(...of);
    if (text.startsWith('*')) return { text, style: dim };
    return of[0] === mainQuantile ? { text, style: bold } : text;
  }

  /** The note as a line of a terminal; '' where none is marked. */
  line(): string {
    const note = this.note();
    return note === '' ? '' : this.#colors.dim(`${note}\n`);
  }

  /** The last line of the table, `* few requests: p99 needs 2,000`; '' where none is marked. */
  note(): string {
    if (this.#marked.size === 0) return '';
    const needed = [...this.#marked]
      .sort((x, y) => x - y)
      .map((q) => `${quantileName(q)} needs ${formatCount(requestsNeeded(q))}`);
    return `* few requests: ${needed.join(', ')}`;
  }
}

/** The one that a reader looks at first. */
const mainQuantile = 0.99;
