import { visible } from '../../views/text/format.ts';
import { colorsOf } from './colors.ts';
import { displayWidth, truncateToWidth } from './display-width.ts';

/** A column by its title, aligned left unless made by `right`. */
export type TableColumn = string | { readonly right: string };

export function right(...titles: readonly string[]): TableColumn[] {
  return titles.map((title) => ({ right: title }));
}

/** Text, or text with a style that does not count as width. */
export type TableCell =
  | string
  | { readonly text: string; readonly style: (text: string) => string };

export interface Table {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly TableCell[])[];
  readonly color: boolean;
  /** Columns of the terminal; wider tables have their widest cells truncated. @default {no limit} */
  readonly maxWidth?: number | undefined;
}

const gap = '  ';
/** Narrower cells are unreadable, so a table of many columns may be too wide. */
const leastWidth = 8;

/**
 * Renders a table for a terminal, a line a row, each ended by a newline, aligned by the width of characters
 * on the screen. Control characters, which may come from events, are shown as escapes.
 */
export function renderTable({ columns, rows, color, maxWidth }: Table): string {
  const { bold } = colorsOf({ color });
  const cells = rows.map((row) =>
    columns.map((_, i) => {
      const cell = row[i] ?? '';
      return typeof cell === 'string'
        ? { text: visible(cell), style: undefined }
        : { text: visible(cell.text), style: cell.style };
    }),
  );
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.right));
  const widths = titles.map((title, i) =>
    cells.reduce((most, row) => Math.max(most, displayWidth(row[i]?.text ?? '')), title.length),
  );
  if (maxWidth !== undefined) shrink(widths, maxWidth);
  const line = (row: readonly { text: string; style: ((text: string) => string) | undefined }[]) =>
    `${row
      .map(({ text, style }, i) => {
        const kept = truncateToWidth(text, widths[i] as number);
        const styled = color && style !== undefined ? style(kept) : kept;
        const padding = ' '.repeat((widths[i] as number) - displayWidth(kept));
        if (typeof columns[i] !== 'string') return padding + styled;
        return i === columns.length - 1 ? styled : styled + padding;
      })
      .join(gap)
      .trimEnd()}\n`;
  const header = line(titles.map((title) => ({ text: title, style: bold })));
  return header + cells.map(line).join('');
}

/** Narrows the widest cells until the line fits or all are at their least width. */
function shrink(widths: number[], maxWidth: number): void {
  let excess = widths.reduce((sum, width) => sum + width + gap.length, -gap.length) - maxWidth;
  for (; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] as number) <= leastWidth) return;
    widths[widest] = (widths[widest] as number) - 1;
  }
}
