import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import {
  decimal,
  formatCount,
  formatExactShare,
  formatMsRange,
  formatShare,
  msFormat,
} from '../format/number.ts';
import {
  type DistributionBand,
  type DistributionBar,
  distributionOf,
} from './geometry/distribution.ts';
import { linearScale, linearTicks, logTicks } from './geometry/scale.ts';
import { ChartFrame, type Cursor } from './parts/chart-frame.tsx';
import { useWidth } from './parts/use-width.ts';

interface Props {
  readonly label: string;
  readonly bands: readonly DistributionBand[];
  readonly height?: number;
}

const top = 10;
const axisHeight = 26;

/** Share of the requests by duration on a log axis: before as an outline, during filled. */
export function DistributionChart({ label, bands, height = 220 }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const cursor = useSignal<Cursor | null>(null);
  const { bars, before, during, mostShare } = useMemo(() => distributionOf(bands), [bands]);
  const [left, right] = [44, Math.max(45, width - 16)];
  const bottom = height - axisHeight;
  const slot = (right - left) / Math.max(1, bars.length);
  const x = (i: number) => left + i * slot;
  const y = linearScale([0, mostShare || 1], [bottom, top]);
  const [first, end] = [bars[0]?.from_ms ?? 1, bars.at(-1)?.to_ms ?? 2];
  const unit = msFormat([end]);
  const xOfMs = linearScale([Math.log2(first), Math.log2(end)], [left, right]);
  const ticks = logTicks([first, end], Math.max(3, Math.floor(width / 60))).filter(
    (ms) => xOfMs(Math.log2(ms)) < right - 44,
  );
  const outline = bars.map(
    ({ beforeShare }, i) => `${x(i)},${y(beforeShare)}L${x(i + 1)},${y(beforeShare)}`,
  );
  const describe = ({ column }: Cursor) => sentenceOf(bars[column]);
  const at = cursor.value;
  return (
    <div class="chart chart-distribution">
      <div class="chart-legend">
        <span class="chart-key-static">
          <i class="chart-swatch distribution-before" />
          before <b>{before === 0 ? 'no requests' : formatCount(before)}</b>
        </span>
        <span class="chart-key-static">
          <i class="chart-swatch distribution-during" />
          during <b>{during === 0 ? 'no' : formatCount(during)}</b> requests
        </span>
      </div>
      <ChartFrame label={label} columns={bars.length} cursor={cursor} describe={describe}>
        <div
          ref={host}
          class="chart-plot"
          style={{ height: `${height}px` }}
          onPointerMove={(event) => {
            const box = host.current?.getBoundingClientRect();
            const column = Math.floor((event.clientX - (box?.left ?? 0) - left) / slot);
            cursor.value = column < 0 || column >= bars.length ? null : { column, row: 0 };
          }}
          onPointerLeave={() => {
            cursor.value = null;
          }}
        >
          <svg width={width} height={height} aria-hidden="true">
            <g class="chart-axis">
              {linearTicks([0, mostShare], 5).map((share) => (
                <g key={share}>
                  <line class="chart-grid" x1={left} x2={right} y1={y(share)} y2={y(share)} />
                  <text x={left - 6} y={y(share)} dy="0.35em" text-anchor="end">
                    {formatExactShare(share)}
                  </text>
                </g>
              ))}
              {ticks.map((ms) => (
                <text key={ms} x={xOfMs(Math.log2(ms))} y={bottom + 16} text-anchor="middle">
                  {decimal(unit.unit === 's' ? ms / 1000 : ms)}
                </text>
              ))}
              <text x={right} y={bottom + 16} text-anchor="end">
                {unit.unit}
              </text>
            </g>
            {bars.map(({ from_ms, duringShare }, i) => (
              <rect
                key={from_ms}
                class="distribution-during"
                x={x(i) + 0.5}
                width={Math.max(1, slot - 1)}
                y={y(duringShare)}
                height={Math.max(0, bottom - y(duringShare))}
              />
            ))}
            {before > 0 && (
              <path
                class="distribution-before"
                d={`M${left},${bottom}L${outline.join('L')}L${right},${bottom}`}
              />
            )}
            {at !== null && (
              <rect
                class="chart-cursor-cell"
                x={x(at.column)}
                width={slot}
                y={top}
                height={bottom - top}
              />
            )}
          </svg>
        </div>
      </ChartFrame>
      <p class="chart-readout">{at === null ? ' ' : describe(at)}</p>
    </div>
  );
}

function sentenceOf(bar: DistributionBar | undefined): string {
  if (bar === undefined) return '';
  const before = `before ${formatShare(bar.beforeShare)} (${formatCount(bar.before)})`;
  const during = `during ${formatShare(bar.duringShare)} (${formatCount(bar.during)})`;
  return `${formatMsRange(bar.from_ms, bar.to_ms)}: ${before}, ${during}`;
}
