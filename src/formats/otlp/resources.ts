import { overflowValue } from '../../base/dimensions.ts';
import type { Interner } from '../../decode/interner.ts';
import type { Attributes } from '../span.ts';
import { otlpResource } from '../spans/otlp-proto.ts';
import type { SpanFault } from '../spans/span-reader.ts';
import { type MessageView, wordsOf } from './message-view.ts';

/** Resources that are kept, and the bytes of one above which it is not. */
const MAX_KEPT = 512;
const MAX_KEPT_BYTES = 4096;
/** Bytes of a resource from which on it is compared with the last one. */
const MIN_COMPARED_BYTES = 4;

/** A resource and what rules ask of it. */
export class Resource {
  readonly attributes: Attributes | SpanFault;
  /** Texts by the index of the key; undefined where there is none or an empty one. */
  readonly texts: readonly (Buffer | undefined)[];
  /** Texts that only the contract may judge. */
  readonly areDoubtful: readonly boolean[];
  /** Interned texts; -1: not yet. */
  readonly ids: Int32Array;
  /** Generation of the interner that the ids are of. */
  generation = -1;

  constructor(
    attributes: Attributes | SpanFault,
    keys: readonly string[],
    maxDimensionBytes: number,
  ) {
    this.attributes = attributes;
    this.texts = keys.map((key) => {
      const value = 'detail' in attributes ? undefined : attributes.get(key);
      return typeof value === 'string' && value !== '' ? Buffer.from(value) : undefined;
    });
    this.areDoubtful = this.texts.map(
      (text) =>
        text !== undefined &&
        (text.length > maxDimensionBytes || text.toString() === overflowValue),
    );
    this.ids = new Int32Array(keys.length).fill(-1);
  }
}

/** Resources by their bytes: a process writes the same ones over and over, so each is read once. */
export class Resources {
  readonly #keys: readonly string[];
  readonly #maxDimensionBytes: number;
  readonly #values: Interner;
  readonly #kept = new Map<string, Resource>();
  readonly #message: MessageView;
  #lastWords: Int32Array = new Int32Array(0);
  #lastLength = 0;
  #last: Resource | undefined;

  /** @param keys attributes that rules ask for. */
  constructor(
    message: MessageView,
    keys: readonly string[],
    values: Interner,
    maxDimensionBytes: number,
  ) {
    this.#message = message;
    this.#keys = keys;
    this.#values = values;
    this.#maxDimensionBytes = maxDimensionBytes;
  }

  /** Returns the resource at `[start, end)`, with ids of the interner's generation. */
  find(bytes: Buffer, start: number, end: number): Resource {
    const resource = this.#find(bytes, start, end);
    if (resource.generation !== this.#values.generation) {
      resource.generation = this.#values.generation;
      resource.ids.fill(-1);
    }
    return resource;
  }

  #find(bytes: Buffer, start: number, end: number): Resource {
    const last = this.#last;
    if (last !== undefined && this.#lastLength === end - start) {
      if (this.#message.hasWords(this.#lastWords, start, end - start)) return last;
    }
    if (end - start > MAX_KEPT_BYTES) return this.#read(bytes, start, end);
    const text = bytes.toString('latin1', start, end);
    let resource = this.#kept.get(text);
    if (resource === undefined) {
      resource = this.#read(bytes, start, end);
      if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
      this.#kept.set(text, resource);
    }
    if (end - start >= MIN_COMPARED_BYTES) {
      this.#last = resource;
      this.#lastLength = end - start;
      this.#lastWords = wordsOf(bytes.subarray(start, end));
    }
    return resource;
  }

  #read(bytes: Buffer, start: number, end: number): Resource {
    const attributes = otlpResource(bytes, start, end);
    return new Resource(attributes, this.#keys, this.#maxDimensionBytes);
  }
}
