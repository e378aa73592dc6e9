import {
  type HourFactors,
  HourlyTails,
  type HourPair,
  type HourTail,
} from '../../baseline/hourly-tails.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { groupKeyOf } from '../event/anomaly-identity.ts';
import { anomalySubject } from '../event/anomaly-summary.ts';
import { newAnomaly } from '../event/new-anomaly.ts';
import { driftSql } from '../event/sql.ts';
import { AnomalyLifecycle, type Judgement } from '../lifecycle/anomaly-lifecycle.ts';
import type { Renewed } from '../lifecycle/event-chain.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../step/detector-step.ts';
import { driftMeasured, meansOf } from './drift-measured.ts';
import { clearestOf, type DriftVerdict, daysBetween, judgeDrift } from './drift-test.ts';

/** An update says that it has grown by this factor since it was told last. */
const growsBy = 1.15;

/** What a day has, and what is said of it. */
interface Judged {
  readonly pairs: readonly HourPair[];
  readonly verdicts: readonly DriftVerdict[];
  /** What opens, if anything does. */
  readonly opening: DriftVerdict | undefined;
}

/**
 * The slow drift of one series, all its versions together: whether the last day was slower than the same
 * hours a week before. A regression that creeps in over hours or days, a few percent with each release,
 * is never far from the last hour, which tails are compared with. Hours in which a shift of the tail is
 * open are left out: that is told. Judged at the end of each hour.
 */
export class DriftDetector {
  readonly #series: Series;
  readonly #options: DetectOptions;
  readonly #tails: HourlyTails;
  readonly #track: AnomalyLifecycle;
  /** As of the last hour. */
  #judged: Judged | undefined;
  /** How many series of it, versions and all, are looked at. */
  seriesCount = 0;

  /** @param series of any version. */
  constructor(series: Series, options: DetectOptions) {
    this.#series = { ...series, version: '' };
    this.#options = options;
    this.#tails = new HourlyTails(options.quantiles);
    this.#track = new AnomalyLifecycle(options);
  }

  get series(): Series {
    return this.#series;
  }

  get isForgettable(): boolean {
    return this.#tails.isEmpty && !this.#track.isOpen;
  }

  restore(event: AnomalyEvent): void {
    this.#track.restore(event);
  }

  /** What others have told counts, if it is the same event of the same anomaly. */
  adopt(published: AnomalyEvent): void {
    this.#track.adopt(published);
  }

  /** As `AnomalyLifecycle.reconcile`. */
  reconcile(open: AnomalyEvent | undefined, isKnown: (id: string) => boolean): void {
    this.#track.reconcile(open, isKnown);
  }

  /** Takes an hour of the longer past; hours come in order, before any window. */
  backfill(hour: HourTail): void {
    this.#tails.backfill(hour);
  }

  /** The past before that time is no measure any more: a shift of the tail has become the usual. */
  forgetBefore(ms: number): void {
    this.#tails.forget(Number.NEGATIVE_INFINITY, ms);
  }

  serialize(state: StateArchive): void {
    state.section('drift detector', 1, () => {
      this.#tails.serialize(state);
      this.#track.serialize(state);
    });
  }

  /**
   * @param windows of the series of all versions.
   * @param isNormal false while a shift of the tail is open in one of them.
   * @param perWeek false drifts that it may tell.
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
    if (!isNormal) this.#tails.leaveOut(startMs);
    if (!this.#track.isOpen && this.#judged?.opening === undefined) return undefined;
    return this.#track.step(startMs, this.#judgement(startMs, context), context);
  }

  #evaluate(startMs: number, perWeek: number): void {
    const pairs = this.#tails.pairs(startMs);
    const between = daysBetween.map((days) => this.#tails.pairs(startMs, days));
    const verdicts = judgeDrift(pairs, between, this.#options, perWeek);
    const clearest = clearestOf(verdicts);
    const opening = clearest?.opens === true ? clearest : undefined;
    this.#judged = { pairs, verdicts, opening };
  }

  #judgement(startMs: number, { nowMs }: StepContext): Judgement {
    const { openSinceMs: sinceMs = startMs, detectedMs = nowMs } = this.#track;
    return {
      isOut: (event) => this.#of(event)?.goesOn,
      opening: () => this.#opening(nowMs),
      renewed: (event) => this.#renewed(event),
      // It began a day before anybody knew.
      isRebaselinable: nowMs - detectedMs >= this.#options.rebaseline_after,
      resolvedSummary: (event, resolution) => this.#resolvedSummary(event, resolution),
      ended: (resolution) => this.#end(sinceMs, startMs, resolution),
    };
  }

  #opening(nowMs: number): AnomalyEvent | undefined {
    const verdict = this.#judged?.opening;
    if (this.#judged === undefined || verdict === undefined) return undefined;
    const series = this.#series;
    const options = this.#options;
    const { startedAtMs } = verdict;
    const measured = driftMeasured(series, this.#judged.pairs, verdict, options);
    return {
      ...newAnomaly({ kind: 'drift', series, startedAtMs, nowMs, options }),
      ...measured,
      group_key: groupKeyOf('drift', series.model, measured.stage),
      // Nobody needs to wake up for what has taken a day.
      severity: 'info',
      sql: driftSql({ series, stage: measured.evidence.measured_stage, startedAtMs }),
    };
  }

  /** What the last day says of the quantile that was told. */
  #of({ quantile }: AnomalyEvent): DriftVerdict | undefined {
    const index = this.#options.quantiles.indexOf(quantile);
    return this.#judged?.verdicts.find((verdict) => verdict.quantile === index);
  }

  #renewed(event: AnomalyEvent): Renewed | undefined {
    const verdict = this.#of(event);
    if (verdict === undefined || this.#judged === undefined) return undefined;
    if (verdict.ratio < growsBy * event.ratio) return undefined;
    const measured = driftMeasured(this.#series, this.#judged.pairs, verdict, this.#options);
    return { ...measured, severity: event.severity };
  }

  #resolvedSummary(event: AnomalyEvent, resolution: Resolution): string {
    const subject = anomalySubject(event);
    if (resolution === 'recovered') return `${subject} is as fast again as a week ago`;
    if (resolution === 'rebaselined') return `${subject} stays slower; that is the new usual`;
    return `${subject} has had too few requests to say whether it is still slower`;
  }

  #end(sinceMs: number, startMs: number, resolution: Resolution): void {
    if (resolution === 'rebaselined' && this.#judged !== undefined) {
      this.#tails.rebaseline(sinceMs, factorsOf(this.#judged, this.#options));
    } else {
      // Slow hours are no measure in a week.
      this.#tails.forget(sinceMs, startMs);
    }
    this.#judged = undefined;
  }
}

/** By how much hours have grown in a week. */
function factorsOf({ pairs, verdicts }: Judged, { quantiles }: DetectOptions): HourFactors {
  const now = meansOf(pairs.map((pair) => pair.now));
  const baseline = meansOf(pairs.map((pair) => pair.baseline));
  const times = ([stage, ms]: [string, number]): [string, number] => [
    stage,
    ms > 0 ? (now.get(stage) ?? ms) / ms : 1,
  ];
  return {
    quantiles: quantiles.map((_, i) => verdicts.find((one) => one.quantile === i)?.ratio ?? 1),
    means: new Map([...baseline].map(times)),
  };
}
