/**
 * Which of the deliveries that wait is next.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 5 min | wait after which age counts | a warning is no use later than that |
 * | 2nd | attempt that then goes by age | half of the attempts stay for what is more severe |
 */
const orderTuned = { agedMs: 5 * 60_000 } as const;

/** A delivery that may be attempted now. */
export interface Waiting {
  readonly id: string;
  /** Position of its severity; that of what waits behind it, if higher. */
  readonly rank: number;
  /** Only repeats what was accepted. */
  readonly isRenewal: boolean;
  readonly dueSinceMs: number;
  /** Since when it could have been attempted: later than `dueSinceMs` where it failed and had to pause. */
  readonly readySinceMs: number;
  readonly lastAttemptMs: number;
}

/**
 * Chooses by severity, then by age; a renewal comes after what is new. Where something has waited for five
 * minutes, every second choice is the one that has waited longest. So from then on all that can go before it is
 * what became ready earlier, and as many others.
 */
export class DeliveryOrder {
  #isAgeNext = false;

  choose(waiting: Iterable<Waiting>, nowMs: number): string | undefined {
    let urgent: Waiting | undefined;
    let oldest: Waiting | undefined;
    for (const each of waiting) {
      if (urgent === undefined || isMoreUrgent(each, urgent)) urgent = each;
      if (oldest === undefined || each.readySinceMs < oldest.readySinceMs) oldest = each;
    }
    if (oldest === undefined || nowMs - oldest.readySinceMs < orderTuned.agedMs) {
      this.#isAgeNext = false;
      return urgent?.id;
    }
    const isByAge = this.#isAgeNext;
    this.#isAgeNext = !isByAge;
    return (isByAge ? oldest : urgent)?.id;
  }

  /** The one whose last attempt is the oldest: while a receiver fails, each has its turn. */
  chooseProbe(waiting: Iterable<Waiting>): string | undefined {
    let first: Waiting | undefined;
    for (const each of waiting) {
      const isEarlier = first === undefined || each.lastAttemptMs < first.lastAttemptMs;
      if (isEarlier || (each.lastAttemptMs === first?.lastAttemptMs && isMoreUrgent(each, first))) {
        first = each;
      }
    }
    return first?.id;
  }
}

function isMoreUrgent(a: Waiting, b: Waiting): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank;
  if (a.isRenewal !== b.isRenewal) return b.isRenewal;
  return a.dueSinceMs < b.dueSinceMs;
}
