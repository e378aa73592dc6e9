import { type FaultKind, faultKinds } from './fault-kinds.ts';
import type { SeedReport } from './seed-report.ts';

const kinds = Object.keys(faultKinds) as FaultKind[];

/** Number of occurrences of a kind of fault, and of its seeds. */
export interface FaultCount {
  times: number;
  seeds: number;
}

/** Results of many seeds. */
export class SimSummary {
  seedCount = 0;
  eventCount = 0;
  recordCount = 0;
  virtualMs = 0;
  /** Every kind, also those that did not happen. */
  readonly faults = new Map<FaultKind, FaultCount>(
    kinds.map((kind) => [kind, { times: 0, seeds: 0 }]),
  );
  /** Seeds with problems, and the first of those. */
  readonly failed: { readonly seed: number; readonly problem: string }[] = [];

  add(report: SeedReport): void {
    this.seedCount++;
    this.eventCount += report.eventCount;
    this.recordCount += report.recordCount;
    this.virtualMs += report.virtualMs;
    for (const [kind, times] of report.faults) {
      const count = this.faults.get(kind);
      if (count === undefined) continue;
      count.times += times;
      count.seeds++;
    }
    const [problem] = report.problems;
    if (problem === undefined) return;
    this.failed.push({ seed: report.seed, problem });
    this.failed.sort((a, b) => a.seed - b.seed);
  }
}
