import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { decimal, formatCount, formatMsRange, formatShare } from '../format/number.ts';
import { theme, token } from '../state/theme.ts';
import { utc } from '../state/zone.ts';
import { bandEdgeMs, type Density, type DensityCell, depthOf } from './geometry/density.ts';
import { linearScale, logTicks } from './geometry/scale.ts';
import type { TimeSpan } from './geometry/step-grid.ts';
import { ChartFrame, type Cursor } from './parts/chart-frame.tsx';
import { EventLane, type LaneIncident, type LaneRelease } from './parts/event-lane.tsx';
import { guttersOf } from './parts/gutters.ts';
import { hatch } from './parts/hatch.ts';
import { TimeAxis } from './parts/time-axis.tsx';
import { axisTitle, stepText } from './parts/time-text.ts';
import { useWidth } from './parts/use-width.ts';

interface Props {
  readonly label: string;
  readonly density: Density;
  readonly range: TimeSpan;
  readonly incidents: readonly LaneIncident[];
  readonly releases: readonly LaneRelease[];
  readonly height?: number;
}

const top = 8;
const axisHeight = 26;
const legendShares = [1e-4, 1e-3, 0.01, 0.1, 1] as const;
const secondsFromMs = 10_000;

interface Place {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * Exact counts of requests by step and band, on a log axis. A colour is the share of the step's requests, on
 * a log scale, so that a busy noon does not look like a slow one.
 */
export function DensityChart({ label, density, range, incidents, releases, height = 280 }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(host);
  const gutters = guttersOf(width);
  const cursor = useSignal<Cursor | null>(null);
  const place = {
    left: gutters.left,
    right: Math.max(gutters.left + 1, width - gutters.right),
    bottom: height - axisHeight,
  };
  const [first, end] = density.bands;
  const colors = theme.value;
  useEffect(() => {
    if (canvas.current !== null && width > 0)
      paint(canvas.current, { density, range, place, width, height });
  }, [density, width, height, colors]);
  const byPlace = useMemo(
    () => new Map(density.cells.map((cell) => [`${cell.column} ${cell.band}`, cell])),
    [density],
  );
  const cellAt = ({ column, row }: Cursor) => byPlace.get(`${column} ${first + row}`);
  const x = linearScale([range.fromMs, range.toMs], [place.left, place.right]);
  const y = linearScale([first, end], [place.bottom, top]);
  const describe = (at: Cursor) => {
    const text = stepText(density.times[at.column] ?? 0, density.stepMs, utc.value);
    return `${text}, ${bandText(first + at.row)}: ${shareText(cellAt(at), density, at.column)}`;
  };
  const follow = (event: PointerEvent) => {
    const box = host.current?.getBoundingClientRect();
    if (box === undefined) return;
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const column = Math.floor(
      ((px - place.left) / (place.right - place.left)) * density.times.length,
    );
    const row = Math.floor(((place.bottom - py) / (place.bottom - top)) * (end - first));
    const isInside = column >= 0 && column < density.times.length && row >= 0 && row < end - first;
    cursor.value = isInside ? { column, row } : null;
  };
  const inSeconds = bandEdgeMs(end) >= secondsFromMs;
  const at = cursor.value;
  return (
    <div class="chart chart-density">
      <div class="chart-legend">
        <span class="chart-legend-at chart-legend-wide">
          {at === null ? 'Share of the requests of each step' : describe(at)}
        </span>
        <span
          class="chart-ramp"
          role="img"
          aria-label="Colours from 0.01 % to 100 % of a step's requests"
        >
          {legendShares.map((share, i) => (
            <span key={share}>
              <i style={{ background: `var(--density-${i})` }} />
              {share * 100} %
            </span>
          ))}
        </span>
      </div>
      <ChartFrame
        label={label}
        columns={density.times.length}
        rows={end - first}
        cursor={cursor}
        describe={describe}
        start={startOf(density)}
      >
        <p class="chart-above">{inSeconds ? 's' : 'ms'}, log</p>
        <div
          ref={host}
          class="chart-plot"
          style={{ height: `${height}px` }}
          onPointerMove={follow}
          onPointerLeave={() => {
            cursor.value = null;
          }}
        >
          <canvas ref={canvas} />
          <svg width={width} height={height} aria-hidden="true">
            <TimeAxis {...range} {...place} utc={utc.value} top={top} />
            {end > first &&
              logTicks([bandEdgeMs(first), bandEdgeMs(end)], 11).map((ms) => (
                <g key={ms} class="chart-axis">
                  <line
                    class="chart-grid"
                    x1={place.left}
                    x2={place.right}
                    y1={y(Math.log2(ms) * 4)}
                    y2={y(Math.log2(ms) * 4)}
                  />
                  <text x={place.left - 6} y={y(Math.log2(ms) * 4)} dy="0.35em" text-anchor="end">
                    {decimal(inSeconds ? ms / 1000 : ms)}
                  </text>
                </g>
              ))}
            {at !== null && (
              <rect
                class="chart-cursor-cell"
                x={x(density.times[at.column] ?? 0)}
                y={y(first + at.row + 1)}
                width={Math.max(2, x(range.fromMs + density.stepMs) - x(range.fromMs))}
                height={Math.max(2, y(first) - y(first + 1))}
              />
            )}
          </svg>
        </div>
        <p class="chart-axis-title" style={{ marginRight: `${gutters.right}px` }}>
          {axisTitle(range.fromMs, density.stepMs, utc.value)}
        </p>
      </ChartFrame>
      <EventLane span={range} incidents={incidents} releases={releases} gutters={gutters} />
    </div>
  );
}

interface Painted {
  readonly density: Density;
  readonly range: TimeSpan;
  readonly place: Place;
  readonly width: number;
  readonly height: number;
}

function paint(canvas: HTMLCanvasElement, { density, range, place, width, height }: Painted): void {
  const pixels = devicePixelRatio;
  canvas.width = width * pixels;
  canvas.height = height * pixels;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  if (pen === null) return;
  const x = linearScale([range.fromMs, range.toMs], [place.left * pixels, place.right * pixels]);
  const y = linearScale(density.bands, [place.bottom * pixels, top * pixels]);
  const rampColor = densityRamp();
  for (const { column, band, share } of density.cells) {
    const left = Math.round(x(density.times[column] ?? 0));
    const right = Math.round(x((density.times[column] ?? 0) + density.stepMs));
    const upper = Math.round(y(band + 1));
    pen.fillStyle = rampColor(depthOf(share));
    pen.fillRect(left, upper, right - left, Math.round(y(band)) - upper);
  }
  const { notStored } = density;
  if (notStored !== null) {
    pen.fillStyle = hatch(pen, token('--axis'), 8 * pixels);
    pen.globalAlpha = 0.5;
    pen.fillRect(
      x(notStored.fromMs),
      top * pixels,
      x(notStored.toMs) - x(notStored.fromMs),
      (place.bottom - top) * pixels,
    );
    pen.globalAlpha = 1;
  }
  const firstOpen = density.isOpen.indexOf(true);
  if (firstOpen === -1) return;
  pen.strokeStyle = token('--axis');
  pen.lineWidth = pixels;
  pen.setLineDash([4 * pixels, 3 * pixels]);
  pen.beginPath();
  pen.moveTo(x(density.times[firstOpen] ?? 0), top * pixels);
  pen.lineTo(x(density.times[firstOpen] ?? 0), place.bottom * pixels);
  pen.stroke();
}

/** The band with the most requests of the last step that has some. */
function startOf({ requests, cells, bands: [first] }: Density): Cursor {
  const column = requests.findLastIndex((count) => count > 0);
  const inColumn = cells.filter((cell) => cell.column === column);
  const most = inColumn.reduce(
    (best, cell) => (cell.share > best.share ? cell : best),
    inColumn[0] ?? cells[0] ?? { band: first, share: 0 },
  );
  return { column: Math.max(0, column), row: most.band - first };
}

/** Colours of the ramp's steps, and between them. */
function densityRamp(): (depth: number) => string {
  const stops = ([0, 1, 2, 3, 4] as const).map((i) => token(`--density-${i}`));
  const made = new Map<number, string>();
  return (depth) => {
    const step = Math.round(depth * 40);
    const known = made.get(step);
    if (known !== undefined) return known;
    const at = Math.min(3, Math.floor(step / 10));
    const part = (step - at * 10) * 10;
    const color = `color-mix(in oklab, ${stops[at + 1]} ${part}%, ${stops[at]})`;
    made.set(step, color);
    return color;
  };
}

/** "64 to 76.1 ms". */
function bandText(band: number): string {
  const [from, to] = [bandEdgeMs(band), bandEdgeMs(band + 1)];
  return formatMsRange(from, to);
}

function shareText(cell: DensityCell | undefined, density: Density, column: number): string {
  const requests = density.requests[column] ?? 0;
  if (requests === 0) return density.isOpen[column] ? 'not stored yet' : 'no requests';
  if (cell === undefined) return `none of ${formatCount(requests)} requests`;
  return `${formatCount(cell.requests)} of ${formatCount(requests)} requests, ${formatShare(cell.share)}`;
}
