import type { AnomalyEvent, Bottleneck } from '../../contract/anomaly-event.ts';
import { StageTable } from '../../contract/stage-table.ts';
import type { FacetBands } from './slow-band.ts';

/** Growth of a size that the time of the slow part is proportional to. */
export interface SizeGrowth {
  /** The facet of the size. */
  readonly facet: string;
  /** Its quantile now, as a multiple of that in the baseline. */
  readonly growth: number;
  /** Part of the rise that it explains, 0 to 1: of the logarithm of the anomaly's ratio. */
  readonly share: number;
}

/** Sizes that the time of a part is proportional to, by the part's class. */
const sizes: Readonly<Partial<Record<Bottleneck, string>>> = {
  prefill: 'input_tokens',
  decode: 'output_tokens',
};

const tuned = {
  /** Requests of the baseline from which its sizes are known. */
  minRequests: 100,
  /** Part of the baseline's requests that are large: enough of them to count. */
  large: 0.05,
  /** Standard deviations by which large requests must be more than expected. */
  minDeviations: 3,
} as const;

/**
 * Tells larger requests from slower ones where the slow part is a small part of the whole: longer prompts make
 * the prefill slower, and hardly the total. The same quantile of the size has grown by as much as that of the
 * time, or by some part of it.
 *
 * @param facets of the event's model and version, now and in the baseline.
 * @returns undefined where the part depends on no size, or where sizes are as before.
 */
export function sizeGrowth(
  facets: readonly FacetBands[],
  event: Pick<AnomalyEvent, 'blame' | 'stage' | 'quantile' | 'ratio'>,
): SizeGrowth | undefined {
  const { quantile, ratio } = event;
  const facet = sizeOfSlowPart(event);
  if (facet === undefined || !(ratio > 1)) return undefined;
  const values = facets.filter((each) => each.facet === facet);
  const [now, before] = [
    new Sizes(values.map(({ value, now: bands }) => [value, bands])),
    new Sizes(values.map(({ value, baseline }) => [value, baseline])),
  ];
  if (now.requests === 0 || before.requests < tuned.minRequests) return undefined;
  const expected = tuned.large * now.requests;
  const large = now.beyond(before.quantile(1 - tuned.large));
  if (large - expected <= tuned.minDeviations * Math.sqrt(expected)) return undefined;
  const octaves = now.quantile(quantile) - before.quantile(quantile);
  const share = octaves / Math.log2(ratio);
  return {
    facet,
    growth: 2 ** octaves,
    share: Math.round(Math.min(1, Math.max(0, share)) * 1e6) / 1e6,
  };
}

/** The size that the time of the part to blame is proportional to; undefined where it is of none. */
export function sizeOfSlowPart({
  blame,
  stage,
}: Pick<AnomalyEvent, 'blame' | 'stage'>): string | undefined {
  const slowest = blame[0]?.class ?? StageTable.standard.classOf(stage);
  return slowest && sizes[slowest];
}

/** Requests by the octave of a size, which are even within it. */
class Sizes {
  /** Octaves and their requests, the smallest first. */
  readonly #counts: readonly (readonly [number, number])[];
  readonly requests: number;

  constructor(values: readonly (readonly [string, ReadonlyMap<number, number>])[]) {
    this.#counts = values
      .map(([value, bands]) => [octaveOf(value), sum(bands)] as const)
      .filter(([octave]) => !Number.isNaN(octave))
      .sort(([a], [b]) => a - b);
    this.requests = this.#counts.reduce((total, [, requests]) => total + requests, 0);
  }

  /** The size that a part of the requests does not exceed, as its logarithm to base 2. */
  quantile(q: number): number {
    let below = 0;
    for (const [octave, requests] of this.#counts) {
      if (requests > 0 && below + requests >= q * this.requests) {
        return octave + (q * this.requests - below) / requests;
      }
      below += requests;
    }
    return (this.#counts.at(-1)?.[0] ?? 0) + 1;
  }

  /** Requests that exceed a size, given by its logarithm. */
  beyond(size: number): number {
    return this.#counts.reduce((total, [octave, requests]) => {
      return total + requests * Math.min(1, Math.max(0, octave + 1 - size));
    }, 0);
  }
}

function sum(bands: ReadonlyMap<number, number>): number {
  let total = 0;
  for (const amount of bands.values()) total += amount;
  return total;
}

/** 3 for "8-15", 0 for "1", −1 for "0"; NaN for other values. */
export function octaveOf(value: string): number {
  if (value === '0') return -1;
  return Math.log2(Number.parseFloat(value));
}
