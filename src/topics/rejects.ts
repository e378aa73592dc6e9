import type { RejectReason } from '../decode/reject-reasons.ts';

/** Rejected events of one reason, and the detail of the first of them. */
export interface RejectsOfReason {
  readonly reason: RejectReason;
  readonly count: number;
  readonly detail: string;
}

/** Counts rejected events by reason. */
export class Rejects {
  readonly #byReason = new Map<RejectReason, RejectsOfReason>();

  add(reason: RejectReason, detail: string): void {
    const { count, detail: first } = this.#byReason.get(reason) ?? { count: 0, detail };
    this.#byReason.set(reason, { reason, count: count + 1, detail: first });
  }

  /** The most frequent reason comes first. */
  list(): RejectsOfReason[] {
    return [...this.#byReason.values()].sort((a, b) => b.count - a.count);
  }
}

function totalOf(rejects: readonly RejectsOfReason[]): number {
  return rejects.reduce((sum, { count }) => sum + count, 0);
}

/** Says how many were rejected and why, as parts of a finding's detail; none where there were none. */
export function rejectedText(rejects: readonly RejectsOfReason[]): string[] {
  const [first, ...others] = rejects;
  if (first === undefined) return [];
  if (others.length === 0) return [`${first.count} rejected: ${first.reason}, ${first.detail}`];
  const reasons = rejects.map(({ count, reason, detail }) => `${count} ${reason} (${detail})`);
  return [`${totalOf(rejects)} rejected: ${reasons.join(', ')}`];
}
