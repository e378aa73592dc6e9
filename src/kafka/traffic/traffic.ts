import { type Clock, systemClock } from '../../base/clock.ts';

/** Quotas and arriving responses, as the connections of a client see them. */
export class Traffic {
  readonly #clock: Clock;
  /** Time of throttling that was asked for, in ms, each moment once. */
  #askedMs = 0;
  #throttledUntilMs = Number.NEGATIVE_INFINITY;
  /** Bytes of responses to fetches. */
  fetchedBytes = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Records that a broker has this client wait (KIP-219). Waits for several brokers overlap. */
  throttle(waitMs: number): void {
    const nowMs = this.#clock.elapsedMs();
    const untilMs = nowMs + waitMs;
    this.#askedMs += Math.max(0, untilMs - Math.max(nowMs, this.#throttledUntilMs));
    this.#throttledUntilMs = Math.max(this.#throttledUntilMs, untilMs);
  }

  /** Time for which brokers have had this client wait, up to now. */
  throttledMs(): number {
    return this.#askedMs - Math.max(0, this.#throttledUntilMs - this.#clock.elapsedMs());
  }
}

const known = new WeakMap<object, Traffic>();

/** The traffic of a client, by the client or by the socket factory that its connections share. */
export function trafficOf(key: object): Traffic | undefined {
  return known.get(key);
}

export function setTraffic(key: object, traffic: Traffic): void {
  known.set(key, traffic);
}
