import { hourMs } from '../base/time.ts';
import { TDigest } from '../sketch/t-digest.ts';
import type { StateArchive } from '../snapshot/archive.ts';

const hours = 24;
/** Quantiles whose diurnal pattern is known. */
const points = [0.5, 0.75, 0.9, 0.95, 0.99] as const;
const depths = points.map(depthOf);
/** Weight of a new day against all days before it. */
const newDayWeight = 1 / 2;
/** Hours that must be known; the others are interpolated. */
const minHours = 20;
/** Share of the variance between hours that two waves, of a day and of half a day, must explain. */
const minWaveShare = 3 / 4;
const waves = [1, 2] as const;
/**
 * Logarithm of the factor by which a baseline may be faster than the daily one: chance of an hour is less,
 * and evidence for the least effect (1.3) does not grow by it.
 */
const logDailySlack = Math.log(1.08);
/** Part of the hours that are faster than the daily baseline: nights, and a better spell of today. */
const fasterPart = 1 / 4;

/** Ratios between the durations of two times of day, by quantile. */
export class DiurnalRatios {
  /** Logarithms of the ratios, by point. */
  readonly #logRatios: readonly number[];

  constructor(logRatios: readonly number[]) {
    this.#logRatios = logRatios;
  }

  static serialize(state: StateArchive, ratios: DiurnalRatios | undefined): DiurnalRatios {
    return new DiurnalRatios([...state.numbers(ratios === undefined ? [] : ratios.#logRatios)]);
  }

  /** Ratio at a quantile: interpolated over the tail depth, -ln(1 - q), and constant outside the points. */
  ratioAt(q: number): number {
    const depth = depthOf(q);
    const next = depths.findIndex((each) => each >= depth);
    if (next === 0) return Math.exp(this.#logRatios[0] as number);
    if (next < 0) return Math.exp(this.#logRatios.at(-1) as number);
    const [from, to] = [depths[next - 1] as number, depths[next] as number];
    const fraction = (depth - from) / (to - from);
    return Math.exp(between(this.#logRatios[next - 1], this.#logRatios[next], fraction));
  }

  applyTo(digest: TDigest): TDigest {
    const { means, weights, size, count } = digest;
    const moved = new Float64Array(size);
    let below = 0;
    let previous = 0;
    for (let i = 0; i < size; i++) {
      const weight = weights[i] as number;
      const ms = (means[i] as number) * this.ratioAt((below + weight / 2) / count);
      previous = Math.max(previous, ms);
      moved[i] = previous;
      below += weight;
    }
    return TDigest.fromCentroids(moved, weights, size);
  }
}

/**
 * Diurnal profile of a stage: quantiles of its baseline at each hour, averaged over the days before. A
 * baseline of the night, not renewed for hours, can so be compared with the day.
 *
 * Memory: 1 KB. Cost: a microsecond an hour.
 */
export class DiurnalProfile {
  /** ln of milliseconds, by hour and point; NaN where unknown. */
  readonly #logMs = new Float64Array(hours * points.length).fill(Number.NaN);

  /** Observes the baseline that ends at a time. */
  learn(endMs: number, digest: TDigest): void {
    const from = hourOf(endMs) * points.length;
    points.forEach((q, i) => {
      const known = this.#logMs[from + i] as number;
      const logMs = Math.log(Math.max(digest.quantile(q), Number.MIN_VALUE));
      this.#logMs[from + i] = Number.isNaN(known) ? logMs : between(known, logMs, newDayWeight);
    });
  }

  /** Ratios between the baselines that end at two times; undefined if no point has a diurnal pattern. */
  between(fromMs: number, toMs: number): DiurnalRatios | undefined {
    const logRatios = points.map((_, i) => {
      const day = this.#dayAt(i);
      return day === undefined ? 0 : valueAt(day, toMs) - valueAt(day, fromMs);
    });
    return logRatios.some((each) => each !== 0) ? new DiurnalRatios(logRatios) : undefined;
  }

  /**
   * Ratios that raise a baseline to the daily one, at its hour and over the day, less some slack; undefined
   * where it is not faster than that. The hour that a baseline ends in is not yet learnt today. A point alone
   * is not raised: it lies between the requests of two paths.
   */
  raisedToDaily(toMs: number, digest: TDigest): DiurnalRatios | undefined {
    const from = wrapped(hourOf(toMs) + 1) * points.length;
    const faster = points.map((q, i) => {
      const daily = Math.min(this.#logMs[from + i] as number, this.#dailyAt(i));
      const logMs = Math.log(Math.max(digest.quantile(q), Number.MIN_VALUE));
      return Number.isNaN(daily) ? 0 : Math.max(0, daily - logDailySlack - logMs);
    });
    const logRatios = faster.map((each, i) =>
      Math.min(each, Math.max(faster[i - 1] ?? 0, faster[i + 1] ?? 0)),
    );
    return logRatios.some((each) => each > 0) ? new DiurnalRatios(logRatios) : undefined;
  }

  /** Value of a point that a quarter of the hours are below; NaN while too few are known. */
  #dailyAt(point: number): number {
    const known = this.#logMs.filter((logMs, i) => i % points.length === point && logMs > -1e9);
    return known.length < minHours
      ? Number.NaN
      : (known.sort()[Math.floor(fasterPart * known.length)] as number);
  }

  serialize(state: StateArchive): void {
    state.section('day course', 1, () => {
      state.fill(this.#logMs);
    });
  }

  /** Values of a point for all hours, if it has a diurnal pattern. */
  #dayAt(point: number): Float64Array | undefined {
    const known = Float64Array.from(
      { length: hours },
      (_, hour) => this.#logMs[hour * points.length + point] as number,
    );
    if (known.filter((logMs) => !Number.isNaN(logMs)).length < minHours) return undefined;
    const day = interpolated(known);
    return waveShare(day) >= minWaveShare ? day : undefined;
  }
}

/** Interpolates the unknown hours linearly. */
function interpolated(day: Float64Array): Float64Array {
  return day.map((logMs, hour) => {
    if (!Number.isNaN(logMs)) return logMs;
    const isKnown = (distance: number) => !Number.isNaN(day[wrapped(hour + distance)] as number);
    let [before, after] = [1, 1];
    while (!isKnown(-before)) before++;
    while (!isKnown(after)) after++;
    const fraction = before / (before + after);
    return between(day[wrapped(hour - before)], day[wrapped(hour + after)], fraction);
  });
}

/** Share of the variance of a day that its slow waves explain; 0 without variance. */
function waveShare(day: Float64Array): number {
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

/** Value at a time of day, interpolated between two hours. */
function valueAt(day: Float64Array, ms: number): number {
  const hour = hourOf(ms);
  return between(day[hour], day[wrapped(hour + 1)], ms / hourMs - Math.floor(ms / hourMs));
}

function between(from = Number.NaN, to = Number.NaN, fraction = 0): number {
  return from + fraction * (to - from);
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
