import type { Blamed, Bottleneck } from './anomaly-event.ts';

const classOfStage: ReadonlyMap<string, Bottleneck> = new Map([
  ['queue', 'queue'],
  ['forward', 'compute'],
  ['features', 'feature'],
  ['ingress', 'network'],
  ['egress', 'network'],
  ['downstream', 'downstream'],
  ['parse', 'serialization'],
  ['preprocess', 'serialization'],
  ['postprocess', 'serialization'],
]);
/** A class that explains this much of the excess names the bottleneck. */
const dominantShare = 0.5;
/** A median within this factor of its baseline has not moved. */
const flatMedianRatio = 1.1;

export interface BottleneckInput {
  readonly blame: readonly Blamed[];
  readonly coldStart: boolean;
  /** Median of the measured stage against its baseline's. */
  readonly medianRatio: number;
}

/**
 * The class of an anomaly's cause. Cold starts are a class of their own. Else the class of stages
 * (both network stages, all three serialization stages) that explains half of the excess or more.
 * If none does: `contention` when the median has not moved, since several stages that are slow
 * only at times compete for something; `mixed` when it has. `unknown` when the larger part lies
 * in no stage, or in one whose name is not a standard one.
 */
export function bottleneck({ blame, coldStart, medianRatio }: BottleneckInput): Bottleneck {
  if (coldStart) return 'cold_start';
  const shares = new Map<Bottleneck, number>();
  for (const { stage, share } of blame) {
    const name = classOfStage.get(stage);
    if (name !== undefined) shares.set(name, (shares.get(name) ?? 0) + share);
    else if (share >= dominantShare) return 'unknown';
  }
  let best: Bottleneck = 'unknown';
  let bestShare = 0;
  for (const [name, share] of shares) {
    if (share > bestShare) [best, bestShare] = [name, share];
  }
  if (bestShare >= dominantShare) return best;
  return medianRatio <= flatMedianRatio ? 'contention' : 'mixed';
}
