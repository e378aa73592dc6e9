import type { Blamed, Bottleneck } from '../../contract/anomaly-event.ts';

/** Share of the excess from which a class names the bottleneck. */
const dominantShare = 0.5;
/** Factor of the baseline up to which a median has not moved. */
const flatMedianRatio = 1.1;

export interface BottleneckInput {
  readonly blame: readonly Blamed[];
  readonly coldStart: boolean;
  /** Median of the measured stage against its baseline's. */
  readonly medianRatio: number;
}

/**
 * Class of an anomaly's cause. Cold starts are a separate class. Otherwise the class whose stages explain
 * half of the excess or more wins. If none does, a moved median gives `mixed`. An unmoved one gives
 * `contention`: stages that are slow only at times compete for something. `unknown` means that the larger
 * part is unaccounted, or in a stage that nobody classed.
 */
export function bottleneck({ blame, coldStart, medianRatio }: BottleneckInput): Bottleneck {
  if (coldStart) return 'cold_start';
  const shares = new Map<Bottleneck, number>();
  for (const { class: name, share } of blame) {
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
