import { BurnCounts, type BurnSum } from '../../baseline/burn-counts.ts';
import type { Series } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent } from '../event/anomaly-event.ts';
import { rateEvent, type TailBeside, tailBeside } from '../event/rate-event.ts';
import { AnomalyLifecycle, type Judgement } from '../lifecycle/anomaly-lifecycle.ts';
import type { Renewed } from '../lifecycle/event-chain.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../step/detector-step.ts';
import { burnMeasured, burnResolvedSummary } from './burn-measured.ts';
import { type BurnRule, burnRules, burnSpansMs, type Objective } from './burn-rules.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Fewer bad requests say nothing, whatever part of all they are. */
const fewestBad = 5;
/** What a fast burn has used up the slow rule sees for as long as its short span: that was told. */
const slowRuleSpanMs = 6 * hourMs;

/**
 * One objective of one model: how fast its budget of bad requests is used, and its anomaly, if one is
 * open.
 */
export class SloBurnDetector {
  readonly objective: Objective;
  readonly #series: Series;
  readonly #options: DetectOptions;
  readonly #counts: BurnCounts;
  readonly #track: AnomalyLifecycle;
  #slowFromMs = Number.NEGATIVE_INFINITY;

  /** @param series whose values are '' but for those that the objective is of. */
  constructor(series: Series, objective: Objective, options: DetectOptions) {
    this.#series = series;
    this.objective = objective;
    this.#options = options;
    this.#counts = new BurnCounts(burnSpansMs, Math.max(minuteMs, options.window));
    this.#track = new AnomalyLifecycle(options);
  }

  get model(): string {
    return this.#series.model;
  }

  get requestType(): string {
    return this.#series.request_type;
  }

  /** As of `AnomalyLifecycle`. */
  adopt(published: AnomalyEvent): void {
    this.#track.adopt(published);
  }

  reconcile(open: AnomalyEvent | undefined, isKnown: (id: string) => boolean): void {
    this.#track.reconcile(open, isKnown);
  }

  serialize(state: StateArchive): void {
    state.section('slo burn', 1, () => {
      this.#counts.serialize(state);
      this.#track.serialize(state);
      this.#slowFromMs = state.number(this.#slowFromMs);
    });
  }

  restore(event: AnomalyEvent): void {
    this.#track.restore(event);
  }

  /** @param bad as many of the requests as were slower or failed, a fraction where the digest says so. */
  step(
    startMs: number,
    { requests, bad }: { readonly requests: number; readonly bad: number },
    context: StepContext,
    tail: () => TailBeside,
  ): AnomalyEvent | undefined {
    this.#counts.add(startMs, requests, bad);
    const rule = this.#burning(startMs);
    if (rule === undefined && !this.#track.isOpen) return undefined;
    const judgement: Judgement = {
      isOut: (event) => this.#isOut(event),
      opening: () => (rule === undefined ? undefined : this.#opening(rule, context, tail)),
      renewed: (event) => this.#renewed(event, rule, tail),
      // What is promised is not changed by how long it is broken.
      isRebaselinable: false,
      resolvedSummary: (event, resolution) =>
        burnResolvedSummary(event, resolution, this.objective),
      ended: () => {
        this.#slowFromMs = startMs + slowRuleSpanMs;
      },
    };
    return this.#track.step(startMs, judgement, context);
  }

  /**
   * The most severe rule by which the budget is used too fast; what is not known of a span counts as
   * good.
   */
  #burning(startMs: number): BurnRule | undefined {
    return burnRules.find(({ factor, long, short, severity }) => {
      const [over, lately] = [this.#counts.sum(long), this.#counts.sum(short)];
      if (over.bad < fewestBad || over.requests < this.#options.min_requests) return false;
      if (severity === 'warning' && startMs < this.#slowFromMs) return false;
      const known = over.coveredMs / (burnSpansMs[long] as number);
      return this.#burnOf(over) * known >= factor && this.#burnOf(lately) >= factor;
    });
  }

  /** How many times as fast the budget is used as it would last. */
  #burnOf({ requests, bad }: BurnSum): number {
    return requests === 0 ? 0 : bad / requests / (1 - this.objective.objective);
  }

  /**
   * By the short spans of the rules that are as severe: what is over is over, though it shows for long in
   * the long.
   */
  #isOut({ severity }: AnomalyEvent): boolean | undefined {
    const rules = burnRules.filter(
      (rule) => severity !== 'critical' || rule.severity === 'critical',
    );
    const sums = rules.map((rule) => ({ rule, sum: this.#counts.sum(rule.short) }));
    if (sums.every(({ sum }) => sum.requests === 0)) return undefined;
    return sums.some(({ rule, sum }) => this.#burnOf(sum) >= rule.factor);
  }

  #opening(rule: BurnRule, { nowMs }: StepContext, tail: () => TailBeside): AnomalyEvent {
    const share = rule.factor * (1 - this.objective.objective);
    return {
      ...rateEvent({
        kind: 'slo_burn',
        series: this.#series,
        isWhole: true,
        name: this.objective.name,
        startedAtMs: this.#counts.sinceMs(share),
        measured: this.#measured(rule),
        tail: tail(),
        nowMs,
        options: this.#options,
      }),
      slo: this.#sloOf(rule),
    };
  }

  #renewed(
    event: AnomalyEvent,
    rule: BurnRule | undefined,
    tail: () => TailBeside,
  ): Renewed | undefined {
    if (rule === undefined) return undefined;
    // That more of the budget is used as time goes on is no news.
    if (rule.severity !== 'critical' || event.severity === 'critical') return undefined;
    const measured = this.#measured(rule);
    return { ...measured, ...tailBeside(tail(), this.#options), slo: this.#sloOf(rule) };
  }

  #measured(rule: BurnRule) {
    return burnMeasured({
      series: this.#series,
      objective: this.objective,
      rule,
      over: this.#counts.sum(rule.long),
      lately: this.#counts.sum(rule.short),
      untilMs: this.#counts.untilMs,
      windowMs: this.#options.window,
    });
  }

  #sloOf({ factor, long, short }: BurnRule): AnomalyEvent['slo'] {
    return {
      name: this.objective.name,
      objective: this.objective.objective,
      threshold_ms: this.objective.thresholdMs,
      burn_rate: factor,
      long_ms: burnSpansMs[long] as number,
      short_ms: burnSpansMs[short] as number,
    };
  }
}
