import { dayMs, hourMs } from '../base/time.ts';
import type { ArrivalProfile } from './model-profile.ts';
import type { Random } from './random.ts';

/** Step for which the jitter's variance is stated. */
const JITTER_STEP_MS = 100;

export interface ArrivalOptions {
  readonly profile: ArrivalProfile;
  /** Mean over a day. */
  readonly ratePerSecond: number;
  /** Swing of the daily curve around its mean, 0 (flat) to 0.9. */
  readonly dailySwing: number;
  /** Hour of the UTC day of the peak. */
  readonly peakHour: number;
  readonly sliceMs: number;
  readonly random: Random;
}

/**
 * Generates a doubly stochastic Poisson process, slice by slice. The rate is its mean × the time of day × a
 * lognormal (Ornstein–Uhlenbeck components) × a gamma factor per slice. All factors have mean 1, so the mean
 * rate over days is the configured one. O(arrivals) a slice.
 */
export class ArrivalProcess {
  readonly #options: ArrivalOptions;
  readonly #random: Random;
  readonly #keep: readonly number[];
  readonly #deviation: readonly number[];
  readonly #level: number[];
  readonly #meanLog: number;
  readonly #jitterVariance: number;
  #ratePerSecond: number;

  constructor(options: ArrivalOptions) {
    const { profile, sliceMs, random } = options;
    this.#options = options;
    this.#random = random;
    this.#ratePerSecond = options.ratePerSecond;
    this.#keep = profile.components.map((component) => Math.exp(-sliceMs / component.tauMs));
    this.#deviation = profile.components.map((component) => Math.sqrt(component.variance));
    this.#meanLog = profile.components.reduce((sum, component) => sum + component.variance / 2, 0);
    this.#jitterVariance = (profile.jitterVariance * JITTER_STEP_MS) / sliceMs;
    this.#random.seek(0, 0xffffffff);
    this.#level = profile.components.map(() => this.#random.normal());
  }

  /** Rate of the last slice, before its jitter and the factors of faults. */
  get ratePerSecond(): number {
    return this.#ratePerSecond;
  }

  /**
   * Appends the next slice's arrivals to `offsetsMs`, in milliseconds from the slice's beginning, unsorted.
   * Returns their count. Slices are requested in order, each once.
   */
  next(slice: number, startMs: number, rateFactor: number, offsetsMs: number[]): number {
    const { ratePerSecond, sliceMs } = this.#options;
    const random = this.#random;
    random.seek(slice, 0);
    let log = -this.#meanLog;
    for (let i = 0; i < this.#level.length; i++) {
      const keep = this.#keep[i] as number;
      const level =
        keep * (this.#level[i] as number) + Math.sqrt(1 - keep * keep) * random.normal();
      this.#level[i] = level;
      log += (this.#deviation[i] as number) * level;
    }
    const jitter = random.gammaMeanOne(this.#jitterVariance);
    this.#ratePerSecond = ratePerSecond * this.#timeOfDay(startMs) * Math.exp(log);
    const rate = this.#ratePerSecond * jitter * rateFactor;
    random.seek(slice, 1);
    const count = random.poisson((rate * sliceMs) / 1_000);
    // The offsets have their own stream of draws, so a changed count leaves the first ones as they are.
    random.seek(slice, 2);
    for (let i = 0; i < count; i++) offsetsMs.push(random.uniform() * sliceMs);
    return count;
  }

  #timeOfDay(nowMs: number): number {
    const { dailySwing, peakHour } = this.#options;
    const angle = (2 * Math.PI * (nowMs - peakHour * hourMs)) / dayMs;
    // The second harmonic makes the night longer and flatter than the day's peak.
    return 1 + dailySwing * (0.85 * Math.cos(angle) + 0.15 * Math.cos(2 * angle));
  }
}
