import type { Logger } from '../base/telemetry/log.ts';
import type { Metrics } from '../base/telemetry/metrics.ts';
import type { RejectReason } from '../decode/reject-reasons.ts';
import type { Chunk } from '../sink/chunks/chunk.ts';
import type { Claim } from '../source/source.ts';
import { claimName } from '../source/source.ts';
import type { SealedChunk } from './chunk/open-chunk.ts';
import type { DeadLetter } from './letters/dead-letter.ts';
import { type PersistContext, persist } from './persist.ts';

/** Reasons that may lie with this process, and what to look at. */
const doubtful = {
  future: "is this machine's clock slow, or are the clocks of producers fast?",
  late: 'the events are older than windows.allowed_lateness',
  undecodable_batch: 'the batches are damaged, or of a compression that this process cannot read',
} as const satisfies Partial<Record<RejectReason, string>>;

type DoubtfulReason = keyof typeof doubtful;

/** Fewer show nothing: at night, a partition may have three events in a chunk, and two of them late. */
const LEAST_REJECTED = 20;

/** A chunk that is not stored, because most of it would be rejected for one reason. */
export interface Doubt {
  readonly reason: DoubtfulReason;
  readonly rejected: number;
  readonly consumed: number;
  readonly startOffset: number;
  readonly endOffset: number;
  /** Time by which the clock was behind ClickHouse's, where that is the cause. */
  readonly clockBehindMs?: number;
}

/**
 * Checks whether more than a share of a chunk's events would be rejected for one reason that may lie with this
 * process. Costs a pass over the letters.
 */
export function doubtOf(
  { consumed, startOffset, endOffset }: Pick<Chunk, 'consumed' | 'startOffset' | 'endOffset'>,
  letters: readonly Pick<DeadLetter, 'reason'>[],
  mostShare: number,
): Doubt | undefined {
  const most = Math.max(consumed * mostShare, LEAST_REJECTED - 1);
  if (letters.length <= most) return undefined;
  for (const reason of Object.keys(doubtful) as DoubtfulReason[]) {
    const rejected = letters.reduce((n, letter) => n + (letter.reason === reason ? 1 : 0), 0);
    if (rejected > most) return { reason, rejected, consumed, startOffset, endOffset };
  }
  return undefined;
}

export interface ClockContext extends PersistContext {
  /** Asks how far the local clock is ahead of ClickHouse's. Absent where clocks do not matter. */
  readonly clockAheadMs?: ((of: Pick<Claim, 'topic' | 'partition'>) => Promise<number>) | undefined;
}

/**
 * Compares the clock with ClickHouse's, where events of a chunk were rejected as future by it.
 *
 * @param clockMs wall clock less the monotonic one, when the clock of the chunk was set.
 * @throws as `persist`.
 */
export async function doubtOfClock(
  claim: Claim,
  { chunk, letters }: Pick<SealedChunk, 'chunk' | 'letters'>,
  clockMs: number,
  context: ClockContext,
): Promise<Doubt | undefined> {
  const { clockAheadMs, clock, config } = context;
  const rejected = letters.filter(({ reason }) => reason === 'future').length;
  if (claim.pause === undefined || clockAheadMs === undefined || rejected === 0) return undefined;
  let behindMs = 0;
  // The clock may have been set since the chunk began, and while it is compared.
  const setByMs = () => clock.nowMs() - clock.elapsedMs() - clockMs;
  const compare = async () => {
    const beforeMs = setByMs();
    const aheadMs = await clockAheadMs(claim);
    behindMs = Math.max(beforeMs, setByMs()) - aheadMs;
  };
  await persist('compare the clocks', claim, chunk, compare, context);
  if (behindMs < config.windows.max_future / 2) return undefined;
  const { consumed, startOffset, endOffset } = chunk;
  const found = { reason: 'future', rejected, consumed, startOffset, endOffset } as const;
  return { ...found, clockBehindMs: behindMs };
}

interface Paused {
  readonly doubt: Doubt;
  /** The claim that is given up for another attempt: its loss does not end the pause. */
  givenUp: Claim | undefined;
}

/** Partitions that are paused, as the process shows them: logged, a metric, a reason not to be ready. */
export class PausedPartitions {
  readonly #paused = new Map<string, Paused>();
  readonly #metrics: Pick<Metrics, 'pausedPartitions'>;
  readonly #log: Pick<Logger, 'error' | 'info'>;

  constructor(metrics: Pick<Metrics, 'pausedPartitions'>, log: Pick<Logger, 'error' | 'info'>) {
    this.#metrics = metrics;
    this.#log = log;
  }

  pause(claim: Claim, doubt: Doubt): void {
    this.#paused.set(claimName(claim), { doubt, givenUp: undefined });
    this.#show();
    this.#log.error(
      {
        topic: claim.topic,
        partition: claim.partition,
        start_offset: doubt.startOffset,
        end_offset: doubt.endOffset,
        reason: doubt.reason,
        rejected: doubt.rejected,
        of: doubt.consumed,
      },
      `a partition is paused and read again in a minute: ${causeOf(doubt)}`,
    );
  }

  /** A chunk of the partition is being stored. */
  goesOn(claim: Claim): void {
    if (!this.#paused.delete(claimName(claim))) return;
    this.#show();
    const { topic, partition } = claim;
    this.#log.info({ topic, partition }, 'a paused partition goes on');
  }

  /** Its claim is given up now, so that its records are read again. */
  tryAgain(claim: Claim): void {
    const paused = this.#paused.get(claimName(claim));
    if (paused !== undefined) paused.givenUp = claim;
  }

  /** A claim has ended: the pause as well, unless the claim was given up for another attempt. */
  lost(claim: Claim): void {
    const name = claimName(claim);
    if (this.#paused.get(name)?.givenUp === claim) return;
    if (this.#paused.delete(name)) this.#show();
  }

  problems(): string[] {
    return [...this.#paused].map(
      ([name, { doubt }]) =>
        `ingest: ${name} is paused at offset ${doubt.startOffset}: ${causeOf(doubt)}`,
    );
  }

  #show(): void {
    this.#metrics.pausedPartitions.reset();
    for (const reason of Object.keys(doubtful)) this.#metrics.pausedPartitions.set({ reason }, 0);
    for (const { doubt } of this.#paused.values()) {
      this.#metrics.pausedPartitions.inc({ reason: doubt.reason });
    }
  }
}

function causeOf({ reason, rejected, consumed, clockBehindMs }: Doubt): string {
  const events = `${rejected} of ${consumed} events would be rejected as ${reason}`;
  if (clockBehindMs === undefined) {
    return `${events}: ${doubtful[reason]} (ingest.pause_above_rejected: 1 rejects them)`;
  }
  const seconds = (clockBehindMs / 1000).toFixed(1);
  return `${events}, as the clock of this machine was ${seconds} s behind that of ClickHouse`;
}
