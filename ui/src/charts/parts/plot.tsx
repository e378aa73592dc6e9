import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, TargetedPointerEvent } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { Scale } from '../geometry/scale.ts';
import { type Axis, scaleOf, type Tick } from './axis.ts';
import { ChartFrame, type Cursor } from './chart-frame.tsx';
import { useWidth } from './use-width.ts';

/** Area that a plot draws in, in pixels. */
export interface Area {
  readonly x: Scale;
  readonly y: Scale;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** Left and right of a column. */
  readonly slot: (column: number) => readonly [number, number];
  /** Place of a column's cursor. */
  readonly middle: (column: number) => number;
  /** Fill of diagonal lines. */
  readonly hatch: string;
}

/** Columns that are selected, the last one included. */
export type Columns = readonly [from: number, to: number];

export interface Brush {
  readonly selected: Signal<Columns | null>;
  readonly select: (from: Cursor, to: Cursor) => void;
  readonly clear: () => void;
}

export interface PlotProps {
  /** Name in its class. */
  readonly name: string;
  /** Name for those who do not see it. */
  readonly label: string;
  readonly height: number;
  readonly x: Axis;
  readonly y: Axis;
  /** Number of columns, each as wide as the others. */
  readonly columns: number;
  /** Values of the columns on the x axis, where they are points. */
  readonly points?: readonly number[];
  /** @default {1} */
  readonly rows?: number;
  /** Row at a column and a part of the height, from below. @default rows of equal height */
  readonly rowAt?: (column: number, part: number) => number;
  readonly start?: Partial<Cursor>;
  /** The value at a point, as a sentence. */
  readonly describe: (cursor: Cursor) => string;
  readonly legend?: (at: Cursor | null) => ComponentChildren;
  /** Above the plot: the unit of its values. */
  readonly above?: ComponentChildren;
  /** Text below it while the cursor is nowhere; null for none at all. */
  readonly idle?: string | null;
  /** Name of the x axis. */
  readonly title: string;
  /** Room right of the plot. @default as much as in all plots over time */
  readonly right?: number;
  /** True if the cursor is a cell, and not a line. */
  readonly isCell?: boolean;
  readonly brush?: Brush;
  readonly children: (area: Area) => ComponentChildren;
  /** Marks at the cursor, drawn above all. */
  readonly atCursor?: (area: Area, at: Cursor) => ComponentChildren;
  readonly below?: ComponentChildren;
}

const top = 8;
const axisHeight = 26;
const narrow = 560;
/** Room right of a plot without names there. */
export const plotRight = 24;

/** Room beside a plot over time, the same in all of them, so that equal times lie below each other. */
export const guttersOf = (width: number): { readonly left: number; readonly right: number } =>
  width < narrow ? { left: 44, right: 42 } : { left: 52, right: 52 };

/**
 * A drawing between two axes: pointer and keys move a cursor over its columns and rows, whose value is written
 * below it and announced. Only what depends on the cursor is drawn again as it moves.
 */
export function Plot(props: PlotProps) {
  const { name, label, height, columns, rows = 1, describe, start = {}, idle = ' ', brush } = props;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const id = useId();
  const cursor = useSignal<Cursor | null>(null);
  const area = areaOf(props, width, `url(#${id})`);
  const pointer = usePointer(props, area, cursor);
  return (
    <div class={`chart chart-${name}`}>
      {props.legend !== undefined && <Legend cursor={cursor} draw={props.legend} />}
      <ChartFrame
        {...{ label, columns, rows, cursor, describe }}
        start={{ column: Math.max(0, start.column ?? 0), row: start.row ?? 0 }}
        {...(brush && {
          onExtend: brush.select,
          onOpen: (at) => brush.select(at, at),
          onEscape: brush.clear,
        })}
      >
        {props.above !== undefined && <div class="chart-above">{props.above}</div>}
        <div ref={host} class="chart-plot" style={{ height: `${height}px` }} {...pointer}>
          <svg width={width} height={height} aria-hidden="true">
            <Hatch id={id} />
            <Axes area={area} {...props} />
            {props.children(area)}
            <Selection {...{ area, brush }} />
            <CursorMark {...{ area, cursor }} {...props} />
          </svg>
        </div>
        <div class="chart-below" style={{ marginRight: `${width - area.right}px` }}>
          {idle !== null && <Readout {...{ cursor, describe, idle }} />}
          <p class="chart-axis-title">{props.title}</p>
        </div>
      </ChartFrame>
      {props.below}
    </div>
  );
}

function areaOf(props: PlotProps, width: number, hatch: string): Area {
  const { x: xAxis, y: yAxis, height, columns, points } = props;
  const gutters = guttersOf(width);
  const { left } = gutters;
  const right = Math.max(left + 1, width - (props.right ?? gutters.right));
  const bottom = height - axisHeight;
  const x = scaleOf(xAxis, [left, right]);
  const edge = (column: number) => left + (column / Math.max(1, columns)) * (right - left);
  const middle = (column: number) =>
    points === undefined ? edge(column + 0.5) : x(points[column] ?? 0);
  const slot = (column: number) => [edge(column), edge(column + 1)] as const;
  return {
    ...{ x, y: scaleOf(yAxis, [bottom, top]), left, right, top, bottom, slot, middle, hatch },
  };
}

type PlotEvent = TargetedPointerEvent<HTMLElement>;

/** Moves the cursor with the pointer; where columns can be selected, a press selects one and a drag several. */
function usePointer(props: PlotProps, area: Area, cursor: Signal<Cursor | null>) {
  const { columns, rows = 1, points, brush } = props;
  const { rowAt = (_, part) => Math.floor(part * rows) } = props;
  const pressed = useRef<Cursor | null>(null);
  const columnAt = (px: number) => {
    const part = (px - area.left) / (area.right - area.left);
    if (points === undefined) return Math.floor(part * columns);
    const distances = points.map((_, i) => Math.abs(area.middle(i) - px));
    return distances.indexOf(Math.min(...distances));
  };
  const cursorAt = ({ clientX, clientY, currentTarget }: PlotEvent): Cursor => {
    const box = currentTarget.getBoundingClientRect();
    const column = columnAt(clientX - box.left);
    const row = rowAt(column, (area.bottom - (clientY - box.top)) / (area.bottom - top));
    return { column, row: Math.min(Math.max(row, 0), rows - 1) };
  };
  const isInside = ({ column }: Cursor) => column >= 0 && column < columns;
  const selectTo = (at: Cursor) => {
    const column = Math.min(Math.max(at.column, 0), columns - 1);
    if (pressed.current !== null) brush?.select(pressed.current, { ...at, column });
  };
  const release = () => {
    pressed.current = null;
  };
  return {
    onPointerMove(event: PlotEvent) {
      const at = cursorAt(event);
      const [next, last] = [isInside(at) ? at : null, cursor.peek()];
      if (next?.column !== last?.column || next?.row !== last?.row) cursor.value = next;
      // A finger that moves scrolls the page.
      if (event.pointerType !== 'touch') selectTo(at);
    },
    onPointerLeave() {
      cursor.value = null;
    },
    ...(brush && {
      onPointerDown(event: PlotEvent) {
        const at = cursorAt(event);
        if (event.button !== 0 || !isInside(at)) return;
        pressed.current = at;
        event.currentTarget.setPointerCapture(event.pointerId);
      },
      onPointerUp(event: PlotEvent) {
        selectTo(cursorAt(event));
        release();
      },
      onPointerCancel: release,
    }),
  };
}

function Axes({ area, x, y }: Pick<PlotProps, 'x' | 'y'> & { readonly area: Area }) {
  const { left, right, bottom } = area;
  const line = (tick: Tick, of: Scale, isBelow: boolean) => {
    const [value, text] = tick;
    const at = of(value);
    const [x1, x2, y1, y2] = isBelow ? [at, at, top, bottom] : [left, right, at, at];
    const place = isBelow
      ? ({ x: at, y: bottom + 15, 'text-anchor': 'middle' } as const)
      : ({ x: left - 6, y: at, dy: '0.35em', 'text-anchor': 'end' } as const);
    return (
      <g key={`${isBelow} ${value}`}>
        <line class="chart-grid" {...{ x1, x2, y1, y2 }} />
        <text {...place}>{text}</text>
      </g>
    );
  };
  return (
    <g class="chart-axis">
      {y.ticks(bottom - top, area.y).map((tick) => line(tick, area.y, false))}
      {x.ticks(right - left, area.x).map((tick) => line(tick, area.x, true))}
    </g>
  );
}

/** Diagonal lines, for baselines and for what is not stored. */
function Hatch({ id }: { readonly id: string }) {
  return (
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse">
      <path class="chart-hatch" d="M-1 1L1 -1M0 6L6 0M5 7L7 5" />
    </pattern>
  );
}

interface AtCursor {
  readonly cursor: Signal<Cursor | null>;
}

function Legend({ cursor, draw }: AtCursor & { readonly draw: NonNullable<PlotProps['legend']> }) {
  return <div class="chart-legend">{draw(cursor.value)}</div>;
}

type ReadoutProps = AtCursor & Pick<PlotProps, 'describe'> & { readonly idle: string };

function Readout({ cursor, describe, idle }: ReadoutProps) {
  return <p class="chart-readout">{cursor.value === null ? idle : describe(cursor.value)}</p>;
}

type MarkProps = AtCursor &
  Pick<PlotProps, 'rows' | 'isCell' | 'atCursor'> & { readonly area: Area };

function CursorMark({ area, cursor, rows = 1, isCell = false, atCursor }: MarkProps) {
  const at = cursor.value;
  if (at === null) return null;
  const { bottom, middle, slot } = area;
  const [from, to] = slot(at.column);
  const height = (bottom - top) / rows;
  const y = bottom - (at.row + 1) * height;
  return (
    <>
      {isCell ? (
        <rect
          class="chart-cursor-cell"
          x={from}
          width={Math.max(2, to - from)}
          {...{ y, height }}
        />
      ) : (
        <line
          class="chart-cursor"
          {...{ x1: middle(at.column), x2: middle(at.column), y1: top, y2: bottom }}
        />
      )}
      {atCursor?.(area, at)}
    </>
  );
}

function Selection({ area, brush }: { readonly area: Area; readonly brush: Brush | undefined }) {
  const selected = brush?.selected.value ?? null;
  if (selected === null) return null;
  const [[x], [, end]] = [area.slot(selected[0]), area.slot(selected[1])];
  return <rect class="chart-brush" {...{ x, y: top, width: end - x, height: area.bottom - top }} />;
}
