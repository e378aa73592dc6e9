import { totalStage } from '../../base/dimensions.ts';
import type { TDigest } from '../../sketch/t-digest.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import { quantileInterval } from '../stats/quantile-interval.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import { groupKeyOf } from './anomaly-identity.ts';
import { type NewAnomalyInput, newAnomaly } from './new-anomaly.ts';
import { countsSql } from './sql.ts';

/** How long the whole requests take, beside what is wrong with how many there are. */
export interface TailBeside {
  /** Of the windows that show it; undefined where they have no request. */
  readonly now: TDigest | undefined;
  readonly baseline: TDigest | undefined;
}

/** What is measured of an anomaly that is no duration. */
export type RateMeasured = Pick<
  AnomalyEvent,
  'rate' | 'requests' | 'affected_share' | 'evidence' | 'severity'
> & {
  readonly summary: string;
};

export interface RateEventInput extends NewAnomalyInput {
  /** Whether it is of everything that the series' values name, rather than of the one series. */
  readonly isWhole: boolean;
  readonly measured: RateMeasured;
  /** @default {'unknown'} */
  readonly bottleneck?: AnomalyEvent['bottleneck'];
  readonly tail: TailBeside;
}

/** The event that opens an anomaly of a kind that is no duration. No stage is to blame for it. */
export function rateEvent(input: RateEventInput): AnomalyEvent {
  const { kind, series, isWhole, startedAtMs, measured, options } = input;
  const stage = measured.evidence.measured_stage;
  return {
    ...newAnomaly(input),
    group_key: groupKeyOf(kind, series.model, stage),
    stage,
    ...tailBeside(input.tail, options),
    ...measured,
    blame: [],
    bottleneck: input.bottleneck ?? 'unknown',
    sql: countsSql({ kind, series, startedAtMs, isWhole, stage: stage || totalStage }),
  };
}

/** The highest quantile that is judged, now and in the baseline; 0 where there is no request to say. */
export function tailBeside({ now, baseline }: TailBeside, { quantiles }: DetectOptions) {
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

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}
