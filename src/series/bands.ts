import type { Bands } from './series-window.ts';

/** Sums amounts band by band. Cost: the sum of the lengths, and a sort of the distinct bands. */
export function mergeBands(parts: readonly Bands[]): Bands {
  const sums = new Map<number, number>();
  for (const { bands, amounts } of parts) {
    for (let i = 0; i < bands.length; i++) {
      const band = bands[i] as number;
      sums.set(band, (sums.get(band) ?? 0) + (amounts[i] as number));
    }
  }
  const bands = [...sums.keys()].sort((x, y) => x - y);
  return { bands, amounts: bands.map((band) => sums.get(band) ?? 0) };
}
