import { quantileName } from '../../format/number.ts';
import type { TimeSpan } from '../../format/time.ts';
import type { Fan, FanLine } from '../geometry/fan.ts';
import { spreadLabels } from '../geometry/lanes.ts';
import { bandPath, dotsPath, linePath, type StepValues, upPath } from '../geometry/paths.ts';
import type { Lane } from '../parts/event-lane.tsx';
import type { Area } from '../parts/plot.tsx';

export interface Shown {
  readonly fan: Fan;
  /** Quantiles that are hidden. */
  readonly hidden: ReadonlySet<number>;
  /** Quantile that the baseline is of; its line is the widest. */
  readonly mainQ: number;
}

/** Pixels between hollow points at least. */
const leastDistance = 6;
/** Opacity of the space below each line: darker outwards. */
const shades = [0.07, 0.12, 0.17, 0.22, 0.26] as const;

/** Colours of quantiles, deeper towards the tail. */
export function colorOf(q: number): 1 | 3 | 4 | 5 {
  if (q < 0.7) return 1;
  if (q < 0.97) return 3;
  return q < 0.995 ? 4 : 5;
}

export const shownLines = ({ fan, hidden }: Pick<Shown, 'fan' | 'hidden'>): readonly FanLine[] =>
  fan.lines.filter(({ q }) => !hidden.has(q));

const edgesOf = (low: StepValues, high: StepValues) =>
  low.map((value, i) => {
    const upper = high[i] ?? null;
    return value === null || upper === null ? null : ([value, upper] as const);
  });

/** Incidents, releases and the baseline, and before them the lines with the space between neighbouring ones. */
export function FanMarks({
  area,
  lane,
  span,
  ...shown
}: Shown & {
  readonly area: Area;
  readonly lane: Lane;
  readonly span: TimeSpan;
}) {
  const { fan, hidden, mainQ } = shown;
  const { x, y, top, bottom, middle, hatch } = area;
  const lines = shownLines(shown);
  const within = (ms: number) => x(Math.min(Math.max(ms, span.fromMs), span.toMs));
  const band = (low: StepValues, high: StepValues) =>
    bandPath(edgesOf(low, high), (i) => [middle(i), middle(i)], y);
  const baseline = hidden.has(mainQ) ? null : fan.baseline;
  return (
    <>
      {lane.incidents.map(({ id, fromMs, toMs }) => (
        <rect
          key={id}
          class="fan-incident"
          {...{ x: within(fromMs), y: top, height: bottom - top }}
          width={within(toMs ?? span.toMs) - within(fromMs)}
        />
      ))}
      {lane.releases
        .filter(({ atMs }) => atMs >= span.fromMs && atMs < span.toMs)
        .map(({ atMs }) => (
          <path key={atMs} class="fan-release" d={`M${x(atMs)} ${top}V${bottom}`} />
        ))}
      {baseline !== null && (
        <>
          <path class="fan-baseline" d={band(baseline.low, baseline.high)} />
          <path fill={hatch} d={band(baseline.low, baseline.high)} />
          <path class="fan-median" d={linePath(baseline.median, middle, y)} />
        </>
      )}
      {lines.slice(1).map(({ q, closed }, i) => (
        <path
          key={q}
          class="fan-space"
          opacity={shades[Math.min(i, shades.length - 1)]}
          d={band(lines[i]?.closed ?? [], closed)}
        />
      ))}
      {lines.map((line) => (
        <g key={line.q} class="fan-line" data-q={colorOf(line.q)} data-main={line.q === mainQ}>
          <path d={linePath(line.closed, middle, y)} />
          <path stroke-dasharray="5 4" d={linePath(line.open, middle, y)} />
          <FanDots {...{ line, area }} />
        </g>
      ))}
      <Names {...shown} area={area} />
    </>
  );
}

/** Hollow points where requests are few, points where no neighbour makes a line, and triangles at lower bounds. */
function FanDots({ line, area }: { readonly line: FanLine; readonly area: Area }) {
  const { values, bounds, thin, lone } = line;
  const spacing = area.middle(1) - area.middle(0);
  const radius = Math.min(2.75, Math.max(1.8, spacing * 0.33));
  // Points that would touch are drawn for some steps only.
  const stride = Math.max(1, Math.ceil(leastDistance / spacing));
  const pointsOf = (steps: readonly number[]) =>
    steps.map((i) => [area.middle(i), area.y(values[i] ?? 1)] as const);
  const dots = (steps: readonly number[]) => dotsPath(pointsOf(steps), radius);
  const isDrawn = (i: number) => i % stride === 0;
  return (
    <>
      <path class="fan-dot" d={dots(lone)} />
      <path class="fan-dot" data-thin d={dots(thin.filter(isDrawn))} />
      <path class="fan-dot" data-bound d={upPath(pointsOf(bounds.filter(isDrawn)), radius)} />
    </>
  );
}

/** Each line's name right of its last value, moved apart where lines end close to each other. */
function Names({ area, ...shown }: Shown & { readonly area: Area }) {
  const { y, top, bottom, right } = area;
  const ends = shownLines(shown).flatMap(({ q, values }) => {
    const last = values.findLast((value) => value !== null);
    return last == null ? [] : [{ q, at: y(last) }];
  });
  const places = spreadLabels(
    ends.map(({ at }) => at),
    13,
    [top + 6, bottom - 6],
  );
  return (
    <g class="chart-axis">
      {ends.map(({ q }, i) => (
        <text key={q} class="fan-name" data-main={q === shown.mainQ} x={right + 6} y={places[i]}>
          {quantileName(q)}
        </text>
      ))}
    </g>
  );
}
