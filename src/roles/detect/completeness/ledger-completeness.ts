import { completeUntil, type PartitionProgress } from '../../../sink/windows/window-progress.ts';
import {
  type Completeness,
  type CompletenessProbe,
  nothingWrong,
  type StoreOutage,
  storeOutage,
} from './completeness.ts';
import { silentUntil } from './silent-until.ts';

export interface LedgerCompletenessOptions {
  readonly readProgress: () => Promise<readonly PartitionProgress[]>;
  readonly nowMs: () => number;
  readonly idleMs: number;
}

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
    try {
      const partitions = await readProgress();
      const atMs = nowMs();
      if (this.#storeOutage !== undefined) this.#readableSinceMs = atMs;
      this.#storeOutage = undefined;
      this.#completeMs = Math.max(this.#completeMs, completeUntil(partitions, atMs, idleMs));
      const isReadable = atMs - this.#readableSinceMs >= idleMs;
      const knownMs = isReadable ? silentUntil(partitions, atMs, idleMs) : undefined;
      return { ...nothingWrong, completeMs: this.#completeMs, knownMs, isWhole: true };
    } catch (error) {
      this.#storeOutage = storeOutage(this.#storeOutage, nowMs(), error);
      const none = { completeMs: this.#completeMs, knownMs: undefined, isWhole: true };
      return { ...nothingWrong, ...none, storeOutage: this.#storeOutage };
    }
  }
}
