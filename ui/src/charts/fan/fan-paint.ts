import type uPlot from 'uplot';
import { quantileName } from '../../format/number.ts';
import { token } from '../../state/theme.ts';
import { spreadLabels } from '../geometry/lanes.ts';
import { hatch } from '../parts/hatch.ts';
import { colorOf, type FanScene, withAlpha } from './fan-scene.ts';

/** Pixels between hollow points at least. */
const leastDistance = 6;

/** Everything behind the lines: what is not stored, incidents, releases, the baseline. */
export function drawBehind(plot: uPlot, scene: FanScene): void {
  const { ctx, bbox } = plot;
  const { fan, range } = scene;
  const x = (ms: number) =>
    plot.valToPos(Math.min(Math.max(ms, range.fromMs), range.toMs), 'x', true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = withAlpha(token('--incident'), 0.1);
  for (const { fromMs, toMs } of scene.incidents) {
    ctx.fillRect(x(fromMs), bbox.top, x(toMs) - x(fromMs), bbox.height);
  }
  if (fan.notStored !== null) {
    ctx.fillStyle = hatch(ctx, withAlpha(token('--axis'), 0.5), 8 * devicePixelRatio);
    const { fromMs, toMs } = fan.notStored;
    ctx.fillRect(x(fromMs), bbox.top, x(toMs) - x(fromMs), bbox.height);
  }
  paintBaseline(plot, scene);
  ctx.strokeStyle = token('--release');
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const at of scene.releases) {
    if (at < range.fromMs || at >= range.toMs) continue;
    ctx.beginPath();
    ctx.moveTo(x(at), bbox.top);
    ctx.lineTo(x(at), bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** The baseline as a hatched band from its least to its largest value, part by part around gaps. */
function paintBaseline(plot: uPlot, { fan, hidden, mainQ }: FanScene): void {
  if (fan.baseline === null || hidden.has(mainQ)) return;
  const { low, high } = fan.baseline;
  const { ctx } = plot;
  const at = (i: number, value: number): [number, number] => [
    plot.valToPos((fan.times[i] ?? 0) + fan.stepMs / 2, 'x', true),
    plot.valToPos(value, 'y', true),
  ];
  const paint = (from: number, to: number) => {
    ctx.beginPath();
    for (let i = from; i < to; i++) ctx.lineTo(...at(i, high[i] ?? 1));
    for (let i = to - 1; i >= from; i--) ctx.lineTo(...at(i, low[i] ?? 1));
    ctx.closePath();
    ctx.fill();
  };
  const isKnown = (i: number) => (low[i] ?? null) !== null && (high[i] ?? null) !== null;
  for (const fill of [
    withAlpha(token('--baseline'), 0.1),
    hatch(ctx, withAlpha(token('--baseline'), 0.55), 6 * devicePixelRatio),
  ]) {
    ctx.fillStyle = fill;
    for (let from = 0; from < low.length; from++) {
      if (!isKnown(from)) continue;
      let to = from;
      while (to < low.length && isKnown(to)) to++;
      paint(from, to);
      from = to;
    }
  }
}

/** Draws in front of the lines: hollow points where requests are few, and the names of the lines. */
export function drawFront(plot: uPlot, scene: FanScene): void {
  const { fan, hidden } = scene;
  const { ctx, bbox } = plot;
  const pixels = devicePixelRatio;
  const spacing = bbox.width / pixels / Math.max(1, fan.times.length);
  ctx.save();
  // Open steps leave their dashes behind.
  ctx.setLineDash([]);
  for (const { q, values, thin, lone } of fan.lines) {
    if (hidden.has(q)) continue;
    const color = token(colorOf(q));
    const isThin = new Set(thin);
    const radius = Math.min(2.75, Math.max(1.8, spacing * 0.33)) * pixels;
    // Points that would touch are drawn for some steps only.
    const stride = Math.max(1, Math.ceil(leastDistance / spacing));
    for (const i of new Set([...thin, ...lone])) {
      const value = values[i];
      if (value === null || value === undefined || (i % stride !== 0 && isThin.has(i))) continue;
      ctx.beginPath();
      const x = plot.valToPos((fan.times[i] ?? 0) + fan.stepMs / 2, 'x', true);
      ctx.arc(x, plot.valToPos(value, 'y', true), radius, 0, 2 * Math.PI);
      ctx.fillStyle = isThin.has(i) ? token('--surface') : color;
      ctx.fill();
      ctx.strokeStyle = color;
      ctx.lineWidth = pixels;
      ctx.stroke();
    }
  }
  paintNames(plot, scene);
  ctx.restore();
}

/** Each line's name right of its last value, moved apart where lines end close to each other. */
function paintNames(plot: uPlot, { fan, hidden, mainQ }: FanScene): void {
  const { ctx, bbox } = plot;
  const pixels = devicePixelRatio;
  const shown = fan.lines.flatMap(({ q, values }) => {
    const last = values.findLast((value) => value !== null);
    return hidden.has(q) || last == null ? [] : [{ q, y: plot.valToPos(last, 'y', true) }];
  });
  const inside = [bbox.top + 6 * pixels, bbox.top + bbox.height - 6 * pixels] as const;
  const places = spreadLabels(
    shown.map(({ y }) => y),
    13 * pixels,
    inside,
  );
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  shown.forEach(({ q }, i) => {
    const isMain = q === mainQ;
    ctx.font = `${isMain ? '600 ' : ''}${12 * pixels}px system-ui, sans-serif`;
    ctx.fillStyle = token(isMain ? '--text' : '--axis');
    ctx.fillText(quantileName(q), bbox.left + bbox.width + 6 * pixels, places[i] ?? 0);
  });
}
