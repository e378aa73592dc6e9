import type { Random } from '../../../src/generate/random.ts';
import type { Chunk, LedgerEntry } from '../../../src/sink/chunks/chunk.ts';
import type { ChunkPart } from '../../../src/sink/chunks/chunk-parts.ts';
import type {
  ChunkState,
  ChunkStore,
  LedgerEnd,
  MissingParts,
} from '../../../src/sink/chunks/chunk-store.ts';

/** A store that fails at times before a call has an effect, or after. */
export class FlakyStore implements ChunkStore {
  readonly #store: ChunkStore;
  readonly #random: Random;
  readonly failures = { before: 0, after: 0 };

  constructor(store: ChunkStore, random: Random) {
    this.#store = store;
    this.#random = random;
  }

  insert(chunk: Chunk): Promise<void> {
    return this.#perhaps(() => this.#store.insert(chunk));
  }

  missing(chunk: Chunk, sinceMs: number): Promise<MissingParts> {
    return this.#store.missing(chunk, sinceMs);
  }

  fill(chunk: Chunk, part: ChunkPart, attempt: number): Promise<void> {
    return this.#perhaps(() => this.#store.fill(chunk, part, attempt));
  }

  record(entry: LedgerEntry, attempt: number): Promise<void> {
    return this.#perhaps(() => this.#store.record(entry, attempt));
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

  async #perhaps<T>(action: () => Promise<T>): Promise<T> {
    const drawn = this.#random.uniform();
    if (drawn < 0.2) {
      this.failures.before++;
      throw new Error('connection refused');
    }
    const result = await action();
    if (drawn < 0.4) {
      this.failures.after++;
      throw new Error('the answer was lost');
    }
    return result;
  }
}
