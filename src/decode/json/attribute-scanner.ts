import {
  type AttributeNames,
  type OwnAttributes,
  ownAttributes,
} from '../../series/own-attributes.ts';
import type { DecodedEvent } from '../decoded-event.ts';
import { Interner } from '../interner.ts';
import { longAttributes } from '../long-texts.ts';
import type { JsonScanner } from './json-scanner.ts';

/** Different `attributes` that are known by their bytes. With more of them all are forgotten. */
const mostKnown = 4_096;

/** Ids of the values of some `attributes`. */
interface KnownAttributes {
  readonly textId: number;
  readonly facetIds: readonly number[];
  readonly hasLong: boolean;
}

/**
 * Reads an event's `attributes`. Few different ones recur, so they are known by their bytes: one that was read before
 * costs a look-up, a new one `JSON.parse`. Values are interned by `resolve`, when the whole event is valid.
 */
export class AttributeScanner {
  readonly #json: JsonScanner;
  readonly #values: Interner;
  readonly #names: AttributeNames;
  readonly #maxBytes: number;
  readonly #spans = new Interner(mostKnown);
  /** By the id of the bytes. */
  #known: KnownAttributes[] = [];
  #start = 0;
  #end = 0;
  #pending: OwnAttributes | undefined;

  constructor(json: JsonScanner, values: Interner, names: AttributeNames, maxBytes: number) {
    this.#json = json;
    this.#values = values;
    this.#names = names;
    this.#maxBytes = maxBytes;
  }

  /** Begins an event. */
  begin(event: DecodedEvent): void {
    this.#pending = undefined;
    event.attributesId = 0;
    event.attributeFacetIds.fill(0);
  }

  /** Forgets all ids, after the interner was cleared. */
  forget(): void {
    this.#spans.clear();
    this.#known = [];
  }

  /** Reads the object at `pos`; returns the position after it, or -1. */
  scan(bytes: Buffer, pos: number, end: number, event: DecodedEvent): number {
    const after = this.#json.skipValue(bytes, pos, end, 2);
    return after >= 0 && this.read(bytes, pos, after, event) ? after : -1;
  }

  /** Reads the object `[start, end)`. Returns false if the contract has to judge it. */
  read(bytes: Buffer, start: number, end: number, event: DecodedEvent): boolean {
    const known = this.#known[this.#spans.find(bytes, start, end)];
    if (known !== undefined) {
      use(known, event);
      return true;
    }
    this.#pending = this.#parsed(bytes.toString('utf8', start, end));
    this.#start = start;
    this.#end = end;
    return this.#pending !== undefined;
  }

  /** Interns new values. */
  resolve(bytes: Buffer, event: DecodedEvent): void {
    const read = this.#pending;
    if (read === undefined) return;
    const known = {
      textId: this.#values.internText(read.text),
      facetIds: read.facets.map((value) => this.#values.internText(value)),
      hasLong: read.hasLong,
    };
    use(known, event);
    if (this.#spans.size >= mostKnown) this.forget();
    this.#known[this.#spans.intern(bytes, this.#start, this.#end)] = known;
  }

  #parsed(json: string): OwnAttributes | undefined {
    try {
      const read = ownAttributes(JSON.parse(json), this.#names, this.#maxBytes);
      return 'rule' in read ? undefined : read;
    } catch {
      return undefined;
    }
  }
}

function use({ textId, facetIds, hasLong }: KnownAttributes, event: DecodedEvent): void {
  event.attributesId = textId;
  for (let i = 0; i < facetIds.length; i++) event.attributeFacetIds[i] = facetIds[i] as number;
  if (hasLong) event.longTexts |= longAttributes;
}
