import { totalStage } from '../../base/dimensions.ts';
import type { DimensionValue } from '../../baseline/borrowed-baseline.ts';
import type { SeriesReference, StageReference } from '../../baseline/series-reference.ts';
import type { AnomalyEvent, Blamed } from '../../contract/anomaly-event.ts';
import { groupKeyOf } from '../../contract/anomaly-identity.ts';
import { historyField } from '../../contract/short-history.ts';
import { evidenceSql } from '../../contract/sql.ts';
import { mergeBands } from '../../series/bands.ts';
import type { Series, SeriesWindow } from '../../series/series-window.ts';
import { TDigest } from '../../sketch/t-digest.ts';
import { anomalySummary } from '../event/anomaly-summary.ts';
import { type BandedStages, blame, blameOfMilestone, classedStage } from '../event/blame.ts';
import { bottleneck } from '../event/bottleneck.ts';
import { baselineFields, round, significance } from '../event/measured-fields.ts';
import { newAnomaly } from '../event/new-anomaly.ts';
import { severity } from '../event/severity.ts';
import { type DetectOptions, stageTableOf } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { quantileInterval } from '../stats/quantile-interval.ts';
import { shownWindows } from './effect-counts.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

export interface OpenEventInput {
  readonly series: Series;
  readonly verdict: ShiftVerdict;
  /** Windows since the anomaly began, oldest first, the evaluated one last. */
  readonly windows: readonly SeriesWindow[];
  readonly baseline: SeriesReference;
  /** Dimension values in which the series of a borrowed baseline differ from this one. */
  readonly baselineOf: readonly DimensionValue[];
  readonly context: StepContext;
  readonly options: DetectOptions;
  /** True for a second cause next to an open anomaly, which names the stage it blames to pagers. */
  readonly isBeside?: boolean;
}

const kind = 'tail_shift';

/** Builds the event that opens an anomaly, with its size, evidence and blame. */
export function openEvent(input: OpenEventInput): AnomalyEvent {
  const { series, verdict, context, options } = input;
  const { startedAtMs } = verdict;
  const name = input.isBeside === true ? verdict.stage : undefined;
  const event = {
    ...newAnomaly({ kind, series, name, startedAtMs, nowMs: context.nowMs, options }),
    ...measure(input),
    sql: evidenceSql({ series, q: verdict.q, startedAtMs, windowMs: options.window }),
  };
  return { ...event, summary: anomalySummary(event) };
}

export type Measured = ReturnType<typeof measure>;

/** Fields that an update measures again: size, evidence, blame and what follows from them. */
export function measure(input: OpenEventInput) {
  const { series, verdict, windows, baseline, context } = input;
  const { stage, q, baselineMs } = verdict;
  const digest = digestOf(windows, stage);
  const observedMs = digest.quantile(q);
  const ratio = observedMs / baselineMs;
  const last = windows.at(-1);
  const endMs = last === undefined ? context.nowMs : last.windowStartMs + last.windowMs;
  const measured_at = new Date(endMs).toISOString();
  const [lowMs, highMs] = quantileInterval(digest, q, verdict.dispersion);
  const parts = blameOf(input, observedMs);
  const top = parts[0]?.stage ?? stage;
  const reference = baseline.reference(stage, 1);
  const medianRatio =
    reference === undefined ? 1 : digest.quantile(0.5) / reference.digest.quantile(0.5);
  const excessShare = (verdict.exceedances - verdict.expected) / verdict.requests;
  const affectedShare = (excessShare * verdict.windowRequests) / Math.max(1, context.totalRequests);
  return {
    quantile: q,
    baseline_ms: round(baselineMs),
    observed_ms: round(observedMs),
    interval_ms: [round(lowMs), round(highMs)],
    ratio: round(ratio),
    measured_at,
    requests: Math.round(verdict.requests),
    affected_share: round(affectedShare),
    evidence: evidenceOf(input, reference),
    blame: parts.map((part) => ({ ...part, excess_ms: round(part.excess_ms) })),
    ...effectsOf(input),
    stage: top,
    group_key: groupKeyOf(kind, series.model, top),
    bottleneck: bottleneck({ blame: parts, coldStart: series.cold_start, medianRatio }),
    severity: severity({
      ...waitedFor(input, observedMs),
      affectedShare,
      seriesShare: excessShare,
      isHistoryShort: context.historyFromMs !== undefined,
      isUsualInPart: true,
    }),
  } satisfies Partial<AnomalyEvent>;
}

/**
 * The factor by which the cause slows what somebody waits for. Whole requests, milestones and measures count
 * by themselves: decode hides a slow first token from the total. A part counts by what it does to whole
 * requests. The total shows the causes together: one of several counts as its own excess added to the
 * baseline's quantile, and as no more than the total has moved.
 */
function waitedFor(input: OpenEventInput, observedMs: number) {
  const { verdict, windows, baseline, isBeside, options } = input;
  const { stage, q, baselineMs } = verdict;
  if (stageTableOf(options).isWaitedFor(stage)) {
    return { isWaitedFor: true, ratio: observedMs / baselineMs };
  }
  const total = isBeside === true ? baseline.reference(totalStage, 1) : undefined;
  if (total === undefined) return { isWaitedFor: false, ratio: 1 };
  const totalMs = total.digest.quantile(q);
  const nowMs = digestOf(windows, totalStage).quantile(q);
  const excessMs = observedMs - baselineMs;
  return { isWaitedFor: true, ratio: Math.min(nowMs, totalMs + excessMs) / totalMs };
}

function digestOf(windows: readonly SeriesWindow[], stage: string): TDigest {
  return TDigest.merge(windows.flatMap((window) => window.stages.get(stage)?.digest ?? []));
}

function evidenceOf(
  { verdict, baselineOf, context }: OpenEventInput,
  baseline: StageReference | undefined,
): AnomalyEvent['evidence'] {
  const { startedAtMs } = verdict;
  return {
    test: 'likelihood_ratio',
    ...significance(verdict),
    windows: verdict.windows,
    exceedances: round(verdict.exceedances),
    expected: round(verdict.expected),
    dispersion: round(verdict.dispersion),
    measured_stage: verdict.stage,
    ...baselineFields(baseline ?? { windows: 0, fromMs: startedAtMs, toMs: startedAtMs }),
    ...(baselineOf.length > 0 && { baseline_of: [...baselineOf] }),
    ...historyField(context.historyFromMs),
  };
}

/**
 * Blames stages for what was measured: the parts of the total, or those before a milestone, by the bands of the
 * total. A part that moved is blamed for its own rise, and so is a milestone that cannot be split.
 */
function blameOf(input: OpenEventInput, observedMs: number): readonly Blamed[] {
  const { stage, q, baselineMs } = input.verdict;
  const table = stageTableOf(input.options);
  const own = [{ ...classedStage(stage, table), excess_ms: observedMs - baselineMs, share: 1 }];
  if (stage === totalStage) {
    const { now, before } = bandsOf(input);
    return blame(now, before, q, table) ?? own;
  }
  if (!table.isMilestone(stage)) return own;
  const { now, before } = bandsOf(input);
  return blameOfMilestone(now, before, { milestone: stage, q }, table) ?? own;
}

/** How the same quantile has moved of the total, and of milestones that the measured stage lies before. */
function effectsOf({
  verdict,
  windows,
  baseline,
  options,
}: OpenEventInput): Pick<AnomalyEvent, 'effects'> {
  const { stage, q } = verdict;
  if (stage === totalStage) return {};
  const table = stageTableOf(options);
  const names = new Set(windows.flatMap((window) => [...window.stages.keys()]));
  const effects = [...names]
    .filter((name) => name === totalStage || table.partsBefore(name)?.(stage) === true)
    .flatMap((name) => {
      const baselineMs = baseline.reference(name, 1)?.digest.quantile(q);
      const observedMs = digestOf(windows, name).quantile(q);
      if (baselineMs === undefined || !(baselineMs > 0 && observedMs > 0)) return [];
      const rounded = { observed_ms: round(observedMs), baseline_ms: round(baselineMs) };
      return [{ stage: name, ...rounded, ratio: round(observedMs / baselineMs) }];
    });
  return effects.length === 0 ? {} : { effects };
}

function bandsOf({ windows, baseline }: OpenEventInput) {
  const names = new Set(windows.flatMap((window) => [...window.stages.keys()]));
  const now = new Map(
    [...names].map((name) => {
      const summaries = windows.flatMap((window) => window.stages.get(name) ?? []);
      const bands = mergeBands(summaries.map((summary) => summary.bands));
      return [name, { bands, bandsMs: mergeBands(summaries.map(({ bandsMs }) => bandsMs)) }];
    }),
  );
  const before: BandedStages = new Map(
    [...names].flatMap((name) => {
      const bands = baseline.bands(name);
      return bands === undefined ? [] : [[name, bands] as const];
    }),
  );
  return { now, before };
}

/** Factor of `min_requests` for the windows over which an update measures the present. */
const presentRequests = 3;

/** The last windows of an anomaly that have a stage: six, or more where these hold few requests. */
export function presentWindows(
  recent: readonly SeriesWindow[],
  startedAtMs: number,
  stage: string,
  { min_requests }: DetectOptions,
): SeriesWindow[] {
  const all = recent.filter(
    ({ windowStartMs, stages }) => windowStartMs >= startedAtMs && stages.has(stage),
  );
  let requests = 0;
  const from = all.findLastIndex(({ stages }, i) => {
    requests += stages.get(stage)?.requests ?? 0;
    return all.length - i >= shownWindows && requests >= presentRequests * min_requests;
  });
  return all.slice(Math.max(0, from));
}
