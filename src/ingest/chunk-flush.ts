import type { OutgoingMessage } from '../kafka/client/publisher.ts';
import { type Chunk, chunkToken, type LedgerEntry } from '../sink/chunks/chunk.ts';
import type { ChunkState, ChunkStore } from '../sink/chunks/chunk-store.ts';
import { type Claim, ClaimLostError, claimName } from '../source/source.ts';
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

/** Attempts to fill a gap. One fails only where the server is killed between noting a token and its rows. */
const MOST_FILLS = 3;
/** Senders of a chunk before the last one that are known by their counts. */
const EARLIER_KEPT = 3;

/** The rows of a chunk, as far as this process knows. */
type Rows =
  /** Nobody has sent them. */
  | 'unsent'
  /** They may have been sent, by a predecessor or by this process: the tables are asked first. */
  | 'in_doubt'
  /** They had landed when the tables were asked, before this process sent them in doubt. */
  | 'landed'
  /** This process has sent them in doubt: rows that land later may be its own. */
  | 'resent';

/** Returns the state of rows once the tables were asked, or once this process is about to send them. */
function rowsAfter(rows: Rows, event: 'found_landed' | 'sending'): Rows {
  switch (rows) {
    case 'unsent':
      return 'in_doubt';
    case 'in_doubt':
      return event === 'sending' ? 'resent' : 'landed';
    default:
      return rows;
  }
}

/** The ledger's row of a chunk: `recorded` is a predecessor's. */
type LedgerRow = 'unwritten' | 'in_doubt' | 'recorded';

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
  #rows: Rows;
  #ledgerRow: LedgerRow;

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
    this.#rows = start.inherited ? 'in_doubt' : 'unsent';
    this.#ledgerRow = start.inherited ? 'in_doubt' : 'unwritten';
  }

  /** @throws ClaimLostError when the partition belongs to another reader by now. */
  async run(): Promise<void> {
    await this.#step('commit the intent', () => this.#commitIntent());
    await Promise.all([
      this.#step('insert rows', () => this.#insertRows()),
      this.#step('write dead letters', () => this.#writeLetters()),
    ]);
    if (this.#ledgerRow !== 'recorded') {
      await this.#step('write the ledger', () => this.#writeLedger());
    }
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

  /**
   * Sends the rows. The tables are asked for rows in doubt:
   *
   * | the tables | sent again |
   * |---|---|
   * | the ledger has the chunk | nothing |
   * | no part is missing | nothing: its token may be forgotten before it arrives |
   * | a part is missing, the token is remembered or no table has any part | all rows, then the missing parts |
   * | a part is missing, the token may be forgotten | the missing parts |
   */
  async #insertRows(): Promise<void> {
    const { store } = this.#context;
    const [chunk, { intent }] = [this.#chunk, this.#start];
    if (this.#rows === 'unsent') {
      await this.#send();
      return;
    }
    const state = await this.#inspect();
    if (state.isRecorded) {
      this.#ledgerRow = 'recorded';
      return;
    }
    if (state.isLanded) this.#rows = rowsAfter(this.#rows, 'found_landed');
    const { parts, isNowhere } = await store.missing(chunk, intent.nowMs);
    if (parts.length === 0) return;
    if (!state.isLanded && this.#hasFewerRecords) {
      // The rows that land now are of fewer records than the intent says: a successor must know.
      this.#metadata = this.#metadataOf(withEarlier(intent, chunk));
      await this.#commitIntent();
    }
    if (state.isRemembered || isNowhere) await this.#send();
    await this.#fillGaps();
  }

  async #send(): Promise<void> {
    await this.#confirm();
    this.#rows = rowsAfter(this.#rows, 'sending');
    await this.#context.store.insert(this.#chunk);
  }

  async #writeLedger(): Promise<void> {
    let entry: LedgerEntry = this.#chunk;
    if (this.#ledgerRow === 'in_doubt') {
      const { isRecorded, landedSamples } = await this.#inspect();
      if (isRecorded) return;
      entry = this.#entryOfSender(landedSamples);
    }
    const isRepeated = this.#ledgerRow === 'in_doubt' || this.#start.isFirst;
    this.#ledgerRow = 'in_doubt';
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
      throw new ClaimLostError(claimName(this.#claim));
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
    return this.#rows === 'landed' ? { ...chunk, ...counts } : chunk;
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
