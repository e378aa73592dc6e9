import { invariant } from '../base/invariant.ts';
import { bandRange } from './band.ts';

const pageBands = 16;
/** Entries of a slot's page table: 13 pages cover all bands, and 16 make the index a shift. */
const tableEntries = 16;
const slotsPerSlab = 4096;
const pagesPerSlab = 2048;

/**
 * Sparse sums over bands for many slots.
 *
 * Memory: 64 bytes of page table a slot, and 128 bytes for each page of 16 bands (four octaves) in use.
 * `reset` keeps the slabs of typed arrays, so nothing is allocated in the steady state. `add` is a look-up
 * and an addition.
 */
export class BandPool {
  readonly #tables: Int32Array[] = [];
  readonly #pages: Float64Array[] = [];
  #slotCount = 0;
  /** Page 0 is never used: 0 in a table means no page. */
  #pageCount = 1;

  /** Bytes held, in use or kept for reuse. */
  get bytes(): number {
    return (
      this.#tables.length * slotsPerSlab * tableEntries * 4 +
      this.#pages.length * pagesPerSlab * pageBands * 8
    );
  }

  /** Allocates an empty slot: 0, 1, 2, … since the last reset. */
  allocate(): number {
    const slot = this.#slotCount;
    const slab = Math.floor(slot / slotsPerSlab);
    if (slab === this.#tables.length) {
      this.#tables.push(new Int32Array(slotsPerSlab * tableEntries));
    }
    const start = (slot % slotsPerSlab) * tableEntries;
    (this.#tables[slab] as Int32Array).fill(0, start, start + tableEntries);
    this.#slotCount = slot + 1;
    return slot;
  }

  /** Adds `amount` (requests, or milliseconds) to a band of a slot. */
  add(slot: number, band: number, amount: number): void {
    const index = band - bandRange.lowest;
    invariant(
      slot >= 0 && slot < this.#slotCount && index >= 0 && index < bandRange.count,
      'no such band cell',
    );
    const table = this.#tables[(slot / slotsPerSlab) | 0] as Int32Array;
    const entry = (slot & (slotsPerSlab - 1)) * tableEntries + (index >>> 4);
    let page = table[entry] as number;
    if (page === 0) {
      page = this.#allocatePage();
      table[entry] = page;
    }
    const slab = this.#pages[(page / pagesPerSlab) | 0] as Float64Array;
    const cell = (page & (pagesPerSlab - 1)) * pageBands + (index & (pageBands - 1));
    slab[cell] = (slab[cell] as number) + amount;
  }

  /**
   * Writes a slot's bands with their amounts, ascending, and returns their number; amounts of 0 are left out.
   * Both arrays need room for `bandRange.count` (208).
   */
  read(slot: number, bands: Int16Array, amounts: Float64Array): number {
    invariant(slot >= 0 && slot < this.#slotCount, `no such band slot: ${slot}`);
    const table = this.#tables[Math.floor(slot / slotsPerSlab)] as Int32Array;
    const start = (slot % slotsPerSlab) * tableEntries;
    let n = 0;
    for (let entry = 0; entry < tableEntries; entry++) {
      const page = table[start + entry] as number;
      if (page === 0) continue;
      const slab = this.#pages[Math.floor(page / pagesPerSlab)] as Float64Array;
      const from = (page % pagesPerSlab) * pageBands;
      for (let i = 0; i < pageBands; i++) {
        const amount = slab[from + i] as number;
        if (amount === 0) continue;
        bands[n] = bandRange.lowest + entry * pageBands + i;
        amounts[n++] = amount;
      }
    }
    return n;
  }

  /** Removes all slots and keeps the memory. Pages are zeroed when they are used again. */
  reset(): void {
    this.#slotCount = 0;
    this.#pageCount = 1;
  }

  #allocatePage(): number {
    const page = this.#pageCount++;
    const slab = Math.floor(page / pagesPerSlab);
    if (slab === this.#pages.length) this.#pages.push(new Float64Array(pagesPerSlab * pageBands));
    const from = (page % pagesPerSlab) * pageBands;
    (this.#pages[slab] as Float64Array).fill(0, from, from + pageBands);
    return page;
  }
}
