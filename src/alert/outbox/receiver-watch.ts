import type { WallClock } from '../../base/clock.ts';
import { isoSecondsOf } from '../../base/time.ts';
import { durationText } from '../../contract/format.ts';
import type { DeliveryStore, GivenUp } from '../../sink/anomalies/delivery-store.ts';
import type { Answer } from '../receiver.ts';
import type { UntimedRow } from './delivery.ts';

export interface ReceiverWatchOptions extends WallClock {
  /** Names of the receivers. */
  readonly receivers: readonly string[];
  readonly store: Pick<DeliveryStore, 'outages' | 'givenUp'>;
}

/** Maximum age of the start of an outage. */
const longestOutageMs = 30 * 86_400_000;
/** Time for which deliveries that were given up are shown. */
const shownMs = 24 * 3_600_000;
/** Deliveries that were given up and are held; the oldest is forgotten. */
const mostHeld = 1_000;

const remedy = 'see `tailmark anomalies --deliveries`';

/**
 * Watches what receivers answer, for `/readyz`: who accepts nothing, since when, and which deliveries were
 * given up. The table `deliveries` has what predecessors saw, so a restart does not make an outage younger.
 *
 * Renewals and heartbeats count too. They have no rows in the table.
 */
export class ReceiverWatch {
  readonly #options: ReceiverWatchOptions;
  /** First failures since the last acceptance, from before this process. */
  #failedBefore: ReadonlyMap<string, number> = new Map();
  readonly #accepting = new Set<string>();
  readonly #outages = new Map<string, { readonly sinceMs: number; readonly answer: string }>();
  readonly #givenUp = new Map<string, GivenUp>();

  constructor(options: ReceiverWatchOptions) {
    this.#options = options;
  }

  /** Reads what predecessors saw. */
  async start(): Promise<void> {
    const { receivers, store, nowMs } = this.#options;
    const [outages, givenUp] = await Promise.all([
      store.outages(receivers, nowMs() - longestOutageMs),
      store.givenUp(receivers, nowMs() - shownMs, mostHeld),
    ]);
    this.#failedBefore = outages;
    for (const each of givenUp.toReversed()) this.#give(each);
  }

  /** A line for each receiver that accepts nothing, and for each to whom something was not delivered. */
  notes(): string[] {
    const nowMs = this.#options.nowMs();
    return this.#options.receivers.flatMap((name) => {
      const outage = this.#outages.get(name);
      const givenUp = [...this.#givenUp.values()].filter(
        ({ receiver, atMs }) => receiver === name && nowMs - atMs < shownMs,
      );
      const last = givenUp.at(-1);
      return [
        ...(outage === undefined ? [] : [outageText(name, outage, nowMs)]),
        ...(last === undefined ? [] : [givenUpText(name, givenUp.length, last)]),
      ];
    });
  }

  /** Called with what a receiver answered: to a delivery, a renewal or a heartbeat. */
  answered(name: string, { outcome, answer }: Answer): void {
    if (outcome === 'accepted') {
      this.#outages.delete(name);
      this.#accepting.add(name);
    } else if (outcome !== 'unacceptable') {
      const before = this.#accepting.has(name) ? undefined : this.#failedBefore.get(name);
      const sinceMs = this.#outages.get(name)?.sinceMs ?? before ?? this.#options.nowMs();
      this.#outages.set(name, { sinceMs, answer });
    }
  }

  /** Called with each outcome that is recorded. */
  recorded({ receiver, id, revision, outcome, answer }: UntimedRow): void {
    if (outcome !== 'refused' && outcome !== 'expired') return;
    this.#give({ receiver, id, revision, outcome, answer, atMs: this.#options.nowMs() });
  }

  #give(given: GivenUp): void {
    const { receiver, id, revision } = given;
    this.#givenUp.set(JSON.stringify([receiver, id, revision]), given);
    const [oldest] = this.#givenUp.keys();
    if (this.#givenUp.size > mostHeld && oldest !== undefined) this.#givenUp.delete(oldest);
  }
}

function outageText(
  name: string,
  { sinceMs, answer }: { readonly sinceMs: number; readonly answer: string },
  nowMs: number,
): string {
  const since = `${durationText(nowMs - sinceMs)}, since ${isoSecondsOf(sinceMs)}`;
  return `alert: ${name} has accepted nothing for ${since}; it is tried again. Its last answer: ${answer}`;
}

function givenUpText(name: string, count: number, { id, outcome, answer, atMs }: GivenUp): string {
  const what = count === 1 ? 'an event' : `${count} events`;
  const last = `anomaly ${id}, ${outcome} at ${isoSecondsOf(atMs)}: ${answer}`;
  return `alert: ${what} to ${name} ${count === 1 ? 'was' : 'were'} given up in the last 24 h (${remedy}); the last: ${last}`;
}
