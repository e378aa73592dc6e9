import type { StateArchive } from '../../snapshot/archive.ts';

/** Tuned with `npm run eval -- second-faults`; test/detect/tail/tail-recovery.test.ts holds them. */
const tuned = {
  /** Likelihood ratio, per dispersion, from which requests surely recovered, or surely are slow again. */
  logSure: Math.log(100),
} as const;

/** A window of an open anomaly. */
export interface RecoveryWindow {
  readonly endMs: number;
  /** Log-likelihood ratio of its requests: the emitted share of slow ones over the baseline's. */
  readonly logRatio: number;
  readonly dispersion: number;
  /** It is anomalous, together with those before it. */
  readonly isAnomalous: boolean;
  /** Another stage of the same cause exceeds in it. */
  readonly isHeld: boolean;
}

/**
 * Estimates when a tail fell: the end of the window after which the requests look most like the baseline
 * (maximum likelihood of a change point; Page 1954). One slow window by chance moves the estimate only where it
 * outweighs the clear ones since then. Requests that are surely slow again do at once.
 */
export class TailRecovery {
  /** Sum of the log-likelihood ratios since then, and its least value. */
  #sum = 0;
  #least = 0;
  #dispersion = 1;
  #endedAtMs = Number.NaN;

  /** End of the last slow window; NaN before the first one. */
  get endedAtMs(): number {
    return this.#endedAtMs;
  }

  /** True where the requests since then surely match the baseline. */
  get isSure(): boolean {
    return -this.#sum >= tuned.logSure * this.#dispersion;
  }

  observe({ endMs, logRatio, dispersion, isAnomalous, isHeld }: RecoveryWindow): void {
    this.#dispersion = dispersion;
    this.#sum += logRatio;
    this.#least = Math.min(this.#least, this.#sum);
    const isBack = isAnomalous && this.#sum - this.#least >= tuned.logSure * dispersion;
    const isSlow = this.#sum > 0 || isBack || (isAnomalous && isHeld);
    if (isSlow || Number.isNaN(this.#endedAtMs)) this.#restart(endMs);
  }

  /** Lets later windows decide whether the requests match the baseline. */
  holdOpen(): void {
    this.#sum = 0;
    this.#least = 0;
  }

  #restart(endMs: number): void {
    this.#endedAtMs = endMs;
    this.#sum = 0;
    this.#least = 0;
  }

  serialize(state: StateArchive): void {
    state.section('tail recovery', 1, () => {
      this.#sum = state.number(this.#sum);
      this.#least = state.number(this.#least);
      this.#endedAtMs = state.number(this.#endedAtMs);
      this.#dispersion = state.number(this.#dispersion);
    });
  }
}
