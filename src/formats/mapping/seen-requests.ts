import { limits } from '../../base/limits.ts';
import type { EventDraft } from '../format-reader.ts';
import type { Mapped } from './compile-mapping.ts';
import type { Mapping } from './mapping-schema.ts';

/**
 * Remembers requests by their id and start, for mappings with `once`: what writes such records may write one
 * twice. It forgets the oldest beyond its limit, so a file of any length is read in bounded memory.
 */
export class SeenRequests {
  readonly #keys = new Set<string>();
  readonly #maxRequests: number;

  constructor(maxRequests: number = limits.rememberedRequests) {
    this.#maxRequests = maxRequests;
  }

  /** Remembers a request; returns true if it was seen before. One without an id or a start is always new. */
  isRepeated({ id, ts }: EventDraft): boolean {
    // Of a longer id than any limit allows, the contract keeps nothing.
    if (typeof id !== 'string' || id === '' || id.length > maxIdCharacters || ts === undefined) {
      return false;
    }
    const key = `${ts} ${id}`;
    if (this.#keys.has(key)) return true;
    if (this.#keys.size >= this.#maxRequests) this.#forgetOldest();
    this.#keys.add(key);
    return false;
  }

  clear(): void {
    this.#keys.clear();
  }

  #forgetOldest(): void {
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      return;
    }
  }
}

const maxIdCharacters = 1_024;

/** Returns a memory for the requests of a mapping with `once`; undefined without it. */
export function seenRequestsOf(mapping: Mapping | undefined): SeenRequests | undefined {
  return mapping?.once === true ? new SeenRequests() : undefined;
}

/** Makes a compiled mapping that gives no event for a request that was seen before. */
export function countedOnce<Arguments extends readonly unknown[]>(
  map: (...given: Arguments) => Mapped,
  seen: SeenRequests | undefined,
): (...given: Arguments) => Mapped {
  if (seen === undefined) return map;
  return (...given) => {
    const mapped = map(...given);
    const isRepeated = mapped !== 'skip' && 'draft' in mapped && seen.isRepeated(mapped.draft);
    return isRepeated ? 'skip' : mapped;
  };
}
