import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { OutgoingMessage, Publisher } from '../kafka/client/publisher.ts';
import { type Chunk, chunkToken, type LedgerEntry } from '../sink/chunks/chunk.ts';
import type { ChunkStore } from '../sink/chunks/chunk-store.ts';
import { type Claim, ClaimLostError } from '../source/source.ts';
import { countsOf, encodeMetadata, type Intent } from './commit-metadata.ts';
import { type DeadLetter, deadLetterMessage } from './dead-letter.ts';
import type { DeadLetterBudget } from './dead-letter-budget.ts';
import { persist } from './persist.ts';
import { suppressedLetters, suppressedMessage } from './suppressed-letters.ts';

/** What a flush needs of the world. */
export interface FlushContext {
  readonly store: ChunkStore;
  /** undefined where dead letters have no topic to go to (a file); they are logged and counted. */
  readonly publisher: Publisher | undefined;
  readonly deadLetterSuffix: string;
  /** Shared by all partitions of a process; undefined: every letter is written. */
  readonly letterBudget?: DeadLetterBudget;
  readonly clock: Clock;
  /** So long after the broker last took us for the partition's reader, it may be another's. */
  readonly guardMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** How a chunk was begun. */
export interface Begun {
  /** Event time before the chunk, for whoever reads it again. */
  readonly watermarkBeforeMs: number;
  readonly intent: Intent;
  /** Whether the intent is a predecessor's, who may have got to any step. */
  readonly inherited: boolean;
  /** Whether it is the first of its claim: a chunk of the same range may have been begun unseen. */
  readonly isFirst: boolean;
}

const LETTERS_AT_ONCE = 500;
/** Each needs the server to be killed within it once more. */
const MOST_FILLS = 3;
/** Senders of a chunk before the last one that are known by what they made of it. */
const EARLIER_KEPT = 3;

/**
 * Stores a sealed chunk exactly once, whoever dies when (docs/explained/exactly-once.md):
 *
 *     commit start, with the intent ── insert rows ── ledger row ── commit end
 *                                 └─── dead letters ──┘
 *
 * Every step may be done again to no further effect, so one that fails, or whose outcome is
 * unknown, is simply done again, with the same bytes and token, until it holds or the claim is
 * lost. Before an insert that may have happened already, the tables are asked.
 *
 * @throws ClaimLostError when the partition is somebody else's by now.
 */
export async function flushChunk(
  claim: Claim,
  chunk: Chunk,
  letters: readonly DeadLetter[],
  begun: Begun,
  context: FlushContext,
): Promise<void> {
  const { store, clock } = context;
  const { intent, watermarkBeforeMs } = begun;
  const metadataOf = (given: Intent) =>
    encodeMetadata({ watermarkMs: finite(watermarkBeforeMs), intent: given });
  let metadata = metadataOf(intent);
  const done = encodeMetadata({ watermarkMs: finite(chunk.watermarkMs), intent: undefined });
  const step = (name: string, action: () => Promise<void>) =>
    persist(name, claim, chunk, action, context);

  let confirmedMs = 0;
  const commitIntent = async () => {
    const askedMs = clock.elapsedMs();
    await claim.commit(chunk.startOffset, metadata);
    confirmedMs = askedMs;
  };
  /**
   * A process that was stopped for long asks again before it sends what may be another's; and once
   * more if it was stopped while it waited for the answer.
   */
  const confirm = async () => {
    while (clock.elapsedMs() - confirmedMs > context.guardMs) await commitIntent();
    if (claim.isLost) throw new ClaimLostError(`${claim.topic}/${claim.partition}`);
  };
  let entry: LedgerEntry = chunk;
  let isRecorded = false;
  let isInDoubt = begun.inherited;
  /** What lands from here on may be of this sender. */
  let hasSent = false;
  let wereThere = false;
  const insert = async () => {
    if (!isInDoubt) {
      isInDoubt = true;
      await confirm();
      await store.insert(chunk);
      return;
    }
    const state = await store.inspect(chunk, intent.nowMs);
    isRecorded = state.isRecorded;
    if (isRecorded) return;
    wereThere = state.isLanded && !hasSent;
    if (!state.isLanded && isOtherThanBegun(chunk, intent)) {
      // What lands now is of fewer records than the intent says: whoever comes next is to know.
      metadata = metadataOf(withEarlier(intent, chunk));
      await commitIntent();
    }
    if (!state.isLanded || state.isRemembered) {
      await confirm();
      hasSent = true;
      await store.insert(chunk);
    }
    await fillGaps(chunk, intent.nowMs, confirm, context);
    entry = await entryOfLanded(chunk, intent, wereThere, store);
  };
  let isRecordInDoubt = begun.inherited;
  let isLedgerTried = false;
  const isInLedger = async () => (await store.inspect(chunk, intent.nowMs)).isRecorded;
  const record = async () => {
    if (isRecordInDoubt && (await isInLedger())) return;
    const isRepeated = isRecordInDoubt || begun.inherited || begun.isFirst;
    isRecordInDoubt = true;
    if (isLedgerTried && isOtherThanBegun(chunk, intent)) {
      // While this failed, what its predecessor had sent may have landed.
      entry = await entryOfLanded(chunk, intent, wereThere, store);
    }
    isLedgerTried = true;
    for (let attempt = 0; attempt <= MOST_FILLS; attempt++) {
      await confirm();
      await store.record(entry, attempt);
      if (!isRepeated || (await isInLedger())) return;
    }
    throw new Error('the ledger does not keep the row that is written');
  };

  const messages = rationedMessages(letters, context);
  await step('commit the intent', commitIntent);
  await Promise.all([
    step('insert rows', insert),
    step('write dead letters', () => publishLetters(chunk.topic, messages, context)),
  ]);
  if (!isRecorded) await step('write the ledger', record);
  await step('commit the end', () => claim.commit(chunk.endOffset, done));
}

/** Whether some of a chunk's records are gone since it was begun. */
function isOtherThanBegun(chunk: Chunk, { counts }: Intent): boolean {
  return counts.consumed !== chunk.consumed || counts.rows.samples !== chunk.rows.samples;
}

/** The intent of a successor that has fewer of the records. */
function withEarlier(intent: Intent, chunk: Chunk): Intent {
  const earlier = [intent.counts, ...(intent.earlier ?? [])].slice(0, EARLIER_KEPT);
  return { ...intent, counts: countsOf(chunk), earlier };
}

/**
 * What the ledger is to say of rows that have landed: what their sender made of the records, some of
 * which may be gone by now. That is whoever began the chunk, however late, or one who came later and
 * had no more of the records than we have; their samples tell, and where they do not, whether rows
 * were there before ours were sent.
 */
async function entryOfLanded(
  chunk: Chunk,
  { counts, earlier = [], nowMs }: Intent,
  wereThere: boolean,
  store: ChunkStore,
): Promise<LedgerEntry> {
  const senders = [counts, ...earlier];
  const countsSamples = senders.some(({ rows }) => rows.samples !== chunk.rows.samples);
  const { landedSamples } = countsSamples
    ? await store.inspect(chunk, nowMs)
    : { landedSamples: -1 };
  const sender = senders.find(({ rows }) => rows.samples === landedSamples);
  if (sender !== undefined) return { ...chunk, ...sender };
  if (landedSamples === chunk.rows.samples) return chunk;
  return wereThere ? { ...chunk, ...counts } : chunk;
}

/**
 * Sends a chunk to the tables that lack it although its insert was answered: a server that is killed
 * between noting a token and committing the rows drops them when they come again.
 */
async function fillGaps(
  chunk: Chunk,
  sinceMs: number,
  confirm: () => Promise<void>,
  { store, log, metrics }: FlushContext,
): Promise<void> {
  for (let attempt = 0; attempt < MOST_FILLS; attempt++) {
    const places = await store.missing(chunk, sinceMs);
    for (const place of places) {
      await confirm();
      await store.fill(chunk, place, attempt);
      metrics.chunksFilled.inc({ table: place.table });
      log.warn(
        { table: place.table, token: chunkToken(chunk) },
        'a table lacked a chunk after ClickHouse had been killed; it was sent again',
      );
    }
    if (places.length === 0) return;
  }
  log.error(
    { token: chunkToken(chunk) },
    'a table does not keep a chunk that is sent to it: is it older than its retention?',
  );
}

/**
 * The letters that are written: as many as the process may write now, and one for all others.
 * Decided once a chunk, whatever has to be done again.
 */
function rationedMessages(
  letters: readonly DeadLetter[],
  { publisher, letterBudget, clock, log, metrics }: FlushContext,
): OutgoingMessage[] {
  if (publisher === undefined) return [];
  const elapsedMs = clock.elapsedMs();
  const written = letterBudget?.spend(letters.length, elapsedMs) ?? letters.length;
  const suppressed = suppressedLetters(letters.slice(written));
  for (const [reason, count] of suppressed?.byReason ?? []) {
    metrics.deadLettersSuppressed.inc({ reason }, count);
  }
  const unreported = letterBudget?.report(elapsedMs) ?? 0;
  if (unreported > 0) {
    log.warn(
      { suppressed: unreported },
      'more events are rejected than dead letters may be written; they are counted',
    );
  }
  const messages = letters.slice(0, written).map(deadLetterMessage);
  return suppressed === undefined ? messages : [...messages, suppressedMessage(suppressed)];
}

async function publishLetters(
  topic: string,
  messages: readonly OutgoingMessage[],
  { publisher, deadLetterSuffix, metrics }: FlushContext,
): Promise<void> {
  if (publisher === undefined) return;
  for (let from = 0; from < messages.length; from += LETTERS_AT_ONCE) {
    const some = messages.slice(from, from + LETTERS_AT_ONCE);
    await publisher.publish(`${topic}${deadLetterSuffix}`, some);
    metrics.deadLetters.inc(some.length);
  }
}

function finite(ms: number): number | undefined {
  return Number.isFinite(ms) ? ms : undefined;
}
