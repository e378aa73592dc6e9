import { Arena } from '../../memory/arena.ts';
import { NumberRing } from '../../memory/ring.ts';

const memory = Arena.shared();

/** First fields of an entry; further ones begin at `end`. */
export const windowFields = { start: 0, requests: 1, hits: 2, end: 3 } as const;

/** The last windows, by their offsets in the arena: start, requests, and hits among them. */
export class WindowRing extends NumberRing {
  startMsOf(offset: number): number {
    return memory.doubles[offset + windowFields.start] as number;
  }

  requestsOf(offset: number): number {
    return memory.doubles[offset + windowFields.requests] as number;
  }

  hitsOf(offset: number): number {
    return memory.doubles[offset + windowFields.hits] as number;
  }
}
