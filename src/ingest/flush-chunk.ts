import type { Logger } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Chunk } from '../sink/chunk.ts';
import type { ChunkStore } from '../sink/chunk-store.ts';
import { errorCodeOf } from '../sink/clickhouse.ts';
import type { Publisher } from '../source/publisher.ts';
import { type Claim, ClaimLostError } from '../source/source.ts';
import { encodeNote } from './commit-note.ts';
import { type DeadLetter, deadLetterMessage } from './dead-letter.ts';

/** What a flush needs of the world. */
export interface FlushContext {
  readonly store: ChunkStore;
  /** undefined where dead letters have no topic to go to (a file); they are logged and counted. */
  readonly publisher: Publisher | undefined;
  readonly deadLetterSuffix: string;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;
const LETTERS_AT_ONCE = 500;

/**
 * Stores a sealed chunk exactly once, whoever dies when (docs/exactly-once.md):
 *
 *     commit start, with the intent ── insert rows ── ledger row ── commit end
 *                                 └─── dead letters ──┘
 *
 * Every step may be done again to no further effect, so one that fails, or whose outcome is
 * unknown, is simply done again, with the same bytes and token, until it holds or the claim is
 * lost.
 *
 * @param watermarkBeforeMs event time before the chunk, for whoever reads it again.
 * @param inherited whether the intent is a predecessor's, who may have got to any step.
 * @throws ClaimLostError when the partition is somebody else's by now.
 */
export async function flushChunk(
  claim: Claim,
  chunk: Chunk,
  letters: readonly DeadLetter[],
  begun: {
    readonly watermarkBeforeMs: number;
    readonly nowMs: number;
    readonly inherited: boolean;
  },
  context: FlushContext,
): Promise<void> {
  const { store } = context;
  const intent = encodeNote({
    watermarkMs: finite(begun.watermarkBeforeMs),
    intent: { endOffset: chunk.endOffset, nowMs: begun.nowMs },
  });
  const done = encodeNote({ watermarkMs: finite(chunk.watermarkMs), intent: undefined });
  const step = (name: string, action: () => Promise<void>) =>
    persist(name, claim, chunk, action, context);

  await step('commit the intent', () => claim.commit(chunk.startOffset, intent));
  let recorded = false;
  if (begun.inherited) {
    await step('look into the ledger', async () => {
      recorded = await store.isRecorded(chunk);
    });
  }
  await Promise.all([
    recorded ? undefined : step('insert rows', () => store.insert(chunk)),
    step('write dead letters', () => publishLetters(letters, context)),
  ]);
  if (!recorded) await step('write the ledger', () => store.record(chunk));
  await step('commit the end', () => claim.commit(chunk.endOffset, done));
}

/** Does a step until it holds. */
async function persist(
  name: string,
  claim: Claim,
  chunk: Chunk,
  action: () => Promise<void>,
  context: FlushContext,
): Promise<void> {
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
    if (claim.isLost) throw new ClaimLostError(`${claim.topic}/${claim.partition}`);
    try {
      await action();
      return;
    } catch (error) {
      if (error instanceof ClaimLostError) throw error;
      const code = errorCodeOf(error);
      context.metrics.sinkErrors.inc({ code: code === '' ? 'unknown' : code });
      context.log.warn(
        {
          step: name,
          topic: chunk.topic,
          partition: chunk.partition,
          start_offset: chunk.startOffset,
          end_offset: chunk.endOffset,
          code,
          err: error instanceof Error ? error.message : String(error),
          retry_ms: retryMs,
        },
        'a step of storing a chunk failed and is done again',
      );
      await context.sleep(retryMs);
    }
  }
}

async function publishLetters(
  letters: readonly DeadLetter[],
  context: FlushContext,
): Promise<void> {
  if (context.publisher === undefined) return;
  for (let from = 0; from < letters.length; from += LETTERS_AT_ONCE) {
    const some = letters.slice(from, from + LETTERS_AT_ONCE);
    const topic = `${some[0]?.topic ?? ''}${context.deadLetterSuffix}`;
    await context.publisher.publish(topic, some.map(deadLetterMessage));
  }
}

function finite(ms: number): number | undefined {
  return Number.isFinite(ms) ? ms : undefined;
}
