import { totalStage } from '../base/dimensions.ts';
import type { Series } from '../baseline/series-window.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import type { AnomalyEvent } from './anomaly-event.ts';
import { anomalyIdOf, dedupKeyOf, groupKeyOf } from './anomaly-identity.ts';
import { countsSql } from './counts-sql.ts';
import type { DetectOptions } from './detect-options.ts';
import { quantileInterval } from './quantile-interval.ts';

/** How long the whole requests take, beside what is wrong with how many there are. */
export interface TailBeside {
  /** Of the windows that show it; undefined where they have no request. */
  readonly now: TDigest | undefined;
  readonly usual: TDigest | undefined;
}

/** What is measured of an anomaly that is no duration. */
export type RateMeasured = Pick<
  AnomalyEvent,
  'rate' | 'requests' | 'affected_share' | 'evidence' | 'severity'
> & {
  readonly summary: string;
};

export interface RateEventInput {
  readonly kind: AnomalyEvent['kind'];
  readonly series: Series;
  /** Whether it is of everything that the series' values name, rather than of the one series. */
  readonly isWhole: boolean;
  /** Tells anomalies of one kind and series apart, where several can be open. */
  readonly name?: string;
  readonly startedAtMs: number;
  readonly measured: RateMeasured;
  /** @default {'unknown'} */
  readonly bottleneck?: AnomalyEvent['bottleneck'];
  readonly tail: TailBeside;
  readonly nowMs: number;
  readonly options: DetectOptions;
}

/** The event that opens an anomaly of a kind that is no duration. No stage is to blame for it. */
export function rateEvent(input: RateEventInput): AnomalyEvent {
  const { kind, series, isWhole, startedAtMs, measured, nowMs, options } = input;
  const dedupKey = dedupKeyOf(kind, series, input.name);
  const iso = (ms: number) => new Date(ms).toISOString();
  const { service, model, version, request_type, region, host, tenant, cold_start } = series;
  const stage = measured.evidence.measured_stage;
  return {
    id: anomalyIdOf(dedupKey, startedAtMs),
    revision: 1,
    dedup_key: dedupKey,
    group_key: groupKeyOf(kind, model, stage),
    state: 'opened',
    kind,
    ...{ service, model, version, request_type, region, host, tenant, cold_start },
    stage,
    ...tailBeside(input.tail, options),
    ...measured,
    blame: [],
    bottleneck: input.bottleneck ?? 'unknown',
    exemplars: [],
    started_at: iso(startedAtMs),
    detected_at: iso(nowMs),
    emitted_at: iso(nowMs),
    resolved_at: null,
    resolution: null,
    sql: countsSql({ kind, series, startedAtMs, isWhole, stage: stage || totalStage }),
    runbook_url: options.runbookUrl ?? null,
  };
}

/** The highest quantile that is judged, now and usually; 0 where there is no request to say. */
export function tailBeside({ now, usual }: TailBeside, { quantiles }: DetectOptions) {
  const quantile = Math.max(...quantiles);
  const observed = now === undefined || now.count === 0 ? 0 : now.quantile(quantile);
  const baseline = usual?.quantile(quantile) ?? observed;
  const interval =
    observed === 0 || now === undefined ? [0, 0] : quantileInterval(now, quantile, 1);
  return {
    quantile,
    observed_ms: round(observed),
    interval_ms: [round(interval[0] as number), round(interval[1] as number)] as [number, number],
    baseline_ms: round(baseline),
    ratio: round(baseline > 0 ? observed / baseline : 1),
  };
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}
