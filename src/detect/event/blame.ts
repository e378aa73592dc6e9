import { totalStage } from '../../base/dimensions.ts';
import type { StageBands } from '../../baseline/series-reference.ts';
import { type Blamed, unaccounted } from '../../contract/anomaly-event.ts';
import type { StageTable } from '../../contract/stage-table.ts';
import type { Bands } from '../../series/series-window.ts';

/**
 * Trimming at the slow end: a few requests of several seconds would dominate the mean of twenty, and their
 * stage would be blamed. Their number is random, so small samples trim some standard deviations more.
 */
const trimmed = { part: 0.1, deviations: 2, most: 0.5 } as const;

/** Relative rounding error of sums, below which a rest is ignored. */
const rounding = 1e-9;

export type BandedStages = ReadonlyMap<string, StageBands>;

/**
 * Splits the excess of the slowest `1 - q` of the requests, trimmed, over the parts of their total, largest
 * first. These, with `unaccounted`, add up to the whole; milestones are left out: they are differences of means in the same requests, taken
 * from bands of the total. undefined without totals on both sides, or without an excess.
 */
export function blame(
  now: BandedStages,
  baseline: BandedStages,
  q: number,
  table: StageTable,
): readonly Blamed[] | undefined {
  const share = 1 - q;
  const requests = share * Math.min(requestsOf(now), requestsOf(baseline));
  const part = trimmed.part + trimmed.deviations * Math.sqrt(trimmed.part / requests);
  const trimmedPart = Math.min(trimmed.most, part);
  const slowNow = slowestMeans(now, share, trimmedPart);
  const slowBefore = slowestMeans(baseline, share, trimmedPart);
  if (slowNow === undefined || slowBefore === undefined) return undefined;
  return splitExcess(slowNow, slowBefore, table);
}

/**
 * Splits the excess of the mean request over its parts, largest first. They, with `unaccounted`, add up to the
 * whole. undefined without an excess.
 */
export function splitExcess(
  now: StageMeans,
  baseline: StageMeans,
  table: StageTable,
): Blamed[] | undefined {
  const wholeMs = now.totalMs - baseline.totalMs;
  if (!(wholeMs > 0)) return undefined;
  const parts: Blamed[] = [];
  let restMs = wholeMs;
  for (const stage of new Set([...now.stagesMs.keys(), ...baseline.stagesMs.keys()])) {
    if (table.isMilestone(stage)) continue;
    const excessMs = (now.stagesMs.get(stage) ?? 0) - (baseline.stagesMs.get(stage) ?? 0);
    restMs -= excessMs;
    parts.push({ ...classedStage(stage, table), excess_ms: excessMs, share: excessMs / wholeMs });
  }
  if (Math.abs(restMs) > rounding * wholeMs) {
    parts.push({ stage: unaccounted, excess_ms: restMs, share: restMs / wholeMs });
  }
  return parts.sort((x, y) => y.excess_ms - x.excess_ms || (x.stage < y.stage ? -1 : 1));
}

/** A stage with its class; without one where nobody classed its name. */
export function classedStage(stage: string, table: StageTable): Pick<Blamed, 'stage' | 'class'> {
  const known = table.classOf(stage);
  return known === undefined ? { stage } : { stage, class: known };
}

/** Mean milliseconds of some requests: of their total and of each stage within it. */
export interface StageMeans {
  readonly totalMs: number;
  readonly stagesMs: ReadonlyMap<string, number>;
}

function requestsOf(stages: BandedStages): number {
  const { amounts = [] } = stages.get(totalStage)?.bands ?? {};
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

/** Means of the slowest `share` of requests by total, without the slowest `part` of these. */
function slowestMeans(stages: BandedStages, share: number, part: number): StageMeans | undefined {
  const total = stages.get(totalStage);
  const requests = requestsOf(stages);
  if (total === undefined || requests === 0) return undefined;
  const { bands, amounts } = total.bands;
  const slowest = share * requests * (1 - part);
  const taken = new Map<number, number>();
  let toSkip = share * requests * part;
  let remaining = slowest;
  for (let i = bands.length - 1; i >= 0 && remaining > 0; i--) {
    const inBand = amounts[i] as number;
    if (inBand <= 0) continue;
    const skipped = Math.min(toSkip, inBand);
    toSkip -= skipped;
    const used = Math.min(inBand - skipped, remaining);
    if (used > 0) taken.set(bands[i] as number, used / inBand);
    remaining -= used;
  }
  const stagesMs = new Map<string, number>();
  for (const [stage, { bands: ofStage }] of stages) {
    if (stage !== totalStage) stagesMs.set(stage, sumTaken(ofStage, taken) / slowest);
  }
  return { totalMs: sumTaken(total.bandsMs, taken) / slowest, stagesMs };
}

function sumTaken({ bands, amounts }: Bands, taken: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (let i = 0; i < bands.length; i++) {
    sum += (amounts[i] as number) * (taken.get(bands[i] as number) ?? 0);
  }
  return sum;
}
