import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { quantileName } from '../format/number.ts';
import { ratioTicks, tailPosition } from './geometry/scale.ts';
import { changeOf, type ShiftPoint, shiftOf } from './geometry/shift.ts';
import { ChartFrame, type Cursor } from './parts/chart-frame.tsx';
import { useWidth } from './parts/use-width.ts';
import { shiftSentence } from './shift-text.ts';

interface Props {
  readonly label: string;
  readonly points: readonly ShiftPoint[];
  /** The same with B weighted to the mix of A. */
  readonly likeWithLike: readonly ShiftPoint[] | null;
  readonly names: { readonly a: string; readonly b: string };
  /** Requests of the smaller side. */
  readonly requests: number;
  readonly height?: number;
}

const top = 10;
const axisHeight = 26;
/** Quantiles that have a label, the most wanted first. */
const tickQs = [0.5, 0.99, 0.9, 0.999, 0.95, 0.01, 0.75] as const;
/** Labels of quantiles closer than this are left out. */
const labelPx = 34;

/**
 * B / A at each quantile, with its interval. Each further nine of the quantile has the same width; a ratio
 * and its inverse are equally far from 1.
 */
export function ShiftFunction(props: Props) {
  const { label, points, likeWithLike, names, requests, height = 300 } = props;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const cursor = useSignal<Cursor | null>(null);
  const [left, right] = [52, Math.max(53, width - 16)];
  const bottom = height - axisHeight;
  const layout = shiftOf(points, requests, [left, right], [bottom, top]);
  const like = likeWithLike?.filter(({ ratio }) => ratio !== null) ?? [];
  const describe = ({ column }: Cursor) => shiftSentence(layout.points[column], requests, like);
  const follow = (event: PointerEvent) => {
    const box = host.current?.getBoundingClientRect();
    if (box === undefined || layout.points.length === 0) return;
    const px = event.clientX - box.left;
    const distances = layout.points.map((point) => Math.abs(point.px - px));
    cursor.value = { column: distances.indexOf(Math.min(...distances)), row: 0 };
  };
  const at = cursor.value === null ? undefined : layout.points[cursor.value.column];
  const clamp = (ratio: number) =>
    layout.y(Math.min(layout.ratios[1], Math.max(layout.ratios[0], ratio)));
  return (
    <div class="chart chart-shift">
      <div class="chart-legend">
        <span class="chart-key-static">
          <i class="chart-swatch shift-worse" />B slower
        </span>
        <span class="chart-key-static">
          <i class="chart-swatch shift-better" />B faster
        </span>
        <span class="chart-key-static">
          <i class="chart-swatch shift-unclear" />
          interval holds ×1
        </span>
        {like.length > 0 && (
          <span class="chart-key-static">
            <i class="chart-swatch-open" />
            like with like: B in the mix of A
          </span>
        )}
        {layout.points.some(({ isThin }) => isThin) && (
          <span class="chart-key-static">
            <i class="chart-swatch-hollow" />
            few requests
          </span>
        )}
      </div>
      <ChartFrame label={label} columns={layout.points.length} cursor={cursor} describe={describe}>
        <p class="chart-above">
          {names.b} / {names.a}, log
        </p>
        <div
          ref={host}
          class="chart-plot"
          style={{ height: `${height}px` }}
          onPointerMove={follow}
          onPointerLeave={() => {
            cursor.value = null;
          }}
        >
          <svg width={width} height={height} aria-hidden="true">
            <RatioAxis layout={layout} left={left} right={right} />
            <QuantileAxis x={layout.x} top={top} bottom={bottom} left={left} right={right} />
            <polygon
              class="shift-ribbon"
              points={layout.ribbon.map((point) => point.join()).join(' ')}
            />
            <line class="shift-one" x1={left} x2={right} y1={clamp(1)} y2={clamp(1)} />
            {like.length > 0 && (
              <polyline
                class="shift-like"
                points={like
                  .map(({ q, ratio }) => `${layout.x(tailPosition(q))},${clamp(ratio ?? 1)}`)
                  .join(' ')}
              />
            )}
            {layout.points.slice(1).map((point, i) => {
              const before = layout.points[i];
              if (before === undefined) return null;
              return (
                <line
                  key={point.q}
                  class={`shift-line shift-${changeOf(point) === changeOf(before) ? changeOf(point) : 'unclear'}`}
                  x1={before.px}
                  y1={before.py}
                  x2={point.px}
                  y2={point.py}
                />
              );
            })}
            {layout.points.map((point) => (
              <circle
                key={point.q}
                class={`shift-point shift-${changeOf(point)}`}
                data-thin={point.isThin}
                cx={point.px}
                cy={point.py}
                r={point === at ? 5 : 3}
              />
            ))}
            {at !== undefined && (
              <line class="chart-cursor" x1={at.px} x2={at.px} y1={top} y2={bottom} />
            )}
          </svg>
        </div>
      </ChartFrame>
      <p class="chart-readout">{shiftSentence(at, requests, like) || ' '}</p>
    </div>
  );
}

type Layout = ReturnType<typeof shiftOf>;

function RatioAxis({
  layout,
  left,
  right,
}: {
  readonly layout: Layout;
  readonly left: number;
  readonly right: number;
}) {
  return (
    <g class="chart-axis">
      {ratioTicks(layout.ratios, 7).map((ratio) => (
        <g key={ratio}>
          <line class="chart-grid" x1={left} x2={right} y1={layout.y(ratio)} y2={layout.y(ratio)} />
          <text x={left - 6} y={layout.y(ratio)} dy="0.35em" text-anchor="end">
            ×{Number(ratio.toPrecision(3))}
          </text>
        </g>
      ))}
    </g>
  );
}

interface QuantileAxisProps {
  readonly x: (value: number) => number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function QuantileAxis({ x, left, right, top, bottom }: QuantileAxisProps) {
  const shown: number[] = [];
  for (const q of tickQs) {
    const px = x(tailPosition(q));
    const isFree = shown.every((other) => Math.abs(x(tailPosition(other)) - px) >= labelPx);
    if (px >= left - 1 && px <= right + 1 && isFree) shown.push(q);
  }
  return (
    <g class="chart-axis">
      {shown.map((q) => (
        <g key={q}>
          <line
            class="chart-grid"
            x1={x(tailPosition(q))}
            x2={x(tailPosition(q))}
            y1={top}
            y2={bottom}
          />
          <text x={Math.min(x(tailPosition(q)), right - 8)} y={bottom + 16} text-anchor="middle">
            {quantileName(q)}
          </text>
        </g>
      ))}
    </g>
  );
}
