import { totalStage } from '../../base/dimensions.ts';
import type { BurnSum } from '../../baseline/burn-counts.ts';
import type { Series } from '../../series/series-window.ts';
import type { AnomalyEvent, Rate, Resolution } from '../event/anomaly-event.ts';
import { formatMs } from '../event/anomaly-summary.ts';
import { formatShare, seriesLabel } from '../event/format.ts';
import type { RateMeasured } from '../event/rate-event.ts';
import { shareInterval } from '../stats/quantile-interval.ts';
import { type BurnRule, burnSpansMs, type Objective } from './burn-rules.ts';

const dayMs = 86_400_000;
const budgetDays = 30;

export interface BurnInput {
  readonly series: Series;
  readonly objective: Objective;
  readonly rule: BurnRule;
  /** Counts over the rule's long span and over its short one. */
  readonly over: BurnSum;
  readonly lately: BurnSum;
  /** End of the counted span. */
  readonly untilMs: number;
  readonly windowMs: number;
}

/** Bad requests, those that the objective allows, and how long the budget lasts at this rate. */
export function burnMeasured(input: BurnInput): RateMeasured {
  const { series, objective, rule, over, lately, untilMs, windowMs } = input;
  const allowed = 1 - objective.objective;
  const observed = over.bad / over.requests;
  const rate: Rate = {
    unit: 'errors per request',
    observed: round(observed),
    baseline: round(allowed),
    ratio: round(observed / allowed),
    interval: shareInterval(over.bad, over.requests, 1).map(round) as [number, number],
  };
  return {
    rate,
    requests: Math.round(over.requests),
    evidence: {
      test: 'burn_rate',
      // Burn rates compare counts: there is no p-value.
      ...{ p_value: 1, alpha: 1, dispersion: 1 },
      windows: Math.max(1, Math.round(over.coveredMs / windowMs)),
      exceedances: roundCount(over.bad),
      expected: roundCount(allowed * over.requests),
      measured_stage: totalStage,
      baseline_windows: 0,
      baseline_from: new Date(untilMs - over.coveredMs).toISOString(),
      baseline_to: new Date(untilMs).toISOString(),
    },
    severity: rule.severity,
    summary: summaryOf(series, objective, { rule, rate, lately }),
  };
}

/** "ranker: 21 % of requests in the last 5 min (18 % in the last hour) exceeded 200 ms or failed; …". */
function summaryOf(
  series: Series,
  objective: Objective,
  {
    rule,
    rate,
    lately,
  }: { readonly rule: BurnRule; readonly rate: Rate; readonly lately: BurnSum },
): string {
  const [short, long] = [spanText(rule.short), spanText(rule.long)];
  const now = `${formatShare(lately.bad / lately.requests)} of requests in the last ${short}`;
  const before = `${formatShare(rate.observed)} in the last ${long}`;
  const gone = lastsText(budgetDays / rate.ratio);
  return (
    `${seriesLabel(series)}: ${now} (${before}) exceeded ${formatMs(objective.thresholdMs)} or failed; ` +
    `at this rate the ${budgetDays}-day error budget of the ${formatShare(objective.objective)} objective is gone in ${gone}`
  );
}

export function burnResolvedSummary(
  event: AnomalyEvent,
  resolution: Resolution,
  { name }: Objective,
): string {
  const label = seriesLabel(event);
  if (resolution === 'no_traffic')
    return `${label}: too few requests to evaluate objective "${name}"`;
  return `${label} recovered: objective "${name}" no longer burns its error budget too fast`;
}

function spanText(span: number): string {
  const minutes = (burnSpansMs[span] as number) / 60_000;
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60
    ? minutes === 60
      ? 'hour'
      : `${minutes / 60} h`
    : `${minutes / 1440} d`;
}

function lastsText(days: number): string {
  if (days >= 2) return `${Number(days.toPrecision(2))} d`;
  const hours = (days * dayMs) / 3_600_000;
  return hours >= 2 ? `${Math.round(hours)} h` : `${Math.max(1, Math.round(hours * 60))} min`;
}

/** Rounds a count, which a digest gives as a fraction. */
function roundCount(value: number): number {
  return Math.round(value * 1e3) / 1e3;
}

function round(value: number): number {
  return Math.round(value * 1e9) / 1e9 + 0;
}
