import type { FaultKind } from './fault-kinds.ts';
import { type SimResult, simulate } from './simulate.ts';

/** What some seeds came to. */
export interface SeedsReport {
  readonly seedCount: number;
  readonly eventCount: number;
  readonly recordCount: number;
  readonly virtualMs: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** Seeds with problems, and the first of those. */
  readonly failed: readonly { readonly seed: number; readonly problem: string }[];
}

export const emptyReport: SeedsReport = {
  seedCount: 0,
  eventCount: 0,
  recordCount: 0,
  virtualMs: 0,
  faults: {},
  failed: [],
};

/** Two reports as one. */
export function mergeReports(a: SeedsReport, b: SeedsReport): SeedsReport {
  const faults: Partial<Record<FaultKind, number>> = { ...a.faults };
  for (const [kind, count] of Object.entries(b.faults) as [FaultKind, number][]) {
    faults[kind] = (faults[kind] ?? 0) + count;
  }
  return {
    seedCount: a.seedCount + b.seedCount,
    eventCount: a.eventCount + b.eventCount,
    recordCount: a.recordCount + b.recordCount,
    virtualMs: a.virtualMs + b.virtualMs,
    faults,
    failed: [...a.failed, ...b.failed].sort((x, y) => x.seed - y.seed),
  };
}

function reportOf({ seed, problems, ...result }: SimResult): SeedsReport {
  const [problem] = problems;
  return {
    seedCount: 1,
    eventCount: result.eventCount,
    recordCount: result.recordCount,
    virtualMs: result.virtualMs,
    faults: Object.fromEntries(result.faults),
    failed: problem === undefined ? [] : [{ seed, problem }],
  };
}

/**
 * Runs every seed of [from, to] that is `offset` beyond a multiple of `step`, in order.
 *
 * @param onReport is told from time to time what has been run since the last time.
 * @param maxFailures seeds with problems after which it stops.
 */
export async function runSeeds(
  range: { readonly from: number; readonly to: number; readonly step: number },
  onReport: (report: SeedsReport) => void,
  maxFailures: number,
): Promise<void> {
  let pending = emptyReport;
  let failures = 0;
  let toldMs = performance.now();
  for (let seed = range.from; seed <= range.to && failures < maxFailures; seed += range.step) {
    let report: SeedsReport;
    try {
      report = reportOf(await simulate(seed));
    } catch (error) {
      const problem = `the run broke off: ${error instanceof Error ? (error.stack ?? error.message) : error}`;
      report = { ...emptyReport, seedCount: 1, failed: [{ seed, problem }] };
    }
    failures += report.failed.length;
    pending = mergeReports(pending, report);
    if (performance.now() - toldMs < 500) continue;
    onReport(pending);
    pending = emptyReport;
    toldMs = performance.now();
  }
  onReport(pending);
}
