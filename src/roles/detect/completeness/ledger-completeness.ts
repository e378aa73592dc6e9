import { minuteMs } from '../../../base/time.ts';
import { completeUntil, type PartitionProgress } from '../../../sink/windows/window-progress.ts';
import type { ArrivalCompletenessOptions } from './arrival-completeness.ts';
import {
  type Completeness,
  type CompletenessProbe,
  nothingWrong,
  type StoreOutage,
  storeOutage,
} from './completeness.ts';

export type LedgerCompletenessOptions = Pick<
  ArrivalCompletenessOptions,
  'readProgress' | 'nowMs' | 'idleMs'
>;

/**
 * Windows are complete up to the lowest watermark of the partitions that are not idle. This is the rule for
 * sources without end offsets, such as files.
 */
export class LedgerCompleteness implements CompletenessProbe {
  readonly #options: LedgerCompletenessOptions;
  #completeMs = Number.NEGATIVE_INFINITY;
  #storeOutage: StoreOutage | undefined;
  /** Start of the ledger's availability: backlog of an outage is stored some time later. */
  #readableSinceMs = Number.NEGATIVE_INFINITY;

  constructor(options: LedgerCompletenessOptions) {
    this.#options = options;
  }

  async probe(): Promise<Completeness> {
    const { readProgress, nowMs, idleMs } = this.#options;
    let knownMs: number | undefined;
    try {
      const partitions = await readProgress();
      const atMs = nowMs();
      if (this.#storeOutage !== undefined) this.#readableSinceMs = atMs;
      this.#storeOutage = undefined;
      this.#completeMs = Math.max(this.#completeMs, completeUntil(partitions, atMs, idleMs));
      const isReadable = atMs - this.#readableSinceMs >= idleMs;
      if (isReadable) knownMs = silentUntil(partitions, atMs, idleMs);
    } catch (error) {
      this.#storeOutage = storeOutage(this.#storeOutage, nowMs(), error);
    }
    const own = { completeMs: this.#completeMs, knownMs, hasAllTraffic: true };
    return { ...nothingWrong, ...own, storeOutage: this.#storeOutage };
  }
}

/** Traffic is live, not a replay, if events are stored within this time. */
const liveWithinMs = 5 * minuteMs;

/**
 * Wall-clock time up to which no partition received events; undefined if a partition is not idle, or if its
 * last events were not live.
 *
 * @param nowMs of the clock that stamped `flushedMs`.
 * @param idleMs time by which a partition's events are stored.
 */
function silentUntil(
  partitions: readonly PartitionProgress[],
  nowMs: number,
  idleMs: number,
): number | undefined {
  const started = partitions.filter(({ watermarkMs }) => watermarkMs > 0);
  if (started.length === 0) return undefined;
  const flushedMs = Math.max(...started.map((partition) => partition.flushedMs));
  const watermarkMs = Math.max(...started.map((partition) => partition.watermarkMs));
  if (nowMs - flushedMs < idleMs || flushedMs - watermarkMs > liveWithinMs) return undefined;
  return nowMs - idleMs;
}
