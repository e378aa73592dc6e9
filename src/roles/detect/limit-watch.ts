import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import { isoOf } from '../../base/time.ts';
import { minuteText } from '../../contract/short-history.ts';
import type { DetectorStats } from '../../detect/detector.ts';

/** Reports how close the detector is to its limits: in metrics, notes, and the log on changes. */
export class LimitWatch {
  readonly #log: Logger;
  readonly #metrics: Metrics;
  #stats: DetectorStats | undefined;

  constructor(log: Logger, metrics: Metrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  observe(stats: DetectorStats): void {
    const { series, seriesLimit, seriesNotEvaluated, isCrowded } = stats;
    const was = this.#stats?.isCrowded === true;
    this.#logHistory(stats.shortHistory, this.#stats?.shortHistory);
    this.#stats = stats;
    this.#setGauges(stats);
    const fields = { series, limit: seriesLimit, unevaluated: seriesNotEvaluated };
    if (isCrowded && !was) {
      this.#log.warn(
        fields,
        'more series have requests than detect.max_series; only those with the most requests are evaluated',
      );
    } else if (was && !isCrowded) {
      this.#log.info(fields, 'all series are evaluated again');
    }
  }

  notes(): string[] {
    if (this.#stats === undefined) return [];
    const { series, seriesLimit, seriesNotEvaluated, isCrowded, stagesNotEvaluated } = this.#stats;
    const { shortHistory } = this.#stats;
    const notes: string[] = [];
    if (shortHistory !== undefined) {
      const [from, until] = [shortHistory.fromMs, shortHistory.untilMs].map(minuteOf);
      notes.push(
        `detect: knows windows since ${from} only: the history before was not read; ` +
          `until ${until} (detect.baseline) tails and failures must be larger to be critical`,
      );
    }
    if (isCrowded) {
      notes.push(
        `detect: evaluates ${series} series of at most ${seriesLimit} (detect.max_series); ` +
          `${seriesNotEvaluated} with fewer requests were not evaluated in the last window`,
      );
    }
    if (stagesNotEvaluated > 0) {
      notes.push(
        `detect: ${stagesNotEvaluated} stages of evaluated series, those with the least time, are not evaluated`,
      );
    }
    return notes;
  }

  #logHistory(is: DetectorStats['shortHistory'], was: DetectorStats['shortHistory']): void {
    if (is !== undefined && was === undefined) {
      this.#log.warn(
        { from: isoOf(is.fromMs), careful_until: isoOf(is.untilMs) },
        'the history before was not read; until detect.baseline is known tails and failures must be larger to be critical',
      );
    } else if (is === undefined && was !== undefined) {
      this.#log.info(
        { from: isoOf(was.fromMs) },
        'the known history is as long as detect.baseline',
      );
    }
  }

  /** Clears the metrics on standby. */
  end(): void {
    this.#stats = undefined;
    this.#setGauges({});
  }

  #setGauges(stats: Partial<DetectorStats>): void {
    this.#metrics.detectorSeries.set(stats.series ?? 0);
    this.#metrics.detectorSeriesLimit.set(stats.seriesLimit ?? 0);
    this.#metrics.detectorSeriesUnevaluated.set(stats.seriesNotEvaluated ?? 0);
    this.#metrics.detectorHistorySeconds.set((stats.shortHistory?.fromMs ?? 0) / 1000);
    this.#metrics.detectorTests.set(stats.tests ?? 0);
    this.#metrics.detectorStagesUnevaluated.set(stats.stagesNotEvaluated ?? 0);
  }
}

function minuteOf(ms: number): string {
  return minuteText(isoOf(ms));
}
