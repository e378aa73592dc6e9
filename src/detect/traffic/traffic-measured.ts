import { totalStage } from '../../base/dimensions.ts';
import type { TrafficForecast } from '../../baseline/traffic-profile.ts';
import type { AnomalyEvent, Rate, Resolution, Severity } from '../../contract/anomaly-event.ts';
import { durationText, formatPerSecond, seriesLabel } from '../../contract/format.ts';
import type { Series } from '../../series/series-window.ts';
import { baselineFields, round, significance } from '../event/measured-fields.ts';
import type { RateMeasured } from '../event/rate-event.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { normal95 } from '../stats/quantile-interval.ts';
import type { DropVerdict } from './drop-test.ts';
import type { SilenceVerdict } from './silence-test.ts';

/** Part of the baseline at or below which a drop is critical. */
const criticalPart = 0.1;

/** Remaining traffic, its forecast, and the evidence. */
export function dropMeasured(
  series: Series,
  verdict: DropVerdict,
  forecast: TrafficForecast,
  { window }: DetectOptions,
): RateMeasured {
  const { requests, expected, windows, dispersion } = verdict;
  const seconds = (windows * window) / 1000;
  const half = normal95 * Math.sqrt(Math.max(1, requests) * dispersion);
  const [low, high] = [Math.max(0, requests - half), requests + half];
  const rate = rateOf(requests / seconds, expected / seconds, low / seconds, high / seconds);
  return {
    rate,
    requests,
    evidence: {
      test: 'likelihood_ratio',
      ...significance(verdict),
      windows,
      exceedances: requests,
      expected: round(expected),
      dispersion: round(dispersion),
      ...baselineOf(forecast, window),
    },
    severity: severityOf(rate),
    summary: summaryOf(series, rate),
  };
}

/** Remaining traffic of an open drop. */
export function dropUpdated(series: Series, event: AnomalyEvent, perSecond: number) {
  const [, high] = event.rate?.interval ?? [0, 0];
  const rate = rateOf(perSecond, event.rate?.baseline ?? 0, 0, Math.max(perSecond, high));
  return { rate, severity: severityOf(rate), summary: summaryOf(series, rate) };
}

/** The silence, its forecast, and the evidence. */
export function silenceMeasured(
  series: Series,
  verdict: SilenceVerdict,
  forecast: TrafficForecast,
  { window }: DetectOptions,
): RateMeasured {
  const { gapMs, expected } = verdict;
  const rate = rateOf(0, forecast.perSecond, 0, 0);
  return {
    rate,
    requests: 0,
    evidence: {
      test: 'silence',
      ...significance(verdict),
      windows: Math.max(1, Math.round(gapMs / window)),
      exceedances: 0,
      expected: round(expected),
      dispersion: 1,
      ...baselineOf(forecast, window),
    },
    severity: 'critical',
    summary: silenceSummary(series, gapMs, rate),
  };
}

/** An open silence, up to `untilMs`: it has become longer. */
export function silencePresent(
  series: Series,
  { rate, evidence, measured_at, started_at }: AnomalyEvent,
  untilMs: number,
  { window }: DetectOptions,
) {
  if (rate === undefined) return undefined;
  // Older events do not say up to when they are measured.
  const sinceMs =
    measured_at === undefined
      ? Date.parse(started_at)
      : Date.parse(measured_at) - evidence.windows * window;
  return {
    summary: silenceSummary(series, untilMs - sinceMs, rate),
    measured_at: new Date(untilMs).toISOString(),
  };
}

/** "ranker: no request for 12 min (baseline 51/s)". */
function silenceSummary(series: Series, gapMs: number, { baseline }: Rate): string {
  const which = series.model === '' ? '; traffic, Kafka or ingest has stopped' : '';
  return `${seriesLabel(series)}: no request for ${durationText(gapMs)} (baseline ${formatPerSecond(baseline)})${which}`;
}

/** @param perSecond current traffic; undefined if unknown. */
export function trafficResolvedSummary(
  event: AnomalyEvent,
  resolution: Resolution,
  perSecond: number | undefined,
): string {
  const label = seriesLabel(event);
  const baseline = formatPerSecond(event.rate?.baseline ?? 0);
  const now = perSecond === undefined ? undefined : formatPerSecond(perSecond);
  if (resolution === 'no_traffic') return `${label}: no traffic left to evaluate`;
  if (resolution === 'rebaselined')
    return `${label}: traffic has stayed ${now === undefined ? 'low' : `at ${now}`}; this is now the baseline (was ${baseline})`;
  const verb = event.kind === 'no_data' ? 'receives requests again' : 'recovered';
  return `${label} ${verb}${now === undefined ? '' : `: ${now}`} (baseline ${baseline})`;
}

function rateOf(observed: number, baseline: number, low: number, high: number): Rate {
  return {
    unit: 'requests per second',
    observed: round(observed),
    baseline: round(baseline),
    ratio: round(baseline > 0 ? observed / baseline : 0),
    interval: [round(low), round(high)],
  };
}

function baselineOf({ fromMs, toMs }: TrafficForecast, windowMs: number) {
  const windows = Math.round((toMs - fromMs) / windowMs);
  return { measured_stage: totalStage, ...baselineFields({ windows, fromMs, toMs }) };
}

function severityOf({ observed, baseline }: Rate): Severity {
  return observed <= criticalPart * baseline ? 'critical' : 'warning';
}

/** "ranker: requests fell to 12/s (baseline 51/s)". */
function summaryOf(series: Series, { observed, baseline }: Rate): string {
  const left = formatPerSecond(observed);
  return `${seriesLabel(series)}: requests fell to ${left} (baseline ${formatPerSecond(baseline)})`;
}
