import { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';

const hourMs = 3_600_000;
const hours = 24;
/** Where on the way from the median to the tail it is known how a day goes. */
const points = [0.5, 0.75, 0.9, 0.95, 0.99] as const;
const depths = points.map(depthOf);
/** What a day says of an hour counts as much as all days before it. */
const weightOfDay = 1 / 2;
/** So many hours must be known: others are taken to lie between those around them. */
const fewestHours = 20;
/** A day has a course where two waves, of a day and of half a day, are so much of what its hours differ by. */
const leastOfWaves = 3 / 4;
const waves = [1, 2] as const;

/** How many times as long requests take as they did at another time of day, by how slow they are. */
export class Course {
  /** By points, as logarithms. */
  readonly #logTimes: readonly number[];

  constructor(logTimes: readonly number[]) {
    this.#logTimes = logTimes;
  }

  /** Saves one, or makes the one that was saved. */
  static serialize(state: StateArchive, course: Course | undefined): Course {
    return new Course([...state.numbers(course === undefined ? [] : course.#logTimes)]);
  }

  /** Between two points the depth in the tail tells, -ln(1 - q); below the first and above the last they do. */
  timesAt(q: number): number {
    const depth = depthOf(q);
    const next = depths.findIndex((each) => each >= depth);
    if (next === 0) return Math.exp(this.#logTimes[0] as number);
    if (next < 0) return Math.exp(this.#logTimes.at(-1) as number);
    const [from, to] = [depths[next - 1] as number, depths[next] as number];
    const part = (depth - from) / (to - from);
    return Math.exp(between(this.#logTimes[next - 1], this.#logTimes[next], part));
  }

  /** What a digest is by then. */
  moved(digest: TDigest): TDigest {
    const { means, weights, size, count } = digest;
    const moved = new Float64Array(size);
    let below = 0;
    let previous = 0;
    for (let i = 0; i < size; i++) {
      const weight = weights[i] as number;
      const ms = (means[i] as number) * this.timesAt((below + weight / 2) / count);
      previous = Math.max(previous, ms);
      moved[i] = previous;
      below += weight;
    }
    return TDigest.fromCentroids(moved, weights, size);
  }
}

/**
 * How the requests of a stage go with the day: some quantiles of what its baseline was at each hour, of the days before.
 * What was usual at night, and is not renewed for hours, can so be held against the day.
 *
 * Memory: 1 KB. Cost: a microsecond an hour.
 */
export class DiurnalProfile {
  /** ln of milliseconds, by hour and point; NaN where nobody knows. */
  readonly #logMs = new Float64Array(hours * points.length).fill(Number.NaN);

  /** Takes what the baseline is that ends then. */
  learn(endMs: number, digest: TDigest): void {
    const from = hourOf(endMs) * points.length;
    points.forEach((q, i) => {
      const known = this.#logMs[from + i] as number;
      const logMs = Math.log(Math.max(digest.quantile(q), Number.MIN_VALUE));
      this.#logMs[from + i] = Number.isNaN(known) ? logMs : between(known, logMs, weightOfDay);
    });
  }

  /** From a baseline that ends at one time to one that ends at another; undefined if no day has a course. */
  between(fromMs: number, toMs: number): Course | undefined {
    const logTimes = points.map((_, i) => {
      const day = this.#dayAt(i);
      return day === undefined ? 0 : at(day, toMs) - at(day, fromMs);
    });
    return logTimes.some((each) => each !== 0) ? new Course(logTimes) : undefined;
  }

  serialize(state: StateArchive): void {
    state.section('day course', 1, () => {
      state.fill(this.#logMs);
    });
  }

  /** A point by hours, all of them, if it has a course. */
  #dayAt(point: number): Float64Array | undefined {
    const known = Float64Array.from(
      { length: hours },
      (_, hour) => this.#logMs[hour * points.length + point] as number,
    );
    if (known.filter((logMs) => !Number.isNaN(logMs)).length < fewestHours) return undefined;
    const day = filled(known);
    return partOfWaves(day) >= leastOfWaves ? day : undefined;
  }
}

/** Hours that are not known lie on a line between those around them. */
function filled(day: Float64Array): Float64Array {
  return day.map((logMs, hour) => {
    if (!Number.isNaN(logMs)) return logMs;
    const isKnown = (distance: number) => !Number.isNaN(day[wrapped(hour + distance)] as number);
    let [before, after] = [1, 1];
    while (!isKnown(-before)) before++;
    while (!isKnown(after)) after++;
    const part = before / (before + after);
    return between(day[wrapped(hour - before)], day[wrapped(hour + after)], part);
  });
}

/** How much of the variance of a day its slow waves are; 0 where there is none. */
function partOfWaves(day: Float64Array): number {
  const mean = day.reduce((sum, each) => sum + each, 0) / hours;
  const variance = day.reduce((sum, each) => sum + (each - mean) ** 2, 0) / hours;
  if (variance === 0) return 0;
  const power = waves.map((wave) => {
    let [cosines, sines] = [0, 0];
    day.forEach((each, hour) => {
      const angle = (2 * Math.PI * wave * hour) / hours;
      cosines += each * Math.cos(angle);
      sines += each * Math.sin(angle);
    });
    return (2 * (cosines ** 2 + sines ** 2)) / hours ** 2;
  });
  return power.reduce((sum, each) => sum + each, 0) / variance;
}

/** A day's value at a time of day, on a line between two hours. */
function at(day: Float64Array, ms: number): number {
  const hour = hourOf(ms);
  return between(day[hour], day[wrapped(hour + 1)], ms / hourMs - Math.floor(ms / hourMs));
}

function between(from = Number.NaN, to = Number.NaN, part = 0): number {
  return from + part * (to - from);
}

function hourOf(ms: number): number {
  return wrapped(Math.floor(ms / hourMs));
}

function wrapped(hour: number): number {
  return ((hour % hours) + hours) % hours;
}

function depthOf(q: number): number {
  return -Math.log1p(-q);
}
