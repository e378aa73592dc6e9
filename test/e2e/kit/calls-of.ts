import type { ChunkStore } from '../../../src/sink/chunks/chunk-store.ts';

/** The calls of a store, some of which a test replaces. */
export function callsOf(store: ChunkStore): ChunkStore {
  return {
    insert: (chunk) => store.insert(chunk),
    record: (entry, attempt) => store.record(entry, attempt),
    missing: (each, sinceMs) => store.missing(each, sinceMs),
    fill: (...each) => store.fill(...each),
    inspect: (entry, sinceMs) => store.inspect(entry, sinceMs),
    ledgerEnds: (...partition) => store.ledgerEnds(...partition),
    groupBeginMs: (...topic) => store.groupBeginMs(...topic),
  };
}
