import type { OutgoingMessage } from '../kafka/client/publisher.ts';
import { type Chunk, chunkToken, type LedgerEntry } from '../sink/chunks/chunk.ts';
import type { ChunkState, ChunkStore } from '../sink/chunks/chunk-store.ts';
import { type Claim, ClaimLostError } from '../source/source.ts';
import type { ChunkBegin } from './chunk/open-chunk.ts';
import { countsOf, encodeMetadata, type Intent } from './commit-metadata.ts';
import type { DeadLetter } from './letters/dead-letter.ts';
import { type LetterContext, publishLetters, rationedMessages } from './letters/letter-writer.ts';
import { reportRemoved } from './made-again.ts';
import { type PersistContext, persist } from './persist.ts';
import type { StartPosition } from './start-position.ts';

export interface FlushContext extends LetterContext, PersistContext {
  readonly store: ChunkStore;
  /** The database of the store, for commits. Absent where nothing else could be meant. */
  readonly storeId?: string | undefined;
  /** Resolves when a partition's chunk may be written to the store. Absent where nothing guards it. */
  readonly permit?: ((of: Pick<Claim, 'topic' | 'partition'>) => Promise<void>) | undefined;
  /** Time from the broker's last confirmation of the claim until another reader may have it. */
  readonly guardMs: number;
}

export interface ChunkStart {
  /** Watermark and leader epoch before the chunk, for whoever reads it again. */
  readonly before: Pick<ChunkBegin, 'watermarkMs' | 'leaderEpoch'>;
  readonly intent: Intent;
  /** True if the intent is a predecessor's, who may have got to any step. */
  readonly inherited: boolean;
  /** True for the first chunk of its claim: an earlier reader may have started the same range. */
  readonly isFirst: boolean;
}

/** Each needs the server to be killed within it once more. */
const MOST_FILLS = 3;
/** Senders of a chunk before the last one that are known by their counts. */
const EARLIER_KEPT = 3;

/**
 * Stores a sealed chunk exactly once, whoever dies when (docs/explained/exactly-once.md):
 *
 *     commit the intent ── insert rows ── write the ledger ── commit the end
 *                     └── write dead letters ──┘
 *
 * Each step may be repeated without further effect. A step that fails, or whose outcome is unknown, is
 * repeated with the same bytes and token until it succeeds or the claim is lost. Before an insert that may
 * have happened already, the tables are asked.
 */
export class ChunkFlush {
  readonly #claim: Claim;
  readonly #chunk: Chunk;
  readonly #start: ChunkStart;
  readonly #context: FlushContext;
  readonly #letters: readonly OutgoingMessage[];
  #metadata: string;
  /** Time of the request to the broker that last confirmed the claim. */
  #confirmedMs = 0;
  /** True if the rows may have been sent already, by this process or by a predecessor. */
  #isInsertInDoubt: boolean;
  /** True if this process has sent rows while in doubt: rows that land later may be its own. */
  #hasSent = false;
  /** True if rows had landed before this process sent any. */
  #wereThere = false;
  /** True if the ledger has the chunk, from a predecessor. */
  #isRecorded = false;
  /** True if the ledger's row may have been written already. */
  #isRecordInDoubt: boolean;

  constructor(
    claim: Claim,
    chunk: Chunk,
    letters: readonly DeadLetter[],
    start: ChunkStart,
    context: FlushContext,
  ) {
    this.#claim = claim;
    this.#chunk = chunk;
    this.#start = start;
    this.#context = context;
    this.#letters = rationedMessages(letters, context);
    this.#metadata = this.#metadataOf(start.intent);
    this.#isInsertInDoubt = start.inherited;
    this.#isRecordInDoubt = start.inherited;
  }

  /** @throws ClaimLostError when the partition belongs to another reader by now. */
  async run(): Promise<void> {
    await this.#step('commit the intent', () => this.#commitIntent());
    await Promise.all([
      this.#step('insert rows', () => this.#insertRows()),
      this.#step('write dead letters', () => this.#writeLetters()),
    ]);
    if (!this.#isRecorded) await this.#step('write the ledger', () => this.#writeLedger());
    await this.#step('commit the end', () => this.#commitEnd());
  }

  #step(name: string, action: () => Promise<void>): Promise<void> {
    return persist(name, this.#claim, this.#chunk, action, this.#context);
  }

  async #commitIntent(): Promise<void> {
    const askedMs = this.#context.clock.elapsedMs();
    await this.#claim.commit(this.#chunk.startOffset, this.#metadata);
    this.#confirmedMs = askedMs;
  }

  async #insertRows(): Promise<void> {
    const { store } = this.#context;
    const [chunk, { intent }] = [this.#chunk, this.#start];
    if (!this.#isInsertInDoubt) {
      this.#isInsertInDoubt = true;
      await this.#confirm();
      await store.insert(chunk);
      return;
    }
    const state = await this.#inspect();
    this.#isRecorded = state.isRecorded;
    if (this.#isRecorded) return;
    this.#wereThere = state.isLanded && !this.#hasSent;
    const { parts, isNowhere } = await store.missing(chunk, intent.nowMs);
    // While rows that no table lacks are on their way again, their token may be forgotten.
    if (parts.length === 0) return;
    if (!state.isLanded && this.#hasFewerRecords) {
      // The rows that land now are of fewer records than the intent says: a successor must know.
      this.#metadata = this.#metadataOf(withEarlier(intent, chunk));
      await this.#commitIntent();
    }
    if (state.isRemembered || isNowhere) {
      await this.#confirm();
      this.#hasSent = true;
      await store.insert(chunk);
    }
    await this.#fillGaps();
  }

  async #writeLedger(): Promise<void> {
    let entry: LedgerEntry = this.#chunk;
    if (this.#isRecordInDoubt) {
      const { isRecorded, landedSamples } = await this.#inspect();
      if (isRecorded) return;
      entry = this.#entryOfSender(landedSamples);
    }
    const isRepeated = this.#isRecordInDoubt || this.#start.isFirst;
    this.#isRecordInDoubt = true;
    for (let attempt = 0; attempt <= MOST_FILLS; attempt++) {
      await this.#confirm();
      await this.#context.store.record(entry, attempt);
      if (isRepeated && !(await this.#inspect()).isRecorded) continue;
      reportRemoved(entry, this.#context);
      return;
    }
    throw new Error('the ledger does not keep the row that is written');
  }

  #writeLetters(): Promise<void> {
    return publishLetters(this.#chunk.topic, this.#letters, this.#context);
  }

  #commitEnd(): Promise<void> {
    const { endOffset, ...chunk } = this.#chunk;
    const reached = { ...chunk, storeId: this.#context.storeId };
    return this.#claim.commit(endOffset, encodeMetadata(reached));
  }

  /**
   * Waits for the permit and confirms the claim before rows are sent. A process that was stopped for long asks
   * the broker again, and once more if it was stopped while it waited for a response.
   */
  async #confirm(): Promise<void> {
    const { clock, guardMs, permit } = this.#context;
    await permit?.(this.#claim);
    while (clock.elapsedMs() - this.#confirmedMs > guardMs) {
      await this.#commitIntent();
      await permit?.(this.#claim);
    }
    if (this.#claim.isLost) {
      throw new ClaimLostError(`${this.#claim.topic}/${this.#claim.partition}`);
    }
  }

  #inspect(): Promise<ChunkState> {
    return this.#context.store.inspect(this.#chunk, this.#start.intent.nowMs);
  }

  /** True if some of the chunk's records are gone since its intent was committed. */
  get #hasFewerRecords(): boolean {
    const { consumed, rows } = this.#start.intent.counts;
    return consumed !== this.#chunk.consumed || rows.samples !== this.#chunk.rows.samples;
  }

  #metadataOf(intent: Intent): string {
    const { storeId } = this.#context;
    return encodeMetadata({ ...this.#start.before, logId: this.#chunk.logId, storeId, intent });
  }

  /**
   * The ledger's row for rows that have landed: the counts of their sender, who may have had records that
   * are gone by now. The sender is known by its number of samples; where that does not tell, by whether rows
   * were there before this process sent any.
   */
  #entryOfSender(landedSamples: number): LedgerEntry {
    const chunk = this.#chunk;
    const { counts, earlier = [] } = this.#start.intent;
    const senders = [counts, ...earlier];
    if (senders.some(({ rows }) => rows.samples !== chunk.rows.samples)) {
      const sender = senders.find(({ rows }) => rows.samples === landedSamples);
      if (sender !== undefined) return { ...chunk, ...sender };
      if (landedSamples === chunk.rows.samples) return chunk;
    }
    return this.#wereThere ? { ...chunk, ...counts } : chunk;
  }

  /**
   * Sends the chunk to tables that lack it. A server that is killed between noting a token and committing the
   * rows drops the rows when they come again.
   */
  async #fillGaps(): Promise<void> {
    const { store, log, metrics } = this.#context;
    const chunk = this.#chunk;
    for (let attempt = 0; attempt < MOST_FILLS; attempt++) {
      const { parts } = await store.missing(chunk, this.#start.intent.nowMs);
      for (const part of parts) {
        await this.#confirm();
        await store.fill(chunk, part, attempt);
        metrics.chunksFilled.inc({ table: part.table });
        log.warn(
          { table: part.table, token: chunkToken(chunk) },
          'a table lacked a chunk after ClickHouse had been killed; it was sent again',
        );
      }
      if (parts.length === 0) return;
    }
    log.error(
      { token: chunkToken(chunk) },
      'a table does not keep a chunk that is sent to it: is it older than its retention?',
    );
  }
}

/** Commits a start position, so that a successor begins there as well. */
export function commitStart(
  claim: Claim,
  start: StartPosition,
  context: FlushContext,
): Promise<void> {
  const { startOffset } = start;
  const metadata = encodeMetadata({ ...start, storeId: context.storeId, intent: undefined });
  const range = { startOffset, endOffset: startOffset };
  const commit = () => claim.commit(startOffset, metadata);
  return persist('commit the start', claim, range, commit, context);
}

/** The intent of a successor that has fewer of the records. */
function withEarlier(intent: Intent, chunk: Chunk): Intent {
  const earlier = [intent.counts, ...(intent.earlier ?? [])].slice(0, EARLIER_KEPT);
  return { ...intent, counts: countsOf(chunk), earlier };
}
