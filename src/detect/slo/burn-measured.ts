import { totalStage } from '../../base/dimensions.ts';
import { dayMs } from '../../base/time.ts';
import type { BurnCounts } from '../../baseline/burn-counts.ts';
import type { AnomalyEvent, Resolution } from '../../contract/anomaly-event.ts';
import { formatExactShare, formatShare, seriesLabel } from '../../contract/format.ts';
import type { Objective } from '../../contract/objectives/objective.ts';
import { missedText } from '../../contract/objectives/objective-text.ts';
import type { Series } from '../../series/series-window.ts';
import { baselineFields, round, shareOfRequests } from '../event/measured-fields.ts';
import type { RateMeasured } from '../event/rate-event.ts';
import { type BurnRule, burnSpansMs } from './burn-rules.ts';

/** Bad requests, those that the objective allows, and how long the budget lasts at this rate. */
export function burnMeasured(
  series: Series,
  objective: Objective,
  rule: BurnRule,
  counts: BurnCounts,
  windowMs: number,
): RateMeasured {
  const { requests, bad, coveredMs } = counts.sum(rule.long);
  const { untilMs } = counts;
  const allowed = 1 - objective.objective;
  const budgetDays = objective.windowMs / dayMs;
  const sums = { hits: bad, requests, dispersion: 1 };
  const rate = shareOfRequests('errors per request', sums, allowed);
  const lately = counts.sum(rule.short);
  const now = `${formatShare(lately.bad / lately.requests)} of requests in the last ${spanText(rule.short)}`;
  const before = `${formatShare(rate.observed)} in the last ${spanText(rule.long)}`;
  return {
    rate,
    requests: Math.round(requests),
    evidence: {
      test: 'burn_rate',
      // Burn rates compare counts: there is no p-value.
      ...{ p_value: 1, alpha: 1, dispersion: 1 },
      windows: Math.max(1, Math.round(coveredMs / windowMs)),
      // Digests give fractions of requests.
      exceedances: round(bad, 3),
      expected: round(allowed * requests, 3),
      measured_stage: totalStage,
      ...baselineFields({ windows: 0, fromMs: untilMs - coveredMs, toMs: untilMs }),
    },
    severity: rule.severity,
    // "ranker: 21 % of requests in the last 5 min (18 % in the last hour) exceeded 200 ms or failed; …".
    summary:
      `${seriesLabel(series)}: ${now} (${before}) ${missedText(objective.thresholds)}; ` +
      `at this rate the ${budgetDays}-day error budget of the ${formatExactShare(objective.objective)} objective is gone in ${lastsText(budgetDays / rate.ratio)}`,
  };
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
  if (minutes === 60) return 'hour';
  return minutes < 48 * 60 ? `${minutes / 60} h` : `${minutes / 1440} d`;
}

function lastsText(days: number): string {
  if (days >= 2) return `${Number(days.toPrecision(2))} d`;
  const hours = (days * dayMs) / 3_600_000;
  return hours >= 2 ? `${Math.round(hours)} h` : `${Math.max(1, Math.round(hours * 60))} min`;
}
