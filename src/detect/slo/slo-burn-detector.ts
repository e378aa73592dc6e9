import { minuteMs } from '../../base/time.ts';
import { BurnCounts, type BurnSum } from '../../baseline/burn-counts.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { type Objective, sloFields } from '../../contract/objectives/objective.ts';
import type { Series } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { rateEvent, type TailDigests, tailFields } from '../event/rate-event.ts';
import { AnomalyDetector } from '../lifecycle/anomaly-detector.ts';
import type { Evaluation } from '../lifecycle/anomaly-lifecycle.ts';
import { type EventUpdate, OpenAnomaly } from '../lifecycle/open-anomaly.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { burnMeasured, burnResolvedSummary } from './burn-measured.ts';
import { type BurnRule, burnRulesOf, burnSpansMs } from './burn-rules.ts';

/** Fewest bad requests of an anomaly, whatever their share. */
const minBad = 5;
/** Pause of the slow rule after an anomaly, whose bad requests remain in its short span. */
const slowRuleSpanMs = 6 * 60 * minuteMs;

/** One objective of one model: the burn rate of its error budget, and its open anomaly. */
export class SloBurnDetector extends AnomalyDetector {
  readonly objective: Objective;
  readonly series: Series;
  readonly #rules: readonly BurnRule[];
  readonly #options: DetectOptions;
  readonly #counts: BurnCounts;
  #slowFromMs = Number.NEGATIVE_INFINITY;

  /** @param series with the values that the objective names; the others are ''. */
  constructor(series: Series, objective: Objective, options: DetectOptions) {
    super(options, OpenAnomaly);
    this.series = series;
    this.objective = objective;
    this.#rules = burnRulesOf(objective.windowMs);
    this.#options = options;
    this.#counts = new BurnCounts(burnSpansMs, Math.max(minuteMs, options.window));
  }

  serialize(state: StateArchive): void {
    state.section('slo burn', 2, () => {
      this.#counts.serialize(state);
      this.lifecycle.serialize(state);
      this.#slowFromMs = state.number(this.#slowFromMs);
    });
  }

  /** @param bad requests that were too slow or failed: exact of a joint objective; digests give fractions. */
  step(
    startMs: number,
    { requests, bad }: Pick<BurnSum, 'requests' | 'bad'>,
    context: StepContext,
    tail: () => TailDigests,
  ): AnomalyEvent | undefined {
    this.#counts.add(startMs, requests, bad);
    const rule = this.#firingRule(startMs);
    if (rule === undefined && !this.isOpen) return undefined;
    const evaluation: Evaluation = {
      isAnomalous: ({ event }) => this.#isAnomalous(event),
      opening: () => (rule === undefined ? undefined : this.#opening(rule, context, tail)),
      update: ({ event }) => this.#update(event, rule, tail),
      present: ({ event }) => this.#present(event, tail),
      // An objective stays the same, however long it is missed.
      isRebaselinable: () => false,
      resolvedSummary: ({ event }, resolution) =>
        burnResolvedSummary(event, resolution, this.objective),
      ended: () => {
        this.#slowFromMs = startMs + slowRuleSpanMs;
      },
    };
    return this.lifecycle.step(startMs, evaluation, context);
  }

  /** The most severe rule that fires; parts of a span without data count as good. */
  #firingRule(startMs: number): BurnRule | undefined {
    return this.#rules.find(({ factor, long, short, severity }) => {
      const [over, lately] = [this.#counts.sum(long), this.#counts.sum(short)];
      if (over.bad < minBad || over.requests < this.#options.min_requests) return false;
      if (severity === 'warning' && startMs < this.#slowFromMs) return false;
      const known = over.coveredMs / (burnSpansMs[long] as number);
      return this.#burnOf(over) * known >= factor && this.#burnOf(lately) >= factor;
    });
  }

  /** Burn rate: at 1 the budget lasts for exactly its period. */
  #burnOf({ requests, bad }: BurnSum): number {
    return requests === 0 ? 0 : bad / requests / (1 - this.objective.objective);
  }

  /** Evaluates the short spans of rules as severe: long spans still show a burn that is over. */
  #isAnomalous({ severity }: AnomalyEvent): boolean | undefined {
    const rules = this.#rules.filter(
      (rule) => severity !== 'critical' || rule.severity === 'critical',
    );
    const sums = rules.map((rule) => ({ rule, sum: this.#counts.sum(rule.short) }));
    if (sums.every(({ sum }) => sum.requests === 0)) return undefined;
    return sums.some(({ rule, sum }) => this.#burnOf(sum) >= rule.factor);
  }

  #opening(rule: BurnRule, { nowMs }: StepContext, tail: () => TailDigests): AnomalyEvent {
    const { name, objective } = this.objective;
    const event = rateEvent({
      kind: 'slo_burn',
      series: this.series,
      coversAllSeries: true,
      name,
      startedAtMs: this.#counts.sinceMs(rule.factor * (1 - objective)),
      measured: this.#measured(rule),
      tail: tail(),
      nowMs,
      options: this.#options,
    });
    return { ...event, slo: this.#sloOf(rule) };
  }

  #update(
    event: AnomalyEvent,
    rule: BurnRule | undefined,
    tail: () => TailDigests,
  ): EventUpdate | undefined {
    // The used budget grows all the time: only a rise to critical is an update.
    if (rule?.severity !== 'critical' || event.severity === 'critical') return undefined;
    const fields = tailFields(tail(), this.#options);
    return { ...this.#measured(rule), ...fields, slo: this.#sloOf(rule) };
  }

  /** By the rule that opened it, or that it rose by. */
  #present({ slo }: AnomalyEvent, tail: () => TailDigests): EventUpdate | undefined {
    const rule = this.#rules.find(({ factor, long }) => {
      return factor === slo?.burn_rate && burnSpansMs[long] === slo.long_ms;
    });
    if (rule === undefined || this.#counts.sum(rule.long).requests === 0) return undefined;
    return { ...this.#measured(rule), ...tailFields(tail(), this.#options) };
  }

  #measured(rule: BurnRule) {
    const { window } = this.#options;
    return burnMeasured(this.series, this.objective, rule, this.#counts, window);
  }

  #sloOf({ factor, long, short }: BurnRule): AnomalyEvent['slo'] {
    return {
      ...sloFields(this.objective),
      burn_rate: factor,
      long_ms: burnSpansMs[long] as number,
      short_ms: burnSpansMs[short] as number,
    };
  }
}
