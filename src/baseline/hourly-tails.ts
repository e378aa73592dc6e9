import { Arena, type ArenaScope } from '../memory/arena.ts';
import type { SeriesWindow } from '../series/series-window.ts';
import { wholeRequest } from '../series/whole-request.ts';
import type { StateArchive } from '../snapshot/archive.ts';
import { DurationHistogram } from './durations/duration-histogram.ts';
import { StageSums } from './stage-sums.ts';

/** How long requests took in one hour. */
export interface HourTail {
  readonly startMs: number;
  /** What stands for whole requests: `total`, where there is one. */
  readonly stage: string;
  readonly requests: number;
  /** Of whole requests, in the order of the quantiles that are kept. */
  readonly quantilesMs: ArrayLike<number>;
  /** What a request spends in each stage on average, the whole among them. */
  readonly meansMs: ReadonlyMap<string, number>;
}

/** An hour, and the same one some days before, mostly a week. */
export interface HourPair {
  readonly now: HourTail;
  readonly baseline: HourTail;
}

/** By how much each of an hour's numbers is to be multiplied. */
export interface HourFactors {
  readonly quantiles: readonly number[];
  readonly means: ReadonlyMap<string, number>;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const weekDays = 7;
/** The last day, which is compared with the same hours of a week before. */
const comparedHours = 24;
/** How long an hour is kept. */
export const rememberedMs = weekDays * dayMs + comparedHours * hourMs;

interface OpenHour {
  readonly startMs: number;
  readonly durations: DurationHistogram;
  stage: string;
  requests: number;
  readonly sumsMs: StageSums;
  isLeftOut: boolean;
}

/**
 * How long requests took, by hours, for eight days: of the last day, hour by hour, it can be said what the
 * same hour of the same day of the week had.
 *
 * Memory: 192 hours of some 300 bytes, and 60 a stage: 170 KB for ten stages. Cost: a microsecond a
 * window, some ten at the end of an hour.
 */
export class HourlyTails {
  readonly #quantiles: readonly number[];
  readonly #rooms = Arena.shared().scope();
  /** Oldest first. */
  #hours: HourTail[] = [];
  #open: OpenHour | undefined;
  /** The hour that was reached, since 1970; -1 before any, and once more when it is restored. */
  #reachedHour = -1;

  constructor(quantiles: readonly number[]) {
    this.#quantiles = quantiles;
  }

  /** Those that are over, oldest first. */
  get hours(): readonly HourTail[] {
    return this.#hours;
  }

  get isEmpty(): boolean {
    return this.#hours.length === 0 && this.#open === undefined;
  }

  /** Ends the hours before that of a window; whether it is of another hour. Windows come in order. */
  reach(windowStartMs: number): boolean {
    const hour = Math.floor(windowStartMs / hourMs);
    if (hour <= this.#reachedHour) return false;
    this.#reachedHour = hour;
    const startMs = hour * hourMs;
    const open = this.#open;
    if (open !== undefined && open.startMs < startMs) {
      this.#open = undefined;
      if (!open.isLeftOut && open.requests > 0) this.backfill(this.#ended(open));
      open.durations.release();
      open.sumsMs.release();
    }
    this.#dropBefore(startMs - rememberedMs);
    return true;
  }

  /** Adds what a series had in a window, in the hour that was reached. */
  observe(window: SeriesWindow): void {
    const whole = wholeRequest(window);
    if (whole === undefined) return;
    const open = this.#hourAt(window.windowStartMs);
    open.stage = whole.stage;
    open.requests += whole.requests;
    open.durations.add(whole.digest);
    open.sumsMs.add(window.stages.values());
  }

  /** Leaves out the hour of a window: it was not a usual one. */
  leaveOut(windowStartMs: number): void {
    this.#hourAt(windowStartMs).isLeftOut = true;
  }

  /** Takes an hour that is over; hours come in order. */
  backfill(hour: HourTail): void {
    const last = this.#hours.at(-1);
    if (last === undefined || hour.startMs > last.startMs) this.#hours.push(hour);
  }

  /** Of the 24 hours up to then those that are known, of so many days before too; oldest first. */
  pairs(untilMs: number, days = weekDays): HourPair[] {
    const fromMs = hourOf(untilMs) - comparedHours * hourMs;
    const known = new Map(this.#hours.map((hour) => [hour.startMs, hour]));
    return this.#hours.flatMap((now) => {
      const baseline = known.get(now.startMs - days * dayMs);
      return now.startMs < fromMs || baseline === undefined ? [] : [{ now, baseline }];
    });
  }

  /** Makes hours before that time what they would be by now. */
  rebaseline(beforeMs: number, factors: HourFactors): void {
    this.#hours = this.#hours.map((hour) =>
      hour.startMs < beforeMs ? multiplied(hour, factors) : hour,
    );
  }

  /** Forgets the hours that begin in [fromMs, toMs). */
  forget(fromMs: number, toMs: number): void {
    this.#hours = this.#hours.filter(({ startMs }) => startMs < fromMs || startMs >= toMs);
  }

  serialize(state: StateArchive): void {
    state.section('hourly tails', 1, () => {
      this.#hours = state.list(this.#hours, (hour) => serializeHour(state, hour));
      this.#open = state.optional(this.#open, (open = newHour(0, this.#rooms)) =>
        serializeOpen(state, open),
      );
    });
  }

  #hourAt(windowStartMs: number): OpenHour {
    this.#open ??= newHour(hourOf(windowStartMs), this.#rooms);
    return this.#open;
  }

  #ended({ startMs, stage, requests, durations, sumsMs }: OpenHour): HourTail {
    const digest = DurationHistogram.digestOf([durations]);
    const quantilesMs = Float64Array.from(this.#quantiles, (q) => digest.quantile(q));
    const means = [...sumsMs.entries()].map(([name, ms]): [string, number] => [
      name,
      ms / requests,
    ]);
    return { startMs, stage, requests, quantilesMs, meansMs: new Map(means) };
  }

  #dropBefore(fromMs: number): void {
    const keep = this.#hours.findIndex(({ startMs }) => startMs >= fromMs);
    this.#hours = keep < 0 ? [] : this.#hours.slice(keep);
  }
}

function newHour(startMs: number, rooms: ArenaScope): OpenHour {
  const durations = DurationHistogram.in(rooms);
  const sumsMs = new StageSums(rooms);
  return { startMs, durations, stage: '', requests: 0, sumsMs, isLeftOut: false };
}

function multiplied(hour: HourTail, { quantiles, means }: HourFactors): HourTail {
  const quantilesMs = Float64Array.from(hour.quantilesMs, (ms, i) => ms * (quantiles[i] ?? 1));
  const meansMs = [...hour.meansMs].map(([stage, ms]): [string, number] => [
    stage,
    ms * (means.get(stage) ?? 1),
  ]);
  return { ...hour, quantilesMs, meansMs: new Map(meansMs) };
}

function serializeHour(state: StateArchive, hour: HourTail | undefined): HourTail {
  return {
    startMs: state.number(hour?.startMs ?? 0),
    stage: state.text(hour?.stage ?? ''),
    requests: state.number(hour?.requests ?? 0),
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
  return { ...open, startMs, stage, requests, isLeftOut: state.flag(open.isLeftOut) };
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
