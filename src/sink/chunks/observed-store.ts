import type { Clock } from '../../base/clock.ts';
import type { Chunk, LedgerEntry } from './chunk.ts';
import type { ChunkPlace } from './chunk-positions.ts';
import type { ChunkState, ChunkStore, LedgerEnd } from './chunk-store.ts';

/** After a failed call the next is due sooner than this; if none comes, nobody waits any more. */
const AGAIN_WITHIN_MS = 10_000;

interface Wait {
  readonly sinceMs: number;
  /** Calls that have not come back. */
  calls: number;
  /** When a call was made or failed last. */
  activeMs: number;
}

/**
 * A store that tells who waits for it, so that ClickHouse being slow or away is not taken for a
 * reader that is stuck. A wait lasts from a call until one for the same partition succeeds: pauses
 * between attempts are part of it.
 */
export class ObservedStore implements ChunkStore {
  readonly #store: ChunkStore;
  readonly #clock: Clock;
  readonly #longestCallMs: number;
  readonly #waits = new Map<string, Wait>();

  /** @param longestCallMs a call that takes longer is lost: the client should have given it up. */
  constructor(store: ChunkStore, clock: Clock, longestCallMs: number) {
    this.#store = store;
    this.#clock = clock;
    this.#longestCallMs = longestCallMs;
  }

  /** Milliseconds that a partition has been waiting; 0 if it is not. */
  waitMs(topic: string, partition: number): number {
    return Math.max(this.#waitMs(topic), this.#waitMs(nameOf({ topic, partition })));
  }

  insert(chunk: Chunk): Promise<void> {
    return this.#watch(nameOf(chunk), () => this.#store.insert(chunk));
  }

  missing(chunk: Chunk, sinceMs: number): Promise<ChunkPlace[]> {
    return this.#watch(nameOf(chunk), () => this.#store.missing(chunk, sinceMs));
  }

  fill(chunk: Chunk, place: ChunkPlace, attempt: number): Promise<void> {
    return this.#watch(nameOf(chunk), () => this.#store.fill(chunk, place, attempt));
  }

  record(entry: LedgerEntry, attempt: number): Promise<void> {
    return this.#watch(nameOf(entry), () => this.#store.record(entry, attempt));
  }

  inspect(chunk: Chunk, sinceMs: number): Promise<ChunkState> {
    return this.#watch(nameOf(chunk), () => this.#store.inspect(chunk, sinceMs));
  }

  ledgerEnd(groupId: string, topic: string, partition: number): Promise<LedgerEnd | undefined> {
    const name = nameOf({ topic, partition });
    return this.#watch(name, () => this.#store.ledgerEnd(groupId, topic, partition));
  }

  groupBeginMs(groupId: string, topic: string): Promise<number | undefined> {
    return this.#watch(topic, () => this.#store.groupBeginMs(groupId, topic));
  }

  #waitMs(name: string): number {
    const wait = this.#waits.get(name);
    return wait === undefined || this.#isOver(wait) ? 0 : this.#clock.elapsedMs() - wait.sinceMs;
  }

  #isOver({ calls, activeMs }: Wait): boolean {
    const limitMs = calls > 0 ? this.#longestCallMs : AGAIN_WITHIN_MS;
    return this.#clock.elapsedMs() - activeMs > limitMs;
  }

  async #watch<T>(name: string, call: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.elapsedMs();
    let wait = this.#waits.get(name);
    if (wait === undefined || this.#isOver(wait)) {
      wait = { sinceMs: nowMs, calls: 0, activeMs: nowMs };
      this.#waits.set(name, wait);
    }
    wait.calls++;
    wait.activeMs = nowMs;
    try {
      const result = await call();
      wait.calls--;
      if (wait.calls === 0 && this.#waits.get(name) === wait) this.#waits.delete(name);
      return result;
    } catch (error) {
      wait.calls--;
      wait.activeMs = this.#clock.elapsedMs();
      throw error;
    }
  }
}

function nameOf({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}/${partition}`;
}
