import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import type { SeriesWindow } from '../../../src/series/series-window.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { pagesPerWeek } from '../judge-series.ts';
import { windowMs, windowsPerDay } from '../null-families.ts';
import { faultOf } from './fault-of.ts';
import { incidentTraffic } from './incident-traffic.ts';

export interface IncidentOutcome {
  readonly emitted: readonly AnomalyEvent[];
  /**
   * Largest change of the baseline's p99 by the incident's requests while it lasted, as a part. The change of
   * the hour before, of which the last minutes are learnt late, is allowed for. The change over the day is
   * subtracted: it is known of the days before.
   */
  readonly moved: number;
  /** Largest difference, while it lasted, from the baseline of the same traffic without an incident. */
  readonly apart: number;
  /** Difference two hours after the end from the baseline of the same traffic without an incident. */
  readonly movedAfter: number;
  /** From its end to the last resolve, which may be before it; undefined if an anomaly stayed open. */
  readonly overAfterMs: number | undefined;
}

const q = 0.99;
const windowsPerHour = windowsPerDay / 24;
/**
 * A day without faults, some hours of it, and then three hours; the baseline is checked again after two of
 * these.
 */
const from = windowsPerDay;
const after = 3 * windowsPerHour;
const again = 2 * windowsPerHour;

/** Runs an incident of some hours, with the same traffic without it for comparison. */
export function runIncident(
  family: string,
  seed: number,
  kind: string,
  hours = 24,
): IncidentOutcome {
  const to = from + hours * windowsPerHour;
  const windows = to + after;
  const fault = faultOf(kind, from, to);
  const { detect } = configSchema.parse({ detect: { page_budget_per_week: pagesPerWeek } });
  const [detector, calm] = [new Detector(detect), new Detector(detect)];
  const calmTraffic = incidentTraffic({ family, seed, windows, faults: [] });
  const emitted: AnomalyEvent[] = [];
  const stages = ['total', fault.stage];
  const found = new Map<string, readonly number[]>();
  const hourBefore: SeriesWindow[] = [];
  let moved = 0;
  let apart = 0;
  let movedAfter = 0;
  let endMs = 0;
  for (const at of incidentTraffic({ family, seed, windows, faults: [fault] })) {
    const { window, windowStartMs, present } = at;
    const nowMs = windowStartMs + windowMs + 2_000;
    const events = detector.observe(present, nowMs, windowStartMs);
    if (window >= from) emitted.push(...events);
    if (window === to - 1) endMs = windowStartMs + windowMs;
    const baseline = calmTraffic.next().value?.present ?? [];
    calm.observe(baseline, nowMs, windowStartMs);
    const series = present[0]?.series;
    if (series === undefined) continue;
    if (window >= from - windowsPerHour && window < from) hourBefore.push(...present);
    for (const stage of stages) {
      const reference = detector.reference(series, stage);
      const ms = reference?.digest.quantile(q) ?? Number.NaN;
      const calmMs = calm.reference(series, stage)?.digest.quantile(q) ?? Number.NaN;
      if (window === from - 1) found.set(stage, [ms, quantileOf(hourBefore, stage)]);
      if (window >= from && window < to) {
        const byDay = reference?.diurnal?.ratioAt(q) ?? 1;
        moved = Math.max(moved, partBeyond(ms / byDay, found.get(stage) ?? []));
        apart = Math.max(apart, Math.abs(ms / calmMs - 1));
      }
      if (window === to + again) {
        movedAfter = Math.max(movedAfter, Math.abs(ms / calmMs - 1));
      }
    }
  }
  const last = emitted.at(-1);
  const overAfterMs = last?.state === 'resolved' ? Date.parse(last.emitted_at) - endMs : undefined;
  return { emitted, moved, apart, movedAfter, overAfterMs };
}

function quantileOf(windows: readonly SeriesWindow[], stage: string): number {
  const digests = windows.flatMap(({ stages }) => stages.get(stage)?.digest ?? []);
  return TDigest.merge(digests).quantile(q);
}

/** Part by which it is below or above all of them. */
function partBeyond(ms: number, all: readonly number[]): number {
  return Math.max(0, 1 - ms / Math.min(...all), ms / Math.max(...all) - 1);
}
