import { Arena } from '../../memory/arena.ts';
import { NumberRing } from '../../memory/ring.ts';

const memory = Arena.shared();

/** What an entry begins with; and where what else it has begins. */
export const windowFields = { start: 0, requests: 1, hits: 2, end: 3 } as const;

/** The last windows, by where they lie: when each began, its requests, and those of them that are counted. */
export class WindowRing extends NumberRing {
  startMsOf(at: number): number {
    return memory.doubles[at + windowFields.start] as number;
  }

  requestsOf(at: number): number {
    return memory.doubles[at + windowFields.requests] as number;
  }

  hitsOf(at: number): number {
    return memory.doubles[at + windowFields.hits] as number;
  }
}
