import { totalStage } from '../../base/dimensions.ts';
import { hourMs } from '../../base/time.ts';
import type { HourPair, HourTail } from '../../baseline/hourly-tails.ts';
import type { Blamed } from '../../contract/anomaly-event.ts';
import { formatMs, formatMsOf, formatRatio } from '../../contract/format.ts';
import type { StageTable } from '../../contract/stage-table.ts';
import type { Series } from '../../series/series-window.ts';
import { anomalySubject, explainedPart } from '../event/anomaly-summary.ts';
import { type StageMeans, splitExcess } from '../event/blame.ts';
import { bottleneck } from '../event/bottleneck.ts';
import { baselineFields, round, significance } from '../event/measured-fields.ts';
import { type DetectOptions, stageTableOf } from '../options/detect-options.ts';
import type { DriftVerdict } from './drift-test.ts';

/** Slowdown of a day against the same hours a week before, the stage to blame, and the evidence. */
export function driftMeasured(
  series: Series,
  pairs: readonly HourPair[],
  verdict: DriftVerdict,
  options: DetectOptions,
) {
  const { quantiles, window } = options;
  const { baselineMs, ratio, interval, hours } = verdict;
  const first = pairs[0] as HourPair;
  const last = pairs.at(-1) as HourPair;
  const measuredStage = last.now.stage;
  const fromMs = first.baseline.startMs;
  const toMs = last.baseline.startMs + hourMs;
  const windows = Math.round((hours * hourMs) / window);
  const blame = blameOf(pairs, measuredStage, stageTableOf(options));
  const measured = {
    stage: blame[0]?.stage ?? measuredStage,
    quantile: quantiles[verdict.quantile] as number,
    observed_ms: round(ratio * baselineMs),
    interval_ms: interval.map((times) => round(times * baselineMs)) as [number, number],
    baseline_ms: round(baselineMs),
    ratio: round(ratio),
    requests: Math.round(pairs.reduce((sum, { now }) => sum + now.requests, 0)),
    measured_at: new Date(last.now.startMs + hourMs).toISOString(),
    evidence: {
      test: 'hourly_ratios' as const,
      ...significance(verdict),
      windows,
      exceedances: verdict.slower,
      expected: hours / 2,
      dispersion: round(Math.max(1, hours / verdict.independent)),
      measured_stage: measuredStage,
      ...baselineFields({ windows, fromMs, toMs }),
    },
    blame,
    // Hours keep only means: the move of the median is unknown.
    bottleneck: bottleneck({
      blame,
      coldStart: series.cold_start,
      medianRatio: Number.POSITIVE_INFINITY,
    }),
  };
  return { ...measured, summary: summaryOf({ ...series, ...measured }) };
}

/**
 * "p95 of ranker was 132 ms over the last day, 1.3x its baseline of 101 ms (same hours a week before); in the
 * requests of a day features rose by 31 ms, the mean by 30 ms".
 */
function summaryOf(event: Parameters<typeof anomalySubject>[0]): string {
  const { observed_ms, baseline_ms, ratio } = event;
  const was = `${formatMs(observed_ms)} over the last day, ${formatRatio(ratio)} its baseline`;
  const baseline = `of ${formatMsOf(observed_ms, baseline_ms)(baseline_ms)} (same hours a week before)`;
  return `${anomalySubject(event)} was ${was} ${baseline}${explainedPart(event)}`;
}

/** Growth of each stage's mean, per whole request; empty without `total` or without growth. */
function blameOf(pairs: readonly HourPair[], measuredStage: string, table: StageTable): Blamed[] {
  if (measuredStage !== totalStage) return [];
  const now = stageMeans(pairs.map((pair) => pair.now));
  return splitExcess(now, stageMeans(pairs.map((pair) => pair.baseline)), table) ?? [];
}

function stageMeans(hours: readonly HourTail[]): StageMeans {
  const stagesMs = meansOf(hours);
  const totalMs = stagesMs.get(totalStage) ?? 0;
  stagesMs.delete(totalStage);
  return { totalMs, stagesMs };
}

/** Mean time of a request in each stage, over some hours of equal weight. */
export function meansOf(hours: readonly HourTail[]): Map<string, number> {
  const means = new Map<string, number>();
  for (const { meansMs } of hours) {
    for (const [stage, ms] of meansMs) {
      means.set(stage, (means.get(stage) ?? 0) + ms / hours.length);
    }
  }
  return means;
}
