import { totalStage } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { groupKeyOf } from '../../contract/anomaly-identity.ts';
import { countsSql } from '../../contract/sql.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { quantileInterval } from '../stats/quantile-interval.ts';
import { round } from './measured-fields.ts';
import { type NewAnomalyInput, newAnomaly } from './new-anomaly.ts';

/** Durations of whole requests, which an anomaly of a rate reports too; undefined without requests. */
export interface TailDigests {
  readonly now: TDigest | undefined;
  readonly baseline: TDigest | undefined;
}

/** Measured fields of an anomaly that is no duration. */
export type RateMeasured = Pick<
  AnomalyEvent,
  'rate' | 'requests' | 'affected_share' | 'evidence' | 'severity' | 'summary'
>;

export interface RateEventInput extends NewAnomalyInput {
  /** True if it covers all series with the given values, not only the one series. */
  readonly coversAllSeries: boolean;
  readonly measured: RateMeasured;
  /** @default {'unknown'} */
  readonly bottleneck?: AnomalyEvent['bottleneck'];
  readonly tail: TailDigests;
}

/** Creates the opening event of a kind that is no duration, without blame. */
export function rateEvent(input: RateEventInput): AnomalyEvent {
  const { kind, series, coversAllSeries, startedAtMs, measured, options } = input;
  const stage = measured.evidence.measured_stage;
  return {
    ...newAnomaly(input),
    group_key: groupKeyOf(kind, series.model, stage),
    stage,
    ...tailFields(input.tail, options),
    ...measured,
    blame: [],
    bottleneck: input.bottleneck ?? 'unknown',
    sql: countsSql({ kind, series, startedAtMs, coversAllSeries, stage: stage || totalStage }),
  };
}

/** Highest configured quantile, now and in the baseline; 0 without requests. */
export function tailFields({ now, baseline }: TailDigests, { quantiles }: DetectOptions) {
  const quantile = Math.max(...quantiles);
  const observed = now === undefined || now.count === 0 ? 0 : now.quantile(quantile);
  const baselineMs = baseline?.quantile(quantile) ?? observed;
  const interval =
    observed === 0 || now === undefined ? [0, 0] : quantileInterval(now, quantile, 1);
  return {
    quantile,
    observed_ms: round(observed),
    interval_ms: [round(interval[0] as number), round(interval[1] as number)] as [number, number],
    baseline_ms: round(baselineMs),
    ratio: round(baselineMs > 0 ? observed / baselineMs : 1),
  };
}
