import type { Scale } from './scale.ts';

/** Value of each step; null is a gap. */
export type StepValues = readonly (number | null)[];
/** Lower and upper edge of a band at each step; null is a gap. */
export type StepEdges = readonly (readonly [low: number, high: number] | null)[];

const px = (value: number) => Number(value.toFixed(2));

/** A line through the steps; a step between two gaps is a dot. */
export function linePath(values: StepValues, x: (step: number) => number, y: Scale): string {
  let path = '';
  for (const [i, value] of values.entries()) {
    if (value === null) continue;
    const isStart = (values[i - 1] ?? null) === null;
    path += `${isStart ? 'M' : 'L'}${px(x(i))} ${px(y(value))}`;
    if (isStart && (values[i + 1] ?? null) === null) path += 'h0.01';
  }
  return path;
}

/**
 * The outline of a band, one a run of steps without a gap.
 *
 * @param span where a step begins and ends; the band is flat at the ends of a run, and else joins middles.
 */
export function bandPath(
  edges: StepEdges,
  span: (step: number) => readonly [number, number],
  y: Scale,
): string {
  let path = '';
  for (let from = 0; from < edges.length; from++) {
    if (edges[from] == null) continue;
    let to = from;
    while (to < edges.length && edges[to] != null) to++;
    const upper: string[] = [];
    const lower: string[] = [];
    for (let i = from; i < to; i++) {
      const [low, high] = edges[i] ?? [0, 0];
      const [start, end] = span(i);
      const places = [(start + end) / 2];
      if (i === from && start < end) places.unshift(start);
      if (i === to - 1 && start < end) places.push(end);
      upper.push(...places.map((x) => `${px(x)} ${px(y(high))}`));
      lower.push(...places.map((x) => `${px(x)} ${px(y(low))}`));
    }
    path += `M${upper.join('L')}L${lower.reverse().join('L')}Z`;
    from = to;
  }
  return path;
}

/** Triangles around points that point up: more than there is drawn. */
export function upPath(points: readonly (readonly [number, number])[], radius: number): string {
  return points
    .map(
      ([x, y]) => `M${px(x - radius)} ${px(y + radius)}h${2 * radius}L${px(x)} ${px(y - radius)}Z`,
    )
    .join('');
}

/** Circles around points. */
export function dotsPath(points: readonly (readonly [number, number])[], radius: number): string {
  const half = (to: number) => `a${radius} ${radius} 0 1 0 ${to} 0`;
  return points
    .map(([x, y]) => `M${px(x - radius)} ${px(y)}${half(2 * radius)}${half(-2 * radius)}`)
    .join('');
}
