import { historyFromMsOf } from '../../contract/short-history.ts';
import type { SeriesWindow } from '../../series/series-window.ts';
import { anomalySummary } from '../event/anomaly-summary.ts';
import type { EventUpdate } from '../lifecycle/open-anomaly.ts';
import type { StepContext } from '../options/detector-step.ts';
import type { Measured } from './open-event.ts';
import type { OpenTail } from './open-tail.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

/** The lead's own baseline and history, however clearly another quantile or a later history shows the shift. */
export function comparedNow(
  { event, lead, baselineMs }: OpenTail,
  verdict: ShiftVerdict,
  context: StepContext,
): { readonly compared: ShiftVerdict; readonly asOf: StepContext } {
  const isSame = verdict.stage === lead.stage && verdict.q === lead.quantile;
  const compared = isSame ? { ...verdict, baselineMs } : verdict;
  // A history that was short at the start stays so: the baseline is frozen since.
  const fromMs = isSame ? undefined : context.historyFromMs;
  const historyFromMs = historyFromMsOf(event.evidence) ?? fromMs;
  return { compared, asOf: { ...context, historyFromMs } };
}

/** Reports whether more requests than expected are slow. */
export function isRisen({ evidence }: Measured): boolean {
  return evidence.exceedances > evidence.expected;
}

/** How an open anomaly is now. Where it is about to recover, nothing is to blame any more. */
export function presentOf({ event }: OpenTail, measured: Measured): EventUpdate {
  const { stage, group_key, bottleneck, ...size } = measured;
  const cause = isRisen(measured) ? { stage, group_key, bottleneck } : { blame: [] };
  const effects = event.effects === undefined ? {} : { effects: undefined };
  const now = { ...effects, ...size, ...cause };
  return { ...now, summary: anomalySummary({ ...event, ...now }) };
}

/**
 * What an anomaly measures, counted over its last windows by its own baseline: a detector that was restored from
 * its event may know no other one.
 *
 * @param verdict of the last window; undefined where that is not unusual.
 * @param windows which have the stage, the last one last.
 */
export function presentVerdict(
  open: OpenTail,
  verdict: ShiftVerdict | undefined,
  windows: readonly SeriesWindow[],
): ShiftVerdict | undefined {
  const { lead, baselineMs, event, startedAtMs } = open;
  const { stage, quantile: q, dispersion } = lead;
  const summaries = windows.flatMap((window) => window.stages.get(stage) ?? []);
  const [last, window] = [summaries.at(-1), windows.at(-1)];
  if (last === undefined || window === undefined) return undefined;
  const requests = summaries.reduce((sum, each) => sum + each.requests, 0);
  const exceedances = summaries.reduce(
    (sum, each) => sum + each.requests * (1 - each.digest.cdf(baselineMs)),
    0,
  );
  const counts = { requests, exceedances, expected: (1 - q) * requests, windows: summaries.length };
  const nothing = { opens: false, opensWithTotal: false, opensBeside: false, isClear: false };
  const calm = { anomalous: false, suspicious: false, exceeding: false, recurs: false };
  const clear = {
    ...{ ...nothing, ...calm, rising: false, logP: 0, logAlpha: Math.log(event.evidence.alpha) },
    ...{ startedAtMs, sinceMs: window.windowStartMs, windowStartMs: window.windowStartMs },
    windowRequests: last.requests,
  };
  return { ...clear, ...verdict, ...{ stage, q, dispersion, baselineMs }, ...counts };
}
