import { dimensions } from '../base/dimensions.ts';
import { type Facet, facets } from '../base/facets.ts';
import { limits } from '../base/limits.ts';
import type { EventRecord } from '../decode/event-record.ts';
import { BandPool } from '../sketch/band-pool.ts';
import { highWord } from '../sketch/high-word.ts';
import { IntTable } from './int-table.ts';

const hostIndex = dimensions.indexOf('host');
const modelIndex = dimensions.indexOf('model');
const versionIndex = dimensions.indexOf('version');

/** A facet value beyond the limit, and a facet that the event does not have. */
const OTHER = -1;
const ABSENT = -2;

/** Key of a row: minute, model, version, facet, value. */
const KEY_WIDTH = 5;
const GROUP_WIDTH = 4;

/**
 * What requests had in common, beside their dimensions: per minute, model, version, facet and
 * value, the requests in each band of their total. About 30 ns a facet and event.
 */
export class DriverTable {
  readonly #facetIndices: readonly number[];
  readonly #rows = new IntTable(KEY_WIDTH);
  readonly #groups = new IntTable(GROUP_WIDTH);
  #valuesInGroup = new Int32Array(64);
  readonly #bands = new BandPool();
  #requests = new Float64Array(256);
  readonly #key = new Int32Array(KEY_WIDTH);
  readonly #groupKey = new Int32Array(GROUP_WIDTH);

  constructor(enabled: readonly Facet[]) {
    this.#facetIndices = enabled.map((facet) => facets.indexOf(facet));
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#rows.bytes + this.#groups.bytes + this.#bands.bytes + this.#requests.byteLength;
  }

  /**
   * Counts a request whose total lies in `band`. Where the table has its fill, what is new counts
   * as another value of another model: `otherId` is the id of `__other__`.
   */
  add(record: EventRecord, minute: number, band: number, otherId: number): void {
    const key = this.#key;
    key[0] = minute;
    key[1] = record.dimensionIds[modelIndex] as number;
    key[2] = record.dimensionIds[versionIndex] as number;
    for (let i = 0; i < this.#facetIndices.length; i++) {
      const facet = this.#facetIndices[i] as number;
      const value = facetValueOf(record, facet);
      if (value === ABSENT) continue;
      key[3] = facet;
      key[4] = value;
      let row = this.#rows.find(key);
      if (row < 0)
        row = this.#rows.size < limits.driversPerChunk ? this.#addRow() : this.#other(otherId);
      this.#requests[row] = (this.#requests[row] as number) + 1;
      this.#bands.add(row, band, 1);
    }
  }

  minute(row: number): number {
    return this.#rows.part(row, 0);
  }

  modelId(row: number): number {
    return this.#rows.part(row, 1);
  }

  versionId(row: number): number {
    return this.#rows.part(row, 2);
  }

  facet(row: number): Facet {
    return facets[this.#rows.part(row, 3)] as Facet;
  }

  /** Text of a row's value; `textOf` resolves interned ids. '' stands for `__other__`. */
  value(row: number, textOf: (id: number) => string): string {
    const value = this.#rows.part(row, 4);
    if (value === OTHER) return '';
    const facet = this.facet(row);
    if (facet === 'host') return textOf(value);
    if (facet === 'cache_hit') return value === 1 ? 'hit' : 'miss';
    if (value === 0) return '0';
    const low = 2 ** (value - 1);
    return low === 1 ? '1' : `${low}-${low * 2 - 1}`;
  }

  requests(row: number): number {
    return this.#requests[row] as number;
  }

  /** As BandPool.read. */
  readBands(row: number, bands: Int16Array, amounts: Float64Array): number {
    return this.#bands.read(row, bands, amounts);
  }

  reset(): void {
    this.#rows.clear();
    this.#groups.clear();
    this.#valuesInGroup.fill(0);
    this.#bands.reset();
    this.#requests.fill(0);
  }

  /** The minute's row for whatever is too many. Leaves the key as it was but for its value. */
  #other(otherId: number): number {
    const key = this.#key;
    const modelId = key[1] as number;
    const versionId = key[2] as number;
    key[1] = otherId;
    key[2] = otherId;
    key[4] = OTHER;
    const known = this.#rows.find(key);
    const row = known >= 0 ? known : this.#addRow();
    key[1] = modelId;
    key[2] = versionId;
    return row;
  }

  /** Adds the row of `#key`, or finds the group's row for other values when it has its fill. */
  #addRow(): number {
    const key = this.#key;
    this.#groupKey.set(key.subarray(0, GROUP_WIDTH));
    let group = this.#groups.find(this.#groupKey);
    if (group < 0) group = this.#groups.add(this.#groupKey);
    if (group >= this.#valuesInGroup.length) {
      const grown = new Int32Array(this.#valuesInGroup.length * 2);
      grown.set(this.#valuesInGroup);
      this.#valuesInGroup = grown;
    }
    if ((this.#valuesInGroup[group] as number) >= limits.facetValues) {
      key[4] = OTHER;
      const other = this.#rows.find(key);
      if (other >= 0) return other;
    }
    this.#valuesInGroup[group] = (this.#valuesInGroup[group] as number) + 1;
    const row = this.#rows.add(key);
    this.#bands.allocate();
    if (row >= this.#requests.length) {
      const grown = new Float64Array(this.#requests.length * 2);
      grown.set(this.#requests);
      this.#requests = grown;
    }
    return row;
  }
}

/** The integer that stands for the event's value of a facet, or ABSENT. */
function facetValueOf(record: EventRecord, facet: number): number {
  switch (facets[facet]) {
    case 'host': {
      const id = record.dimensionIds[hostIndex] as number;
      return id === 0 ? ABSENT : id;
    }
    case 'cache_hit':
      return record.cacheHit < 0 ? ABSENT : record.cacheHit;
    case 'batch_size':
      return bucketOf(record.batchSize);
    case 'request_bytes':
      return bucketOf(record.requestBytes);
    case 'input_tokens':
      return bucketOf(record.inputTokens);
    case 'concurrency':
      return bucketOf(record.concurrency);
    default:
      return ABSENT;
  }
}

/** 0 for [0, 1), 1 for [1, 2), 2 for [2, 4), 3 for [4, 8) …, at most 53. */
function bucketOf(amount: number): number {
  if (Number.isNaN(amount)) return ABSENT;
  if (amount < 1) return 0;
  if (amount < 0x80000000) return 32 - Math.clz32(amount);
  return Math.min(53, (highWord(amount) >>> 20) - 1022);
}
