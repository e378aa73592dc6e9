import type { Chunk, LedgerEntry } from '../chunks/chunk.ts';
import type { ChunkPart } from '../chunks/chunk-parts.ts';
import type { ChunkState, ChunkStore, LedgerEnd, MissingParts } from '../chunks/chunk-store.ts';
import type { StoreGuard } from './store-guard.ts';

/** Lets calls of a store begin, and knows which server responded. */
type Guard = Pick<StoreGuard, 'permit' | 'reading'>;

/**
 * A store whose writes wait for a permit. What decides what is written is read of the server of the start, or
 * refused: another one may be a replica that is behind.
 */
export class GuardedStore implements ChunkStore {
  readonly #store: ChunkStore;
  readonly #guard: Guard;

  constructor(store: ChunkStore, guard: Guard) {
    this.#store = store;
    this.#guard = guard;
  }

  async insert(chunk: Chunk): Promise<void> {
    await this.#guard.permit();
    await this.#store.insert(chunk);
  }

  async fill(chunk: Chunk, part: ChunkPart, attempt: number): Promise<void> {
    await this.#guard.permit();
    await this.#store.fill(chunk, part, attempt);
  }

  async record(entry: LedgerEntry, attempt: number): Promise<void> {
    await this.#guard.permit();
    await this.#store.record(entry, attempt);
  }

  missing(chunk: Chunk, sinceMs: number): Promise<MissingParts> {
    return this.#guard.reading(() => this.#store.missing(chunk, sinceMs));
  }

  inspect(chunk: Chunk, sinceMs: number): Promise<ChunkState> {
    return this.#guard.reading(() => this.#store.inspect(chunk, sinceMs));
  }

  ledgerEnds(groupId: string, topic: string, partition: number): Promise<LedgerEnd[]> {
    return this.#guard.reading(() => this.#store.ledgerEnds(groupId, topic, partition));
  }

  groupBeginMs(groupId: string, topic: string, clusterId: string): Promise<number | undefined> {
    return this.#guard.reading(() => this.#store.groupBeginMs(groupId, topic, clusterId));
  }
}
