import { type Chunk, chunkToken, type LedgerEntry } from '../../src/sink/chunks/chunk.ts';
import type { ChunkState, ChunkStore, MissingParts } from '../../src/sink/chunks/chunk-store.ts';
import type { LedgerRow } from '../sink/ledger-check.ts';
import type { FakeWorld } from './fake-world.ts';

/** The landings, and other tables that the views fill. */
const tableNames = ['chunk_landings', 'latency_10s', 'drivers_1m', 'exemplars'] as const;

/**
 * ClickHouse as the protocol uses it. Each table drops a block with a known token, and a failed insert may
 * have filled only some tables.
 */
export class FakeChunkStore {
  /** Samples of a chunk that has landed. */
  readonly #landedSamples = new Map<string, number>();
  readonly #world: FakeWorld;
  /** Per table: the stored blocks, by token, in the order in which they came. */
  readonly tables = tableNames.map((name) => ({ name, blocks: new Map<string, Buffer>() }));
  readonly ledger: LedgerRow[] = [];
  readonly problems: string[] = [];
  /** Tokens of blocks by table that the server still remembers. */
  #tokens = new Set<string>();
  /** Chunks that were sent, and those of them whose tokens are forgotten. */
  readonly #sent = new Set<string>();
  readonly #forgotten = new Set<string>();
  #watermarkMs = 0;
  /** Inserts that reached the server, including those that it dropped. */
  insertCount = 0;

  constructor(world: FakeWorld) {
    this.#world = world;
  }

  /** The store as one process sees it. */
  of(process: number): ChunkStore {
    return {
      insert: async (chunk) => {
        if (chunk.rows.rowCount === 0) return;
        const fill = (share: number) => this.#fill(chunk, share);
        await this.#world.ask(process, 'insert', () => fill(1), fill);
      },
      missing: (chunk) => this.#world.ask(process, 'missing', () => this.#missing(chunk)),
      fill: (chunk, { table }, attempt) =>
        this.#world.ask(process, 'fill', () => this.#fillOne(chunk, table, attempt)),
      record: (entry, attempt) =>
        this.#world.ask(process, 'record', () => this.#record(entry, attempt)),
      inspect: (entry) => this.#world.ask(process, 'look', () => this.#look(entry)),
      ledgerEnds: () =>
        this.#world.ask(process, 'ledger end', () => {
          const last = this.ledger.at(-1);
          if (last === undefined) return [];
          const { log_id: logId, end_offset: endOffset } = last;
          return [{ logId, endOffset, watermarkMs: this.#watermarkMs, leaderEpoch: -1 }];
        }),
      groupBeginMs: () => this.#world.ask(process, 'group begin', () => undefined),
    };
  }

  /** Moves the deduplication window past all stored blocks. */
  forgetTokens(): void {
    this.#tokens = new Set();
    for (const token of this.#sent) this.#forgotten.add(token);
  }

  #fill(chunk: Chunk, share: number): void {
    this.insertCount++;
    const token = chunkToken(chunk);
    this.#sent.add(token);
    // In any order: each time another table comes first.
    const first = this.insertCount % this.tables.length;
    const inOrder = [...this.tables.slice(first), ...this.tables.slice(0, first)];
    for (const { name, blocks } of inOrder.slice(0, Math.ceil(share * this.tables.length))) {
      this.#noteLanding(name, token, chunk);
      const known = blocks.get(token);
      if (known !== undefined && !known.equals(chunk.rows.bytes)) {
        this.problems.push(`${token} came with other bytes to ${name}`);
      }
      if (this.#tokens.has(`${name} ${token}`)) continue;
      this.#tokens.add(`${name} ${token}`);
      // A block that a forgotten token accepts again counts twice.
      blocks.set(
        known === undefined ? token : `${token} again ${this.insertCount}`,
        chunk.rows.bytes,
      );
    }
  }

  /** The server was killed between storing a token and committing its rows. */
  #missing(chunk: Chunk): MissingParts {
    if (chunk.rows.rowCount === 0) return { parts: [], isNowhere: true };
    const token = chunkToken(chunk);
    const lacking = this.tables.filter(({ blocks }) => !blocks.has(token));
    return {
      parts: lacking.map(({ name }) => ({ table: name, kind: undefined, fromS: 0, toS: 1 })),
      isNowhere: lacking.length === this.tables.length,
    };
  }

  #fillOne(chunk: Chunk, table: string, attempt: number): void {
    const token = chunkToken(chunk);
    const own = `${table} fill ${attempt} ${token}`;
    if (this.#tokens.has(own)) return;
    this.#tokens.add(own);
    this.#noteLanding(table, token, chunk);
    const blocks = this.tables.find(({ name }) => name === table)?.blocks;
    if (blocks?.has(token)) this.problems.push(`${token} was sent to ${table} again`);
    blocks?.set(token, chunk.rows.bytes);
  }

  #noteLanding(table: string, token: string, chunk: Chunk): void {
    if (table !== tableNames[0] || this.#landedSamples.has(token)) return;
    this.#landedSamples.set(token, chunk.rows.samples);
  }

  #look(entry: LedgerEntry): ChunkState {
    const token = chunkToken(entry);
    return {
      isRecorded: this.ledger.some(
        (row) => row.start_offset === entry.startOffset && row.end_offset === entry.endOffset,
      ),
      isLanded: this.tables[0]?.blocks.has(token) ?? false,
      landedSamples: this.#landedSamples.get(token) ?? 0,
      isRemembered: !this.#forgotten.has(token),
    };
  }

  #record(chunk: LedgerEntry, attempt: number): void {
    const token = `ledger ${attempt} ${chunkToken(chunk)}`;
    if (this.#tokens.has(token)) return;
    this.#tokens.add(token);
    this.#watermarkMs = Math.max(0, chunk.watermarkMs);
    this.ledger.push({
      group_id: chunk.groupId,
      topic: chunk.topic,
      partition: chunk.partition,
      log_id: chunk.logId,
      start_offset: chunk.startOffset,
      end_offset: chunk.endOffset,
      first_ms: chunk.firstTimestampMs,
      last_ms: chunk.lastTimestampMs,
      records: chunk.records,
      consumed: chunk.consumed,
      aggregated: chunk.aggregated,
      rejected: chunk.rejected,
      late: chunk.late,
      overflow: chunk.overflow,
      unmapped: chunk.unmapped,
      samples: chunk.rows.samples,
      removed_events: chunk.removedEvents,
      removed_offsets: chunk.removedOffsets,
    });
  }
}
