import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';

/** Tuned with `npm run eval -- second-faults`; test/detect/tail/tail-recovery.test.ts holds them. */
const tuned = {
  /** Likelihood ratio, per dispersion, from which requests surely recovered, or surely are slow again. */
  logSure: Math.log(100),
  /** Upper bound on a share: a share of 1 has no finite likelihood ratio. */
  maxShare: 0.99,
} as const;

/** Requests, and those above the baseline's quantile. */
export interface SlowCounts {
  readonly requests: number;
  readonly exceedances: number;
}

/** Log-likelihood ratio of slow requests: a share of them over the baseline's share. */
export function logRatioOf({ requests, exceedances }: SlowCounts, share: number, baseline: number) {
  const slow = Math.min(tuned.maxShare, Math.max(baseline, share));
  return (
    exceedances * Math.log(slow / baseline) +
    (requests - exceedances) * Math.log((1 - slow) / (1 - baseline))
  );
}

/** A window of an open anomaly. */
export interface RecoveryWindow extends SlowCounts {
  readonly endMs: number;
  /** Counts of the event. */
  readonly emitted: SlowCounts;
  /** Share of slow requests in the baseline. */
  readonly baselineShare: number;
  readonly dispersion: number;
  /** It is anomalous, together with those before it. */
  readonly isAnomalous: boolean;
  /** Another stage of the same cause exceeds in it. */
  readonly isHeld: boolean;
}

/**
 * Estimates when a tail fell: the end of the window after which the requests look most like the baseline
 * (maximum likelihood of a change point; Page 1954). One slow window by chance moves the estimate only where
 * it outweighs the clear ones since then. Requests that are surely slow again do at once.
 *
 * The alternative to the baseline is the share of slow requests in all of the anomaly, or the emitted one
 * where that is less. An event is opened at its worst: held against that share alone, a tail that lasts at
 * half of it looks like recovery.
 */
export class TailRecovery {
  /** Sum of the log-likelihood ratios since then, and its least value. */
  #sum = 0;
  #least = 0;
  #dispersion = 1;
  #endedAtMs: number;
  /** Counts of the windows since the event. */
  #since = noCounts;
  #isHeldOpen = false;

  /** @param measuredMs end of the last window that the event has counted. */
  constructor(measuredMs: number) {
    this.#endedAtMs = measuredMs;
  }

  /** End of the last slow window. */
  get endedAtMs(): number {
    return this.#endedAtMs;
  }

  /**
   * True where the requests since then surely match the baseline.
   *
   * @param looks how often that could have been so by chance since the anomaly opened; 1 or more.
   */
  isSure(looks: number): boolean {
    if (this.#isHeldOpen) return false;
    return -this.#sum >= (tuned.logSure + Math.log(looks)) * this.#dispersion;
  }

  observe(window: RecoveryWindow): void {
    const { endMs, emitted, baselineShare, dispersion, isAnomalous, isHeld } = window;
    this.#since = plus(this.#since, window);
    const share = Math.min(shareOf(emitted), shareOf(plus(emitted, this.#since)));
    this.#dispersion = dispersion;
    this.#isHeldOpen = false;
    this.#sum += logRatioOf(window, share, baselineShare);
    this.#least = Math.min(this.#least, this.#sum);
    const isBack = isAnomalous && this.#sum - this.#least >= tuned.logSure * dispersion;
    const isSlow = this.#sum > 0 || isBack || (isAnomalous && isHeld);
    if (isSlow) this.#restart(endMs);
  }

  /** Begins again: the event counts the windows up to then, or follows another stage from then on. */
  measured(measuredMs: number): void {
    this.#restart(measuredMs);
    this.#since = noCounts;
  }

  /** Lets the next window decide: this one may not end it. */
  holdOpen(): void {
    this.#isHeldOpen = true;
  }

  #restart(endMs: number): void {
    this.#endedAtMs = endMs;
    this.#sum = 0;
    this.#least = 0;
  }

  serialize(state: StateArchive): void {
    state.section('tail recovery', 2, () => {
      this.#sum = state.number(this.#sum);
      this.#least = state.number(this.#least);
      this.#endedAtMs = state.number(this.#endedAtMs);
      this.#dispersion = state.number(this.#dispersion);
      this.#since = serializeFields(state, this.#since, noCounts);
      this.#isHeldOpen = state.flag(this.#isHeldOpen);
    });
  }
}

const noCounts: SlowCounts = { requests: 0, exceedances: 0 };

function plus(a: SlowCounts, b: SlowCounts): SlowCounts {
  return { requests: a.requests + b.requests, exceedances: a.exceedances + b.exceedances };
}

function shareOf({ requests, exceedances }: SlowCounts): number {
  return exceedances / requests;
}
