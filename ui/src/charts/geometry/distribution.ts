import { bandEdgeMs } from './density.ts';

/** Requests of a band, before and during. */
export interface DistributionBand {
  readonly from_ms: number;
  readonly before: number;
  readonly during: number;
}

export interface DistributionBar extends DistributionBand {
  readonly to_ms: number;
  /** Part of all requests before, and during. */
  readonly beforeShare: number;
  readonly duringShare: number;
}

export interface Distribution {
  readonly bars: readonly DistributionBar[];
  readonly before: number;
  readonly during: number;
  /** Largest share. */
  readonly mostShare: number;
}

const bandOf = (ms: number) => Math.round(Math.log2(ms) * 4);

/** Shares of the requests by band, without holes; empty where there is no request. */
export function distributionOf(bands: readonly DistributionBand[]): Distribution {
  const before = bands.reduce((sum, band) => sum + band.before, 0);
  const during = bands.reduce((sum, band) => sum + band.during, 0);
  const held = bands.filter((band) => band.before + band.during > 0);
  const byBand = new Map(held.map((band) => [bandOf(band.from_ms), band]));
  const first = Math.min(...byBand.keys());
  const last = Math.max(...byBand.keys());
  const bars = Array.from({ length: held.length === 0 ? 0 : last - first + 1 }, (_, i) => {
    const known = byBand.get(first + i);
    const counts = { before: known?.before ?? 0, during: known?.during ?? 0 };
    return {
      from_ms: bandEdgeMs(first + i),
      to_ms: bandEdgeMs(first + i + 1),
      ...counts,
      beforeShare: before === 0 ? 0 : counts.before / before,
      duringShare: during === 0 ? 0 : counts.during / during,
    };
  });
  const shares = bars.flatMap(({ beforeShare, duringShare }) => [beforeShare, duringShare]);
  return { bars, before, during, mostShare: Math.max(0, ...shares) };
}
