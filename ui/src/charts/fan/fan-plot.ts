import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { decimal } from '../../format/number.ts';
import { token } from '../../state/theme.ts';
import { fanExtent } from '../geometry/fan.ts';
import { logTicks } from '../geometry/scale.ts';
import type { TimeSpan } from '../geometry/step-grid.ts';
import { timeTicksOf } from '../parts/gutters.ts';
import { pageTimeTicks, tickText } from '../parts/time-text.ts';
import { drawBehind, drawFront } from './fan-paint.ts';
import { colorOf, type FanScene, withAlpha } from './fan-scene.ts';

export interface FanPorts {
  readonly scene: () => FanScene;
  readonly onCursor: (step: number | null) => void;
  readonly onSelect: (span: TimeSpan) => void;
  /** A click that selects nothing more than a step. */
  readonly onClick: () => void;
}

/** Room above and below the values of the log axis. */
const headroom = { low: 0.8, high: 1.25 } as const;
/** Opacity of the space below each line: darker outwards. */
const shades = [0.07, 0.12, 0.17, 0.22, 0.26] as const;
/** Height of the time axis below the plot. */
const axisHeight = 26;
const secondsFromMs = 10_000;

/** Columns of uPlot: middle of each step, closed and open part of each line, the baseline. */
export function fanData({ fan, hidden }: FanScene): uPlot.AlignedData {
  const hide = (q: number, values: readonly (number | null)[]) =>
    hidden.has(q) ? values.map(() => null) : [...values];
  return [
    fan.times.map((at) => at + fan.stepMs / 2),
    ...fan.lines.map(({ q, closed }) => hide(q, closed)),
    ...fan.lines.map(({ q, open }) => hide(q, open)),
    ...(fan.baseline === null
      ? []
      : [[...fan.baseline.low], [...fan.baseline.median], [...fan.baseline.high]]),
  ];
}

/** Makes the plot of a fan. Its structure is that of the scene now; values come with `setData`. */
export function openFanPlot(
  host: HTMLElement,
  size: { width: number; height: number },
  ports: FanPorts,
): uPlot {
  const { scene } = ports;
  const { gutters } = scene();
  return new uPlot(
    {
      ...size,
      ms: 1,
      padding: [8, gutters.right, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: true, range: () => [scene().range.fromMs, scene().range.toMs] },
        y: { distr: 3, log: 10, range: () => valueRange(scene()) },
      },
      axes: [timeAxis(ports), valueAxis(ports)],
      series: [{}, ...seriesOf(scene())],
      bands: bandsOf(scene()),
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        points: { size: 7, stroke: () => token('--surface'), width: 1.5 },
      },
      hooks: {
        ready: [(plot) => plot.over.addEventListener('click', () => ports.onClick())],
        drawAxes: [(plot) => drawBehind(plot, scene())],
        draw: [(plot) => drawFront(plot, scene())],
        setCursor: [(plot) => ports.onCursor(plot.cursor.idx ?? null)],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < 3) return;
            ports.onSelect({
              fromMs: plot.posToVal(left, 'x'),
              toMs: plot.posToVal(left + width, 'x'),
            });
          },
        ],
      },
    },
    fanData(scene()),
    host,
  );
}

function valueRange({ fan, hidden }: FanScene): [number, number] {
  const [low, high] = fanExtent(fan, hidden) ?? [1, 1000];
  return [Math.max(0.01, low * headroom.low), high * headroom.high];
}

function timeAxis({ scene }: FanPorts): uPlot.Axis {
  const ticks = (plot: uPlot) => {
    const { fromMs, toMs } = scene().range;
    return pageTimeTicks(
      fromMs,
      toMs,
      timeTicksOf(plot.bbox.width / devicePixelRatio),
      scene().utc,
    );
  };
  return {
    ...axisStyle(),
    size: axisHeight,
    splits: (plot) => [...ticks(plot).times],
    values: (plot, splits) => {
      const { stepMs } = ticks(plot);
      return splits.map((at) => tickText(at, stepMs, scene().utc));
    },
  };
}

function valueAxis({ scene }: FanPorts): uPlot.Axis {
  return {
    ...axisStyle(),
    size: scene().gutters.left,
    splits: (_, __, low, high) => logTicks([low, high], 8),
    filter: (_, splits) => splits,
    values: (_, splits) => {
      const inSeconds = isInSeconds(scene());
      return splits.map((ms) => decimal(inSeconds ? ms / 1000 : ms));
    },
  };
}

/** True if the value axis is in seconds: from 10 s on. */
export const isInSeconds = ({ fan, hidden }: Pick<FanScene, 'fan' | 'hidden'>): boolean =>
  (fanExtent(fan, hidden)?.[1] ?? 0) >= secondsFromMs;

function axisStyle(): uPlot.Axis {
  return {
    stroke: () => token('--axis'),
    font: '12px system-ui, sans-serif',
    gap: 5,
    grid: { stroke: () => token('--grid'), width: 1 },
    ticks: { show: false },
  };
}

function seriesOf({ fan, mainQ }: FanScene): uPlot.Series[] {
  const line = (q: number, dash?: number[]): uPlot.Series => ({
    scale: 'y',
    stroke: () => token(colorOf(q)),
    width: q === mainQ ? 2.25 : 1,
    points: { show: false },
    ...(dash === undefined ? {} : { dash }),
  });
  const edge: uPlot.Series = { scale: 'y', width: 0, points: { show: false } };
  const median: uPlot.Series = {
    scale: 'y',
    stroke: () => token('--baseline'),
    width: 1.25,
    dash: [2, 3],
    points: { show: false },
  };
  return [
    ...fan.lines.map(({ q }) => line(q)),
    ...fan.lines.map(({ q }) => line(q, [5, 4])),
    ...(fan.baseline === null ? [] : [edge, median, edge]),
  ];
}

/** The space between neighbouring quantiles, of closed steps; the baseline is painted behind. */
function bandsOf({ fan, hidden }: FanScene): uPlot.Band[] {
  const shown = fan.lines.map(({ q }, i) => ({ q, i })).filter(({ q }) => !hidden.has(q));
  return shown.slice(1).map(({ i }, at) => ({
    series: [i + 1, (shown[at]?.i ?? 0) + 1],
    fill: () => withAlpha(token('--q-4'), shades[Math.min(at, shades.length - 1)] ?? 0.1),
  }));
}
