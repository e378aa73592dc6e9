import { dimensions, isAttributeName } from '../base/dimensions.ts';
import { amountFacets, type FacetName, facets } from '../base/facets.ts';
import { grown } from '../base/grown.ts';
import { limits } from '../base/limits.ts';
import type { DecodedEvent } from '../decode/decoded-event.ts';
import { Interner } from '../decode/interner.ts';
import { BandPool } from '../sketch/band-pool.ts';
import { highWord } from '../sketch/high-word.ts';
import { IntTable } from './int-table.ts';

const hostIndex = dimensions.indexOf('host');
const modelIndex = dimensions.indexOf('model');
const versionIndex = dimensions.indexOf('version');

/** Facets by number: comparing texts would be slower. */
const hostFacet = facets.indexOf('host');
const cacheHitFacet = facets.indexOf('cache_hit');
/** Own facets follow all others, in the order of `DecodedEvent.attributeFacetIds`. */
const firstOwnFacet = facets.length;
/** The amounts follow, in the order of `amountFacets`. */
const firstAmountFacet = facets.length - amountFacets.length;

/** Facet value beyond the limit, and one that the event does not have. */
const OTHER = -1;
const ABSENT = -2;
/** Group that was not looked up yet. */
const UNSOUGHT = -2;

/** Bits of the facet in a row's key; the value is above them. */
const FACET_BITS = 5;
const facetSlots = 1 << FACET_BITS;

/** Requests by minute, model, version, facet, value and total's band. Some 30 ns a facet and event. */
export class DriverTable {
  /** By number. */
  readonly #names: readonly FacetName[];
  readonly #facetIndices: readonly number[];
  /** Minute, model, version. */
  readonly #groups = new IntTable(3);
  /** Group, and value with facet. */
  readonly #rows = new IntTable(2);
  /** By group and facet. */
  #valueCounts = new Int32Array(64 * facetSlots);
  readonly #bands = new BandPool();
  readonly #groupKey = new Int32Array(3);
  readonly #key = new Int32Array(2);

  constructor(enabled: readonly FacetName[]) {
    this.#names = [...facets, ...enabled.filter(isAttributeName)];
    this.#facetIndices = enabled.map((facet) => this.#names.indexOf(facet));
  }

  get size(): number {
    return this.#rows.size;
  }

  get bytes(): number {
    return this.#rows.bytes + this.#groups.bytes + this.#bands.bytes + this.#valueCounts.byteLength;
  }

  /**
   * Counts a request whose total lies in `band`. When the table is full, new values count as another value of
   * another model.
   */
  add(event: DecodedEvent, minute: number, band: number): void {
    let group = UNSOUGHT;
    for (let i = 0; i < this.#facetIndices.length; i++) {
      const facet = this.#facetIndices[i] as number;
      const value = facetValueOf(event, facet);
      if (value === ABSENT) continue;
      if (group === UNSOUGHT) group = this.#groupOf(event, minute);
      let row = group < 0 ? -1 : this.#find(group, facet, value);
      if (row < 0 && this.#rows.size < limits.driversPerChunk) {
        if (group < 0) group = this.#addGroup();
        row = this.#addRow(group, facet, value);
      } else if (row < 0) {
        row = this.#otherRow(minute, facet);
      }
      this.#bands.add(row, band, event.weight);
    }
  }

  minute(row: number): number {
    return this.#groups.part(this.#rows.part(row, 0), 0);
  }

  modelId(row: number): number {
    return this.#groups.part(this.#rows.part(row, 0), 1);
  }

  versionId(row: number): number {
    return this.#groups.part(this.#rows.part(row, 0), 2);
  }

  facet(row: number): FacetName {
    return this.#names[this.#rows.part(row, 1) & (facetSlots - 1)] as FacetName;
  }

  /** Text of a row's value; `textOf` resolves interned ids. '' means `__other__`. */
  value(row: number, textOf: (id: number) => string): string {
    const value = this.#rows.part(row, 1) >> FACET_BITS;
    if (value === OTHER) return '';
    const facet = this.facet(row);
    if (facet === 'host' || isAttributeName(facet)) return textOf(value);
    if (facet === 'cache_hit') return value === 1 ? 'hit' : 'miss';
    if (value === 0) return '0';
    const low = 2 ** (value - 1);
    return low === 1 ? '1' : `${low}-${low * 2 - 1}`;
  }

  /** Requests by band, as BandPool.read. */
  readBands(row: number, bands: Int16Array, amounts: Float64Array): number {
    return this.#bands.read(row, bands, amounts);
  }

  reset(): void {
    this.#rows.clear();
    this.#groups.clear();
    this.#valueCounts.fill(0);
    this.#bands.reset();
  }

  /** Group of an event, or -1; `#groupKey` is its key. */
  #groupOf(event: DecodedEvent, minute: number): number {
    const key = this.#groupKey;
    key[0] = minute;
    key[1] = event.dimensionIds[modelIndex] as number;
    key[2] = event.dimensionIds[versionIndex] as number;
    return this.#groups.find(key);
  }

  #find(group: number, facet: number, value: number): number {
    this.#key[0] = group;
    this.#key[1] = (value << FACET_BITS) | facet;
    return this.#rows.find(this.#key);
  }

  /** Adds the group of `#groupKey`. */
  #addGroup(): number {
    const group = this.#groups.add(this.#groupKey);
    const counts = this.#groups.size * facetSlots;
    if (counts > this.#valueCounts.length) this.#valueCounts = grown(this.#valueCounts, counts);
    return group;
  }

  /** Adds a value's row, or finds the row of other values when the group is full. */
  #addRow(group: number, facet: number, value: number): number {
    const counter = group * facetSlots + facet;
    const count = this.#valueCounts[counter] as number;
    const kept = count < limits.facetValues ? value : OTHER;
    const known = this.#find(group, facet, kept);
    if (known >= 0) return known;
    this.#valueCounts[counter] = count + 1;
    this.#bands.allocate();
    return this.#rows.add(this.#key);
  }

  /** Row of the minute for values beyond the limit. Leaves the group's key as it was. */
  #otherRow(minute: number, facet: number): number {
    const key = this.#groupKey;
    const [, modelId = 0, versionId = 0] = key;
    key.set([minute, Interner.otherId, Interner.otherId]);
    let group = this.#groups.find(key);
    if (group < 0) group = this.#addGroup();
    const row = this.#addRow(group, facet, OTHER);
    key[1] = modelId;
    key[2] = versionId;
    return row;
  }
}

/** Integer of the event's value of a facet, or ABSENT. */
function facetValueOf(event: DecodedEvent, facet: number): number {
  switch (facet) {
    case hostFacet: {
      const id = event.dimensionIds[hostIndex] as number;
      return id === 0 ? ABSENT : id;
    }
    case cacheHitFacet:
      return event.cacheHit < 0 ? ABSENT : event.cacheHit;
    default:
      if (facet >= firstOwnFacet) {
        const id = event.attributeFacetIds[facet - firstOwnFacet] as number;
        return id === 0 ? ABSENT : id;
      }
      return bucketOf(event.amounts[facet - firstAmountFacet] as number);
  }
}

/** 0 for [0, 1), 1 for [1, 2), 2 for [2, 4), 3 for [4, 8) …, at most 53. */
function bucketOf(amount: number): number {
  if (Number.isNaN(amount)) return ABSENT;
  if (amount < 1) return 0;
  if (amount < 0x80000000) return 32 - Math.clz32(amount);
  return Math.min(53, (highWord(amount) >>> 20) - 1022);
}
