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
 * first. These, with `unaccounted`, add up to the whole: they are differences of means in the same requests,
 * taken from bands of the total. Other kinds of stages are left out. undefined without totals on both sides,
 * or without an excess.
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

/** Part by which stages may be longer than a milestone that they lie before: their clocks differ. */
const clockPart = 0.05;

/**
 * Splits the excess of a milestone over the parts before it, largest first. With `unaccounted` they add up to
 * its rise: it is that of the mean request, as requests are stored by their totals and not by the milestone.
 * Of these the slowest are left out, as many as `blame` leaves out. undefined where nobody said which parts lie
 * before it, where they are longer than it, as of requests without it, and without an excess.
 */
export function blameOfMilestone(
  now: BandedStages,
  baseline: BandedStages,
  { milestone, q }: { readonly milestone: string; readonly q: number },
  table: StageTable,
): readonly Blamed[] | undefined {
  const isBefore = table.partsBefore(milestone);
  if (isBefore === undefined) return undefined;
  const share = 1 - q;
  const meansOf = (stages: BandedStages): StageMeans | undefined => {
    const means = slowestMeans(stages, share, trimmed.part, 'all');
    const totalMs = means?.stagesMs.get(milestone);
    if (means === undefined || totalMs === undefined) return undefined;
    const stagesMs = new Map([...means.stagesMs].filter(([stage]) => isBefore(stage)));
    const partsMs = [...stagesMs.values()].reduce((sum, ms) => sum + ms, 0);
    const isSplit = stagesMs.size > 0 && partsMs <= (1 + clockPart) * totalMs;
    return isSplit ? { totalMs, stagesMs } : undefined;
  };
  const [meansNow, meansBefore] = [meansOf(now), meansOf(baseline)];
  if (meansNow === undefined || meansBefore === undefined) return undefined;
  return splitExcess(meansNow, meansBefore, table);
}

/**
 * Splits the excess of the mean request over its parts, largest first. They, with `unaccounted`, add up to the
 * whole; a share is a part of all that rose, so they add up to 1 and none is above it. undefined without an
 * excess.
 */
export function splitExcess(
  now: StageMeans,
  baseline: StageMeans,
  table: StageTable,
): Blamed[] | undefined {
  const wholeMs = now.totalMs - baseline.totalMs;
  if (!(wholeMs > 0)) return undefined;
  const excesses: [stage: string, ms: number][] = [];
  let restMs = wholeMs;
  for (const stage of new Set([...now.stagesMs.keys(), ...baseline.stagesMs.keys()])) {
    if (table.kindOf(stage) !== 'part') continue;
    const excessMs = (now.stagesMs.get(stage) ?? 0) - (baseline.stagesMs.get(stage) ?? 0);
    restMs -= excessMs;
    excesses.push([stage, excessMs]);
  }
  if (Math.abs(restMs) > rounding * wholeMs) excesses.push([unaccounted, restMs]);
  const risenMs = excesses.reduce((sum, [, ms]) => sum + Math.max(0, ms), 0);
  const parts = excesses.map(([stage, ms]): Blamed => {
    return { ...classedStage(stage, table), excess_ms: ms, share: Math.max(0, ms) / risenMs };
  });
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

/**
 * Means of the slowest `share` of requests by total, or of all, without the slowest `part` of that share.
 */
function slowestMeans(
  stages: BandedStages,
  share: number,
  part: number,
  of: 'slowest' | 'all' = 'slowest',
): StageMeans | undefined {
  const total = stages.get(totalStage);
  const requests = requestsOf(stages);
  if (total === undefined || requests === 0) return undefined;
  const { bands, amounts } = total.bands;
  let toSkip = share * requests * part;
  const slowest = of === 'all' ? requests - toSkip : share * requests * (1 - part);
  const taken = new Map<number, number>();
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
