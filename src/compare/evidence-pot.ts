import { logSum, type PairEvidence } from './pair-evidence.ts';

interface Bet {
  readonly evidence: PairEvidence;
  /** Natural logarithm of the capital that it began with. */
  readonly logShare: number;
}

/**
 * Capital that is split over several bets, each of which begins with 1 and multiplies its share. The sum is
 * an e-process where each bet is one: it ever reaches 1/α with a probability of at most α, however the bets
 * depend on each other. Capital may move to bets that begin later, as long as that goes by nothing but who
 * is there.
 */
export class EvidencePot {
  #bets: readonly Bet[] = [];

  get size(): number {
    return this.#bets.length;
  }

  /** Natural logarithm of the capital; -Infinity without any. */
  get log(): number {
    return logSum(this.#bets.map(({ evidence, logShare }) => evidence.log + logShare));
  }

  /** Adds bets that begin now, with equal parts of some capital. */
  put(evidences: readonly PairEvidence[], logCapital: number): void {
    const logShare = logCapital - Math.log(evidences.length);
    this.#bets = [...this.#bets, ...evidences.map((evidence) => ({ evidence, logShare }))];
  }

  /** Takes a part of the capital from all bets alike; returns the logarithm of what was taken. */
  take(part: number): number {
    const taken = this.log + Math.log(part);
    const kept = Math.log(1 - part);
    this.#bets = this.#bets.map((bet) => ({ ...bet, logShare: bet.logShare + kept }));
    return taken;
  }
}
