import {
  type HourFactors,
  HourlyTails,
  type HourPair,
  type HourTail,
} from '../../baseline/hourly-tails.ts';
import type { AnomalyEvent, Resolution } from '../../contract/anomaly-event.ts';
import { groupKeyOf } from '../../contract/anomaly-identity.ts';
import { driftSql } from '../../contract/sql.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { anomalySubject } from '../event/anomaly-summary.ts';
import { newAnomaly } from '../event/new-anomaly.ts';
import { AnomalyDetector } from '../lifecycle/anomaly-detector.ts';
import type { Evaluation } from '../lifecycle/anomaly-lifecycle.ts';
import { type EventUpdate, OpenAnomaly } from '../lifecycle/open-anomaly.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { driftMeasured, meansOf } from './drift-measured.ts';
import { clearestOf, type DriftVerdict, daysBetween, evaluateDrift } from './drift-test.ts';

/** Growth since the last event that justifies an update. */
const minGrowth = 1.15;

/** Hours of the last day, their verdicts, and the one of these that opens an anomaly. */
interface DayResult {
  readonly pairs: readonly HourPair[];
  readonly verdicts: readonly DriftVerdict[];
  readonly opening: DriftVerdict | undefined;
}

/**
 * Slow drift of one series, all its versions together: the last day against the same hours a week before.
 * A regression that grows over hours or days, a few percent per release, hardly differs from the last
 * hour, the baseline of tails. Hours with an open tail shift are left out. Evaluated once an hour.
 */
export class DriftDetector extends AnomalyDetector {
  readonly series: Series;
  readonly #options: DetectOptions;
  readonly #tails: HourlyTails;
  #lastDay: DayResult | undefined;
  /** Number of registered series; each version counts. */
  seriesCount = 0;

  /** @param series in any version. */
  constructor(series: Series, options: DetectOptions) {
    super(options, OpenAnomaly);
    this.series = { ...series, version: '' };
    this.#options = options;
    this.#tails = new HourlyTails(options.quantiles);
  }

  get isForgettable(): boolean {
    return this.#tails.isEmpty && !this.isOpen;
  }

  /** Backfills an hour; hours come in order, before any window. */
  backfill(hour: HourTail): void {
    this.#tails.backfill(hour);
  }

  /** Forgets hours before `ms`: a tail shift was rebaselined then. */
  forgetBefore(ms: number): void {
    this.#tails.forget(Number.NEGATIVE_INFINITY, ms);
  }

  serialize(state: StateArchive): void {
    state.section('drift detector', 2, () => {
      this.#tails.serialize(state);
      this.lifecycle.serialize(state);
    });
  }

  /**
   * @param windows of the series in all versions.
   * @param isNormal false while a tail shift is open in one of them.
   * @param perWeek false drifts that it may cause per week.
   */
  step(
    startMs: number,
    windows: readonly SeriesWindow[],
    isNormal: boolean,
    perWeek: number,
    context: StepContext,
  ): AnomalyEvent | undefined {
    if (this.#tails.reach(startMs)) this.#evaluate(startMs, perWeek);
    for (const window of windows) this.#tails.observe(window);
    if (!isNormal) this.#tails.excludeHour(startMs);
    if (!this.isOpen && this.#lastDay?.opening === undefined) return undefined;
    return this.lifecycle.step(startMs, this.#evaluation(startMs, context), context);
  }

  #evaluate(startMs: number, perWeek: number): void {
    const pairs = this.#tails.pairs(startMs);
    const between = daysBetween.map((days) => this.#tails.pairs(startMs, days));
    const verdicts = evaluateDrift(pairs, between, this.#options, perWeek);
    const clearest = clearestOf(verdicts);
    const opening = clearest?.opens === true ? clearest : undefined;
    this.#lastDay = { pairs, verdicts, opening };
  }

  #evaluation(startMs: number, { nowMs }: StepContext): Evaluation {
    const { open } = this.lifecycle;
    const sinceMs = open?.startedAtMs ?? startMs;
    const detectedMs = open === undefined ? nowMs : Date.parse(open.event.detected_at);
    return {
      isAnomalous: ({ event }) => this.#verdictOf(event)?.persists,
      opening: () => this.#opening(nowMs),
      update: ({ event }) => this.#update(event),
      present: ({ event }) => this.#present(event),
      // Counted from its detection: a drift starts a day before that.
      isRebaselinable: () => nowMs - detectedMs >= this.#options.rebaseline_after,
      resolvedSummary: ({ event }, resolution) => this.#resolvedSummary(event, resolution),
      ended: (resolution) => this.#end(sinceMs, startMs, resolution),
    };
  }

  #opening(nowMs: number): AnomalyEvent | undefined {
    const { pairs, opening } = this.#lastDay ?? {};
    if (pairs === undefined || opening === undefined) return undefined;
    const series = this.series;
    const options = this.#options;
    const { startedAtMs } = opening;
    const measured = driftMeasured(series, pairs, opening, options);
    return {
      ...newAnomaly({ kind: 'drift', series, startedAtMs, nowMs, options }),
      ...measured,
      group_key: groupKeyOf('drift', series.model, measured.stage),
      // A drift takes a day to show: it should not page.
      severity: 'info',
      sql: driftSql({ series, stage: measured.evidence.measured_stage, startedAtMs }),
    };
  }

  /** Verdict of the last day on the event's quantile. */
  #verdictOf({ quantile }: AnomalyEvent): DriftVerdict | undefined {
    const index = this.#options.quantiles.indexOf(quantile);
    return this.#lastDay?.verdicts.find((verdict) => verdict.quantile === index);
  }

  #update(event: AnomalyEvent): EventUpdate | undefined {
    const verdict = this.#verdictOf(event);
    if (verdict === undefined || verdict.ratio < minGrowth * event.ratio) return undefined;
    return { ...this.#present(event), severity: event.severity };
  }

  #present(event: AnomalyEvent): EventUpdate | undefined {
    const verdict = this.#verdictOf(event);
    if (verdict === undefined || this.#lastDay === undefined) return undefined;
    return driftMeasured(this.series, this.#lastDay.pairs, verdict, this.#options);
  }

  #resolvedSummary(event: AnomalyEvent, resolution: Resolution): string {
    const subject = anomalySubject(event);
    if (resolution === 'recovered') return `${subject} recovered: as fast as a week before`;
    if (resolution === 'rebaselined')
      return `${subject} has stayed slower; this is now the baseline`;
    return `${subject}: too few requests to evaluate`;
  }

  #end(sinceMs: number, startMs: number, resolution: Resolution): void {
    if (resolution === 'rebaselined' && this.#lastDay !== undefined) {
      this.#tails.rebaseline(sinceMs, factorsOf(this.#lastDay, this.#options));
    } else {
      // Slow hours must not be the baseline of next week.
      this.#tails.forget(sinceMs, startMs);
    }
    this.#lastDay = undefined;
  }
}

/** Growth of the hours within a week. */
function factorsOf({ pairs, verdicts }: DayResult, { quantiles }: DetectOptions): HourFactors {
  const now = meansOf(pairs.map((pair) => pair.now));
  const means = meansOf(pairs.map((pair) => pair.baseline));
  for (const [stage, ms] of means) means.set(stage, ms > 0 ? (now.get(stage) ?? ms) / ms : 1);
  const ratios = quantiles.map((_, i) => verdicts.find((one) => one.quantile === i)?.ratio ?? 1);
  return { quantiles: ratios, means };
}
