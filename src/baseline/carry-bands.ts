import type { Bands } from './series-window.ts';
import type { StateArchive } from './state-archive.ts';

const noBands: Bands = { bands: [], amounts: [] };

/** Saves bands, or gives back those that were saved. */
export function carryBands(
  state: StateArchive,
  { bands, amounts }: Bands | undefined = noBands,
): Bands {
  return { bands: [...state.numbers(bands)], amounts: [...state.numbers(amounts)] };
}
