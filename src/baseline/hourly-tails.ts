import { dayMs, hourMs } from '../base/time.ts';
import { Arena, type ArenaScope } from '../memory/arena.ts';
import type { SeriesWindow } from '../series/series-window.ts';
import { wholeRequest } from '../series/whole-request.ts';
import { type StateArchive, serializeFields } from '../snapshot/archive.ts';
import { DurationHistogram } from './durations/duration-histogram.ts';
import { StageSums } from './stage-sums.ts';

/** Durations of the requests of one hour. */
export interface HourTail {
  readonly startMs: number;
  /** Stage that represents whole requests (`wholeRequest`). */
  readonly stage: string;
  readonly requests: number;
  /** Quantiles of whole requests, in the order of the configured quantiles. */
  readonly quantilesMs: ArrayLike<number>;
  /** Mean time that a request spends in each stage, the whole included. */
  readonly meansMs: ReadonlyMap<string, number>;
}

/** An hour, and the same hour of an earlier day, mostly a week before. */
export interface HourPair {
  readonly now: HourTail;
  readonly baseline: HourTail;
}

/** Factors by which the numbers of an hour are multiplied. */
export interface HourFactors {
  readonly quantiles: readonly number[];
  readonly means: ReadonlyMap<string, number>;
}

const weekDays = 7;
/** Hours of the last day, which are compared with the same hours of a week before. */
const comparedHours = 24;
/** Retention of an hour. */
export const rememberedMs = weekDays * dayMs + comparedHours * hourMs;

type OpenHour = ReturnType<typeof newHour>;

/**
 * Durations by the hour for eight days: each hour of the last day is compared with the same hour of a week
 * before.
 *
 * Memory: 192 hours of some 300 bytes, and 60 a stage: 170 KB for ten stages. Cost: a microsecond a window,
 * some ten at the end of an hour.
 */
export class HourlyTails {
  readonly #quantiles: readonly number[];
  readonly #scope = Arena.shared().scope();
  /** Completed hours, oldest first. */
  #hours: HourTail[] = [];
  #open: OpenHour | undefined;
  /** Current hour since 1970; -1 before the first window, and after a restore. */
  #reachedHour = -1;

  constructor(quantiles: readonly number[]) {
    this.#quantiles = quantiles;
  }

  get hours(): readonly HourTail[] {
    return this.#hours;
  }

  get isEmpty(): boolean {
    return this.#hours.length === 0 && this.#open === undefined;
  }

  /** Ends the hours before that of a window, in order. Returns true if the window begins another hour. */
  reach(windowStartMs: number): boolean {
    const hour = Math.floor(windowStartMs / hourMs);
    if (hour <= this.#reachedHour) return false;
    this.#reachedHour = hour;
    const startMs = hour * hourMs;
    const open = this.#open;
    if (open !== undefined && open.startMs < startMs) {
      this.#open = undefined;
      if (!open.isExcluded && open.requests > 0) this.backfill(this.#ended(open));
      open.durations.release();
      open.sumsMs.release();
    }
    this.#hours = this.#hours.filter((each) => each.startMs >= startMs - rememberedMs);
    return true;
  }

  /** Adds a window of a series to the current hour. */
  observe(window: SeriesWindow): void {
    const whole = wholeRequest(window);
    if (whole === undefined) return;
    const open = this.#hourAt(window.windowStartMs);
    open.stage = whole.stage;
    open.requests += whole.requests;
    open.durations.add(whole.digest);
    open.sumsMs.add(window.stages.values());
  }

  excludeHour(windowStartMs: number): void {
    this.#hourAt(windowStartMs).isExcluded = true;
  }

  /** Adds a completed hour; hours come in order. */
  backfill(hour: HourTail): void {
    const last = this.#hours.at(-1);
    if (last === undefined || hour.startMs > last.startMs) this.#hours.push(hour);
  }

  /** Pairs of the last 24 hours with the same hours `days` before, where both are known; oldest first. */
  pairs(untilMs: number, days = weekDays): HourPair[] {
    const fromMs = hourOf(untilMs) - comparedHours * hourMs;
    const known = new Map(this.#hours.map((hour) => [hour.startMs, hour]));
    return this.#hours.flatMap((now) => {
      const baseline = known.get(now.startMs - days * dayMs);
      return now.startMs < fromMs || baseline === undefined ? [] : [{ now, baseline }];
    });
  }

  /** Multiplies the hours before a time, so that they match a new baseline. */
  rebaseline(beforeMs: number, factors: HourFactors): void {
    this.#hours = this.#hours.map((hour) =>
      hour.startMs < beforeMs ? scaled(hour, factors) : hour,
    );
  }

  /** Removes the hours that begin in [fromMs, toMs). */
  forget(fromMs: number, toMs: number): void {
    this.#hours = this.#hours.filter(({ startMs }) => startMs < fromMs || startMs >= toMs);
  }

  serialize(state: StateArchive): void {
    state.section('hourly tails', 1, () => {
      this.#hours = state.list(this.#hours, (hour) => serializeHour(state, hour));
      this.#open = state.optional(this.#open, (open = newHour(0, this.#scope)) =>
        serializeOpen(state, open),
      );
    });
  }

  #hourAt(windowStartMs: number): OpenHour {
    this.#open ??= newHour(hourOf(windowStartMs), this.#scope);
    return this.#open;
  }

  #ended({ startMs, stage, requests, durations, sumsMs }: OpenHour): HourTail {
    const digest = DurationHistogram.digestOf([durations]);
    const quantilesMs = Float64Array.from(this.#quantiles, (q) => digest.quantile(q));
    const means = [...sumsMs.entries()].map(([name, ms]) => [name, ms / requests] as const);
    return { startMs, stage, requests, quantilesMs, meansMs: new Map(means) };
  }
}

function newHour(startMs: number, scope: ArenaScope) {
  const durations = DurationHistogram.in(scope);
  const sumsMs = new StageSums(scope);
  return { startMs, durations, stage: '', requests: 0, sumsMs, isExcluded: false };
}

function scaled(hour: HourTail, { quantiles, means }: HourFactors): HourTail {
  const quantilesMs = Float64Array.from(hour.quantilesMs, (ms, i) => ms * (quantiles[i] ?? 1));
  const meansMs = [...hour.meansMs].map(
    ([stage, ms]) => [stage, ms * (means.get(stage) ?? 1)] as const,
  );
  return { ...hour, quantilesMs, meansMs: new Map(meansMs) };
}

function serializeHour(state: StateArchive, hour: HourTail | undefined): HourTail {
  return {
    ...serializeFields(state, hour, { startMs: 0, stage: '', requests: 0 }),
    quantilesMs: state.numbers(hour?.quantilesMs ?? []),
    meansMs: serializeMeans(state, hour?.meansMs),
  };
}

function serializeOpen(state: StateArchive, open: OpenHour): OpenHour {
  const startMs = state.number(open.startMs);
  open.durations.serialize(state);
  const stage = state.text(open.stage);
  const requests = state.number(open.requests);
  open.sumsMs.serialize(state);
  return { ...open, startMs, stage, requests, isExcluded: state.flag(open.isExcluded) };
}

function serializeMeans(state: StateArchive, means: ReadonlyMap<string, number> = new Map()) {
  return new Map(
    state.list<[string, number]>(means, (entry) => [
      state.text(entry?.[0] ?? ''),
      state.number(entry?.[1] ?? 0),
    ]),
  );
}

function hourOf(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}
