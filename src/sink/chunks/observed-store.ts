import type { Clock } from '../../base/clock.ts';
import { claimName } from '../../source/source.ts';
import type { Chunk, LedgerEntry } from './chunk.ts';
import type { ChunkPart } from './chunk-parts.ts';
import type { ChunkState, ChunkStore, LedgerEnd, MissingParts } from './chunk-store.ts';

/** A failed call that is not retried within this time has ended. */
const AGAIN_WITHIN_MS = 10_000;
/** Longest wait before the process is not ready. A chunk has a little more: the cause is named first. */
const TOLERATED_MS = 19_000;

/** A partition of a topic. */
interface Place {
  readonly topic: string;
  readonly partition: number;
}

interface Wait {
  readonly sinceMs: number;
  /** Calls in progress. */
  calls: number;
  /** Time of the last call or failure. */
  activeMs: number;
}

/**
 * A store that measures waits, so that a slow ClickHouse is not mistaken for a stuck consumer. A wait lasts
 * from a call to the next success for the same partition, pauses between attempts included. All that a
 * partition asks ClickHouse for must go through it: a call of the store, or one passed to `waiting`.
 */
export class ObservedStore implements ChunkStore {
  readonly #store: ChunkStore;
  readonly #clock: Clock;
  readonly #longestCallMs: number;
  readonly #waits = new Map<string, Wait>();

  /** @param longestCallMs a longer call is lost: the client should have timed out. */
  constructor(store: ChunkStore, clock: Clock, longestCallMs: number) {
    this.#store = store;
    this.#clock = clock;
    this.#longestCallMs = longestCallMs;
  }

  /** Time that a partition has waited, in milliseconds; 0 if it does not. */
  waitMs(topic: string, partition: number): number {
    return Math.max(this.#waitMs(topic), this.#waitMs(claimName({ topic, partition })));
  }

  /** Names the longest wait, if it is long; empty otherwise. */
  problems(): string[] {
    const waits = [...this.#waits.keys()]
      .map((name) => ({ name, ms: this.#waitMs(name) }))
      .filter(({ ms }) => ms > TOLERATED_MS)
      .sort((a, b) => b.ms - a.ms);
    const [longest, ...others] = waits;
    if (longest === undefined) return [];
    const more = others.length === 0 ? '' : `, ${others.length} more as well`;
    const seconds = Math.round(longest.ms / 1000);
    return [`clickhouse: ${longest.name} has waited for it for ${seconds} s${more}`];
  }

  /** Makes a call to ClickHouse that is none of the store, as a partition that waits for it. */
  waiting<T>(place: Place, call: () => Promise<T>): Promise<T> {
    return this.#watch(claimName(place), call);
  }

  insert(chunk: Chunk): Promise<void> {
    return this.#watch(claimName(chunk), () => this.#store.insert(chunk));
  }

  missing(chunk: Chunk, sinceMs: number): Promise<MissingParts> {
    return this.#watch(claimName(chunk), () => this.#store.missing(chunk, sinceMs));
  }

  fill(chunk: Chunk, part: ChunkPart, attempt: number): Promise<void> {
    return this.#watch(claimName(chunk), () => this.#store.fill(chunk, part, attempt));
  }

  record(entry: LedgerEntry, attempt: number): Promise<void> {
    return this.#watch(claimName(entry), () => this.#store.record(entry, attempt));
  }

  inspect(chunk: Chunk, sinceMs: number): Promise<ChunkState> {
    return this.#watch(claimName(chunk), () => this.#store.inspect(chunk, sinceMs));
  }

  ledgerEnds(groupId: string, topic: string, partition: number): Promise<LedgerEnd[]> {
    const name = claimName({ topic, partition });
    return this.#watch(name, () => this.#store.ledgerEnds(groupId, topic, partition));
  }

  groupBeginMs(groupId: string, topic: string, clusterId: string): Promise<number | undefined> {
    return this.#watch(topic, () => this.#store.groupBeginMs(groupId, topic, clusterId));
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
