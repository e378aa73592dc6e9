import { overflowValue } from '../../base/dimensions.ts';
import type { Interner } from '../../decode/interner.ts';
import type { Attributes, AttributeValue } from '../span.ts';
import type { SpanFault } from '../spans/span-reader.ts';

/** A resource and what rules ask of it. */
export class Resource {
  readonly attributes: Attributes | SpanFault;
  /** Values by the index of the key. */
  readonly values: readonly (AttributeValue | undefined)[];

  constructor(attributes: Attributes | SpanFault, keys: readonly string[]) {
    this.attributes = attributes;
    this.values = keys.map((key) => ('detail' in attributes ? undefined : attributes.get(key)));
  }
}

/** A resource whose texts are interned. */
export class InternedResource extends Resource {
  /** Texts by the index of the key, as bytes; empty where there is none. */
  readonly texts: readonly Buffer[];
  /** Texts that only the contract may judge. */
  readonly areDoubtful: readonly boolean[];
  /** Interned texts; -1: not yet. */
  readonly ids: Int32Array;
  /** Generation of the interner that the ids are of. */
  #generation = -1;

  constructor(
    attributes: Attributes | SpanFault,
    keys: readonly string[],
    maxDimensionBytes: number,
  ) {
    super(attributes, keys);
    this.texts = this.values.map((value) => Buffer.from(typeof value === 'string' ? value : ''));
    this.areDoubtful = this.texts.map(
      (text) => text.length > maxDimensionBytes || text.toString() === overflowValue,
    );
    this.ids = new Int32Array(keys.length).fill(-1);
  }

  /** Forgets the ids of an interner that was cleared. */
  useIdsOf({ generation }: Interner): void {
    if (this.#generation === generation) return;
    this.#generation = generation;
    this.ids.fill(-1);
  }
}
