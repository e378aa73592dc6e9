import type { Chunk, LedgerEntry } from '../chunks/chunk.ts';
import type { ChunkPart } from '../chunks/chunk-parts.ts';
import type { ChunkState, ChunkStore, LedgerEnd, MissingParts } from '../chunks/chunk-store.ts';
import type { StoreGuard } from './store-guard.ts';

/**
 * A store whose reads are of the server of the start, or refused: what they say decides what is written, and
 * another server may be a replica that is behind. Writes need a permit before (`StoreGuard.permit`).
 */
export class GuardedStore implements ChunkStore {
  readonly #store: ChunkStore;
  readonly #guard: Pick<StoreGuard, 'reading'>;

  constructor(store: ChunkStore, guard: Pick<StoreGuard, 'reading'>) {
    this.#store = store;
    this.#guard = guard;
  }

  insert(chunk: Chunk): Promise<void> {
    return this.#store.insert(chunk);
  }

  fill(chunk: Chunk, part: ChunkPart, attempt: number): Promise<void> {
    return this.#store.fill(chunk, part, attempt);
  }

  record(entry: LedgerEntry, attempt: number): Promise<void> {
    return this.#store.record(entry, attempt);
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
