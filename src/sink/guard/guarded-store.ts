import type { Chunk, LedgerEntry } from '../chunks/chunk.ts';
import type { ChunkPart } from '../chunks/chunk-parts.ts';
import type { ChunkState, ChunkStore, LedgerEnd, MissingParts } from '../chunks/chunk-store.ts';

/** A store whose writes wait for a permit. */
export class GuardedStore implements ChunkStore {
  readonly #store: ChunkStore;
  readonly #guard: { permit(): Promise<void> };

  constructor(store: ChunkStore, guard: { permit(): Promise<void> }) {
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
    return this.#store.missing(chunk, sinceMs);
  }

  inspect(chunk: Chunk, sinceMs: number): Promise<ChunkState> {
    return this.#store.inspect(chunk, sinceMs);
  }

  ledgerEnds(groupId: string, topic: string, partition: number): Promise<LedgerEnd[]> {
    return this.#store.ledgerEnds(groupId, topic, partition);
  }

  groupBeginMs(groupId: string, topic: string, clusterId: string): Promise<number | undefined> {
    return this.#store.groupBeginMs(groupId, topic, clusterId);
  }
}
