import { type ExceedanceCount, ExceedanceHistory } from '../baseline/exceedance-history.ts';
import type { StageSummary } from '../baseline/series-window.ts';
import type { StageReference } from '../baseline/stage-baseline.ts';
import type { DetectOptions } from './detect-options.ts';
import { logExceedanceTail } from './exceedance-tail.ts';
import { horizons } from './horizons.ts';
import type { TestLevels } from './page-budget.ts';
import { type TailThreshold, tailThreshold } from './tail-threshold.ts';

/** One window of one test. */
export interface TailCount extends ExceedanceCount {
  readonly startMs: number;
  /** Requests above the baseline's quantile, and how many usually are. */
  readonly exceedances: number;
  readonly expected: number;
  /** Requests above what the quantile must reach to matter, and to matter half as much. */
  readonly beyondEffect: number;
  readonly beyondHalf: number;
}

/** What one test says of one window and those before it. */
export interface TailVerdict {
  readonly stage: string;
  readonly q: number;
  readonly thresholdMs: number;
  readonly count: TailCount;
  /** Of the horizon that is clearest against its level. */
  readonly windows: number;
  readonly logP: number;
  readonly logLevel: number;
  readonly exceedances: number;
  readonly expected: number;
  readonly requests: number;
  readonly dispersion: number;
  readonly startedAtMs: number;
  /** Clear enough, large enough and lasting enough to open an anomaly. */
  readonly opens: boolean;
  /** Odd enough over some horizon not to be learnt. */
  readonly suspicious: boolean;
  /** Odd in this window alone: an open anomaly of the series goes on. */
  readonly loud: boolean;
}

const longest = horizons[horizons.length - 1] as number;
const logSuspicious = Math.log(1e-3);
/** What must remain of a run when its clearest window is left out. */
const logConfirmed = Math.log(1e-2);
/** With fewer exceedances expected, or seen, no number says anything. */
const minExpected = 1;
const minExceedances = 5;
/** Quantiles shown to people are those of at most so many windows. */
const shownWindows = 6;
const historyWindows = { min: 60, max: 720 } as const;

/** Sums over the last windows of one horizon. */
interface RunSums {
  readonly requests: number;
  readonly exceedances: number;
  readonly expected: number;
  readonly beyondEffect: number;
  readonly beyondHalf: number;
  readonly strongest: TailCount;
  readonly first: TailCount;
  readonly shownEffect: boolean;
}

/**
 * Judges one quantile of one stage of one series: are there more requests above the baseline's
 * quantile than chance and this series' own restlessness explain? Windows come in order.
 *
 * Memory: the last 30 counts, and 12 bytes for each window of its history, 720 at most.
 */
export class TailTest {
  readonly #stage: string;
  readonly #q: number;
  readonly #options: DetectOptions;
  readonly #history: ExceedanceHistory;
  #recent: TailCount[] = [];
  #reference: StageReference | undefined;
  #threshold: TailThreshold | undefined;
  readonly #dispersions = new Map<number, number>();

  constructor(stage: string, q: number, options: DetectOptions) {
    this.#stage = stage;
    this.#q = q;
    this.#options = options;
    const windows = Math.ceil(options.baseline / options.window);
    const { min, max } = historyWindows;
    this.#history = new ExceedanceHistory(Math.min(max, Math.max(min, windows)));
  }

  /** undefined when the window holds too few requests to say anything. */
  judge(
    startMs: number,
    summary: StageSummary,
    reference: StageReference,
    levels: TestLevels,
  ): TailVerdict | undefined {
    if (summary.requests < this.#options.min_requests) return undefined;
    const threshold = this.#thresholdOf(reference);
    const count = countTail(startMs, summary, threshold);
    this.#recent.push(count);
    if (this.#recent.length > longest) this.#recent.shift();
    return this.#verdict(count, threshold, levels);
  }

  /** Takes a window into the history from which the dispersion is estimated. */
  learn(count: TailCount): void {
    this.#history.add(count);
  }

  /** Forgets the running windows, not the history: what they said has been dealt with. */
  forgetRun(): void {
    this.#recent = [];
  }

  #thresholdOf(reference: StageReference): TailThreshold {
    if (reference !== this.#reference || this.#threshold === undefined) {
      this.#reference = reference;
      this.#threshold = tailThreshold(reference.digest, this.#q, this.#options);
      this.#dispersions.clear();
    }
    return this.#threshold;
  }

  #verdict(count: TailCount, threshold: TailThreshold, levels: TestLevels): TailVerdict {
    const none = { windows: 1, logP: 0, logLevel: levels.logAlphaSingle, dispersion: 1 };
    let best = { ...none, sums: sumRun([count]), opens: false };
    let suspicious = false;
    let loud = false;
    for (const windows of horizons) {
      const run = this.#run(windows, count.startMs);
      if (run === undefined) break;
      const sums = sumRun(run);
      if (sums.exceedances <= sums.expected) continue;
      const dispersion = this.#dispersionFor(windows, sums.requests);
      const logP = logTailOf(sums, dispersion);
      const odd = logP <= logSuspicious && sums.beyondHalf >= sums.expected;
      suspicious ||= odd;
      loud ||= odd && windows === 1;
      const logLevel = windows === 1 ? levels.logAlphaSingle : levels.logAlpha;
      const opens =
        logP <= logLevel &&
        this.#mayOpen(windows, sums, count) &&
        (windows === 1 || logTailOf(withoutStrongest(sums), dispersion) <= logConfirmed);
      const clearer = logP - logLevel < best.logP - best.logLevel;
      if (opens === best.opens ? clearer : opens) {
        best = { windows, logP, logLevel, dispersion, sums, opens };
      }
    }
    const { sums, ...rest } = best;
    const { exceedances, expected, requests } = sums;
    const { stage, q } = { stage: this.#stage, q: this.#q };
    const startedAtMs = sums.first.startMs;
    const found = { stage, q, thresholdMs: threshold.usualMs, count, startedAtMs };
    return { ...found, ...rest, exceedances, expected, requests, suspicious, loud };
  }

  /** Everything but significance. */
  #mayOpen(windows: number, sums: RunSums, latest: TailCount): boolean {
    const { min_baseline_windows } = this.#options;
    return (
      this.#history.size >= Math.max(4 * windows, Math.ceil(min_baseline_windows / 2)) &&
      sums.expected >= minExpected &&
      sums.exceedances >= minExceedances &&
      sums.beyondEffect >= sums.expected &&
      sums.shownEffect &&
      latest.excess > 0
    );
  }

  /** The last windows, undefined if they are too few or too far apart. */
  #run(windows: number, nowMs: number): readonly TailCount[] | undefined {
    if (this.#recent.length < windows) return undefined;
    const run = this.#recent.slice(-windows);
    const spanMs = nowMs - (run[0] as TailCount).startMs;
    return spanMs <= 2 * windows * this.#options.window ? run : undefined;
  }

  /**
   * The history's dispersion at this many requests. Where rates vary it grows with the requests;
   * where slow requests come in bursts it does not shrink with them: the larger of both holds.
   */
  #dispersionFor(windows: number, requests: number): number {
    let dispersion = this.#dispersions.get(windows);
    if (dispersion === undefined) {
      dispersion = this.#history.dispersion(windows);
      const shorter = horizons.filter((horizon) => horizon < windows).at(-1);
      if (shorter !== undefined) {
        dispersion = Math.max(dispersion, this.#dispersionFor(shorter, 0));
      }
      this.#dispersions.set(windows, dispersion);
    }
    const usual = this.#history.meanRequests() * windows;
    const growth = usual > 0 ? Math.max(1, requests / usual) : 1;
    return 1 + (dispersion - 1) * growth;
  }
}

function countTail(startMs: number, summary: StageSummary, threshold: TailThreshold): TailCount {
  const { requests, digest } = summary;
  const above = (ms: number) => requests * (1 - digest.cdf(ms));
  const exceedances = above(threshold.usualMs);
  const expected = requests * threshold.usualShare;
  return {
    startMs,
    requests,
    exceedances,
    expected,
    excess: exceedances - expected,
    variance: expected * (1 - threshold.usualShare),
    beyondEffect: above(threshold.effectMs),
    beyondHalf: above(threshold.halfEffectMs),
  };
}

function sumRun(run: readonly TailCount[]): RunSums {
  const sum = (counts: readonly TailCount[], of: (count: TailCount) => number) =>
    counts.reduce((total, count) => total + of(count), 0);
  const shown = run.slice(-shownWindows);
  return {
    requests: sum(run, (count) => count.requests),
    exceedances: sum(run, (count) => count.exceedances),
    expected: sum(run, (count) => count.expected),
    beyondEffect: sum(run, (count) => count.beyondEffect),
    beyondHalf: sum(run, (count) => count.beyondHalf),
    strongest: run.reduce((most, count) => (count.excess > most.excess ? count : most)),
    first: run.find((count) => count.excess > 0) ?? (run[0] as TailCount),
    shownEffect: sum(shown, (count) => count.beyondEffect) >= sum(shown, (count) => count.expected),
  };
}

type Counted = Pick<RunSums, 'requests' | 'exceedances' | 'expected'>;

function withoutStrongest({ requests, exceedances, expected, strongest }: RunSums): Counted {
  return {
    requests: requests - strongest.requests,
    exceedances: exceedances - strongest.exceedances,
    expected: expected - strongest.expected,
  };
}

function logTailOf({ requests, exceedances, expected }: Counted, dispersion: number): number {
  return logExceedanceTail(exceedances, requests, expected / requests, dispersion);
}
