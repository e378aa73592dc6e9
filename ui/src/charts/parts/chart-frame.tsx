import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** A point of a chart: its column, and its row where it has rows. */
export interface Cursor {
  readonly column: number;
  readonly row: number;
}

export interface FrameProps {
  /** Name of the chart for those who do not see it. */
  readonly label: string;
  readonly columns: number;
  /** @default {1} */
  readonly rows?: number;
  readonly cursor: Signal<Cursor | null>;
  /** The value at a point, as a sentence. */
  readonly describe: (cursor: Cursor) => string;
  /** Enter at a point. */
  readonly onOpen?: ((cursor: Cursor) => void) | undefined;
  /** Shift and an arrow: selects from where it began. */
  readonly onExtend?: ((from: Cursor, to: Cursor) => void) | undefined;
  readonly onEscape?: (() => void) | undefined;
  /** Start of the cursor when an arrow is first pressed. */
  readonly start?: Cursor;
  /** True if the next row is below, as in a list, and not above, as on an axis. */
  readonly isList?: boolean;
  readonly children: ComponentChildren;
}

/** Columns that Page Up and Page Down move by. */
const pageColumns = 10;

/**
 * Makes a drawing usable by keyboard: it takes focus, arrows, Home, End, Page Up and Page Down move a cursor,
 * and the value at the cursor is announced.
 */
export function ChartFrame(props: FrameProps) {
  const { label, columns, rows = 1, cursor, describe, children } = props;
  const spoken = useSignal('');
  const anchor = useSignal<Cursor | null>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || columns === 0) return;
    if (event.key === 'Escape') {
      anchor.value = null;
      cursor.value = null;
      spoken.value = '';
      props.onEscape?.();
      return;
    }
    if (event.key === 'Enter' && cursor.value !== null && props.onOpen !== undefined) {
      event.preventDefault();
      props.onOpen(cursor.value);
      return;
    }
    const { start = { column: 0, row: 0 }, isList = false } = props;
    const next = movedBy(event.key, cursor.value, { columns, rows, start, isList });
    if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.shiftKey && props.onExtend !== undefined) {
      anchor.value ??= cursor.value ?? next;
      props.onExtend(anchor.value, next);
    } else anchor.value = null;
    cursor.value = next;
    spoken.value = describe(next);
  };
  return (
    <div class="chart-frame-outer">
      <div
        class="chart-frame"
        role="application"
        aria-roledescription="chart"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrows move a cursor in it.
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        {children}
      </div>
      <Spoken text={spoken} />
    </div>
  );
}

function Spoken({ text }: { readonly text: ReadonlySignal<string> }) {
  return (
    <div class="sr" aria-live="polite">
      {text.value}
    </div>
  );
}

interface Grid {
  readonly columns: number;
  readonly rows: number;
  readonly start: Cursor;
  readonly isList: boolean;
}

/** Target of the cursor for a key; null where it moves nothing. */
function movedBy(
  key: string,
  cursor: Cursor | null,
  { columns, rows, start, isList }: Grid,
): Cursor | null {
  const [byColumn, byRow] = moves[key] ?? [];
  if (byColumn === undefined || byRow === undefined) return null;
  if (byRow !== 0 && rows === 1) return null;
  if (cursor === null) return start;
  const within = (value: number, most: number) => Math.min(Math.max(value, 0), most - 1);
  return {
    column: within(cursor.column + byColumn, columns),
    row: within(cursor.row + (isList ? -byRow : byRow), rows),
  };
}

const moves: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  PageUp: [-pageColumns, 0],
  PageDown: [pageColumns, 0],
  Home: [Number.NEGATIVE_INFINITY, 0],
  End: [Number.POSITIVE_INFINITY, 0],
};
