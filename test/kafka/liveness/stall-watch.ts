import {
  type Observation,
  type PartitionState,
  StallDetector,
  type Verdict,
} from '../../../src/kafka/liveness/stall-detector.ts';

export const fine: Verdict = { problems: [], stalled: undefined, progressAgeMs: 0 };

/** A partition of which everything is read and committed. */
export function partition(changes: Partial<PartitionState> = {}): PartitionState {
  return {
    name: 't/0',
    endOffset: 100,
    position: 100,
    lowOffset: 0,
    committedOffset: 100,
    deliveredOffset: 99,
    isInWork: false,
    isPaused: false,
    isPausedByHandler: false,
    storeWaitMs: 0,
    ...changes,
  };
}

/** A detector with the same input every second, until the test changes it. */
export class Watch {
  elapsedMs = 5_000;
  seen: Omit<Observation, 'elapsedMs'>;
  readonly #detector = new StallDetector({
    unreadyMs: 20_000,
    stalledMs: 40_000,
    commitEveryMs: 5_000,
  });

  constructor(...partitions: PartitionState[]) {
    this.seen = {
      probedMs: 0,
      outage: undefined,
      isMember: true,
      joins: 1,
      lastError: undefined,
      isFetching: true,
      partitions,
    };
    this.observe();
  }

  observe(): Verdict {
    return this.#detector.observe({ ...this.seen, elapsedMs: this.elapsedMs });
  }

  /** Advances time in steps of a second; returns the last verdict. */
  pass(seconds: number, each: (second: number) => Partial<Watch['seen']> = () => ({})): Verdict {
    let verdict = fine;
    for (let second = 1; second <= seconds; second++) {
      this.elapsedMs += 1_000;
      this.seen = { ...this.seen, ...each(second) };
      verdict = this.observe();
    }
    return verdict;
  }

  /** Seconds until the process is not ready, and until it must end. */
  ends(withinSeconds = 300, each: (second: number) => Partial<Watch['seen']> = () => ({})) {
    let unready: number | undefined;
    for (let second = 1; second <= withinSeconds; second++) {
      const verdict = this.pass(1, () => each(second));
      if (verdict.problems.length > 0) unready ??= second;
      if (verdict.stalled !== undefined) return { unready, end: second, stalled: verdict.stalled };
    }
    return { unready, end: undefined, stalled: undefined };
  }
}
