import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { Form } from '../receiver.ts';
import type { Feed } from './feed.ts';

/** One anomaly at this receiver. */
export interface LaneItem {
  readonly feed: Feed;
  readonly dedupKey: string;
  /** Undefined while nothing is due. */
  dueSinceMs: number | undefined;
  form: Form;
  attempts: number;
  /** Failures in a row, without those that an outage of the receiver explains. */
  failures: number;
  firstFailedMs: number | undefined;
  /** Attempts after which people may see it, though none was answered. */
  unanswered: number;
  /** Times that it was due again because the receiver came back. */
  reopenings: number;
  lastAttemptMs: number;
  nextAtMs: number;
  /** True where all that is due is for the recipients whom an accepted delivery did not reach. */
  isRest: boolean;
  /** Time of the next attempt for these recipients, and the last answer for them. */
  restAtMs: number;
  restAnswer: string;
  /** Time at which the accepted state is repeated; undefined for never. */
  renewAtMs: number | undefined;
  /** Last time of a renewal; set once the end was accepted. */
  renewUntilMs: number;
}

/** An anomaly of which nothing is known yet. */
export function createItem({ dedup_key: dedupKey }: AnomalyEvent, feed: Feed): LaneItem {
  const item: LaneItem = {
    feed,
    dedupKey,
    dueSinceMs: undefined,
    form: 'full',
    attempts: 0,
    failures: 0,
    reopenings: 0,
    unanswered: 0,
    firstFailedMs: undefined,
    lastAttemptMs: Number.NEGATIVE_INFINITY,
    nextAtMs: Number.NEGATIVE_INFINITY,
    isRest: false,
    restAtMs: Number.NEGATIVE_INFINITY,
    restAnswer: '',
    renewAtMs: undefined,
    renewUntilMs: Number.POSITIVE_INFINITY,
  };
  return item;
}

/** Forgets the attempts of what is settled. */
export function resetItem(item: LaneItem): void {
  item.form = 'full';
  item.attempts = 0;
  item.failures = 0;
  item.reopenings = 0;
  item.unanswered = 0;
  item.firstFailedMs = undefined;
  item.nextAtMs = Number.NEGATIVE_INFINITY;
  item.restAtMs = Number.NEGATIVE_INFINITY;
  item.restAnswer = '';
  item.dueSinceMs = undefined;
}
