import { totalStage } from '../../src/base/dimensions.ts';
import { dayMs, hourMs, minuteMs } from '../../src/base/time.ts';
import { BaselinePeriods } from '../../src/baseline/baseline-periods.ts';
import { StageBaseline } from '../../src/baseline/stage-baseline.ts';
import { logExceedanceTail } from '../../src/detect/stats/exceedance-tail.ts';
import type { SeriesWindow } from '../../src/series/series-window.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

/** Pages within this time are one page. */
const joinedMs = 10 * minuteMs;
const leastRequests = 20;

/** A page of a rival, from the minute that raised it to the last that would have. */
export interface RivalPage {
  readonly startedMs: number;
  lastMs: number;
}

/** Common alternatives, each on the total's p99 by the minute. */
export const rivalNames = ['static threshold', 'seasonal z-score', 'plain binomial'] as const;
export type RivalName = (typeof rivalNames)[number];

/**
 * Simple methods over the same windows:
 *
 * - **static threshold**: p99 over 1.5 times that of the first day.
 * - **seasonal z-score**, as in SigNoz: the prediction is the mean of the hour before, plus the change to
 *   this hour of yesterday. It pages beyond three standard deviations of yesterday's hour.
 * - **plain binomial**: requests above the p99 of the last hour, as if independent, at the level of one false
 *   page in 1,000 series-weeks.
 */
export class Rivals {
  readonly pages: Readonly<Record<RivalName, RivalPage[]>> = {
    'static threshold': [],
    'seasonal z-score': [],
    'plain binomial': [],
  };
  readonly #logAlpha = -Math.log((1_000 * 7 * dayMs) / minuteMs);
  readonly #digests: TDigest[] = [];
  readonly #firstDay = new StageBaseline(new BaselinePeriods(dayMs, minuteMs));
  readonly #lastHour = new StageBaseline(new BaselinePeriods(hourMs, minuteMs));
  readonly #hours = new Map<number, { n: number; sum: number; squares: number }>();
  #minute = Number.NaN;
  #firstMs = Number.NaN;

  /** Adds the windows of one start. */
  observe(startMs: number, windows: readonly SeriesWindow[]): void {
    const minute = Math.floor(startMs / minuteMs);
    if (Number.isNaN(this.#firstMs)) this.#firstMs = startMs;
    if (minute !== this.#minute) this.#endMinute(startMs);
    this.#minute = minute;
    for (const { stages } of windows) {
      const total = stages.get(totalStage);
      if (total !== undefined) this.#digests.push(total.digest);
    }
  }

  #endMinute(nowMs: number): void {
    const digest = TDigest.merge(this.#digests.splice(0));
    if (digest.count < leastRequests) return;
    const startMs = this.#minute * minuteMs;
    const p99 = digest.quantile(0.99);
    const baseline = startMs - this.#firstMs >= dayMs ? this.#firstDay.reference() : undefined;
    if (baseline !== undefined && p99 > 1.5 * baseline.digest.quantile(0.99)) {
      this.#page('static threshold', nowMs);
    }
    if (this.#zScore(startMs, p99) > 3) this.#page('seasonal z-score', nowMs);
    const hour = startMs - this.#firstMs >= hourMs ? this.#lastHour.reference() : undefined;
    if (hour !== undefined) {
      const above = digest.count * (1 - digest.cdf(hour.digest.quantile(0.99)));
      if (logExceedanceTail(above, digest.count, 0.01, 1) <= this.#logAlpha) {
        this.#page('plain binomial', nowMs);
      }
    }
    const summary = {
      ...{ stage: totalStage, requests: digest.count, errors: 0, timeouts: 0, cancelled: 0 },
      ...{ sumMs: 0, minMs: 0, maxMs: 0, digest },
      bands: { bands: [], amounts: [] },
      bandsMs: { bands: [], amounts: [] },
    };
    if (startMs - this.#firstMs < dayMs) this.#firstDay.learn(startMs, summary);
    this.#lastHour.learn(startMs, summary);
    const at = Math.floor(startMs / hourMs);
    const sums = this.#hours.get(at) ?? { n: 0, sum: 0, squares: 0 };
    this.#hours.set(at, {
      n: sums.n + 1,
      sum: sums.sum + p99,
      squares: sums.squares + p99 * p99,
    });
  }

  #zScore(startMs: number, p99: number): number {
    const hour = Math.floor(startMs / hourMs);
    const [last, then, before] = [hour - 1, hour - 24, hour - 25].map((at) => this.#hours.get(at));
    if (last === undefined || then === undefined || before === undefined) return 0;
    const mean = ({ sum, n }: { sum: number; n: number }) => sum / n;
    const predicted = mean(last) + mean(then) - mean(before);
    const variance = then.squares / then.n - mean(then) ** 2;
    return variance > 0 ? (p99 - predicted) / Math.sqrt(variance) : 0;
  }

  #page(name: RivalName, nowMs: number): void {
    const pages = this.pages[name];
    const last = pages.at(-1);
    if (last !== undefined && nowMs - last.lastMs <= joinedMs) last.lastMs = nowMs;
    else pages.push({ startedMs: nowMs, lastMs: nowMs });
  }
}
