import { invariant } from '../../base/invariant.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { DeliveryStatus, Settled, StoredEvent } from '../../sink/anomalies/delivery-store.ts';
import type { Mute } from '../../sink/anomalies/mute-store.ts';
import type { Notice, Receiver } from '../receiver.ts';
import { isMutedBy } from '../routing/muted.ts';
import type { Route } from '../routing/route.ts';
import { deliveredBefore } from './delivered-before.ts';
import type { DeliveredBefore } from './delivery.ts';
import { createFeed, type Feed } from './feed.ts';

/** Deliveries of an anomaly that are due at a receiver now. */
export interface DueNow {
  /** In the order in which they are delivered; none where nothing is due. */
  readonly notices: readonly Notice[];
  /** The reason for these, or for none. */
  readonly why: string;
}

/** The state of one anomaly at one receiver. */
export interface DueInput {
  /** Of the anomaly, in order; at least one. */
  readonly events: readonly StoredEvent[];
  /** The revision that was settled at this receiver. */
  readonly settled: Settled | undefined;
  /** Status of the delivery of each revision at this receiver. */
  readonly given: readonly Pick<DeliveryStatus, 'revision' | 'state' | 'outcome' | 'answer'>[];
  /** Time at which the receiver was first configured; undefined where no process has run with it yet. */
  readonly registeredMs: number | undefined;
  readonly mutes: readonly Mute[];
  readonly nowMs: number;
}

/**
 * Finds what an outbox that starts now would deliver to a receiver of one anomaly. The order, what is skipped and
 * what is muted are those of the outbox's own feeds.
 */
export function dueNow({ receiver, unmet, ignoresMutes }: Route, input: DueInput): DueNow {
  const { events, nowMs, registeredMs = nowMs } = input;
  const newest = events.at(-1);
  if (newest === undefined) return { notices: [], why: 'there is none' };
  const reason = unmet(newest.event);
  if (reason !== undefined && events.every(({ event }) => unmet(event) !== undefined)) {
    return { notices: [], why: reason };
  }
  const before = deliveredBefore(receiver, events, input.settled, registeredMs);
  if (before === undefined) {
    return { notices: [], why: 'it was over before this receiver was configured' };
  }
  const feed = feedOf(receiver, unmet, events, before);
  const mute = ignoresMutes
    ? undefined
    : input.mutes.find((each) => isMutedBy(each, newest.event, nowMs));
  const notices: Notice[] = [];
  let skipped: string | undefined;
  for (let step = feed.next(mute !== undefined); step !== undefined; ) {
    const { event } = step;
    const memory = feed.accepted?.memory ?? '';
    if (step.kind === 'skip') skipped = step.reason;
    else {
      const { change } = step;
      notices.push({ event, change, severities: [...feed.severities], memory, isTest: false });
    }
    feed.settle(event, step.kind === 'skip' ? undefined : memory);
    step = feed.next(mute !== undefined);
  }
  const isOpen = newest.event.state !== 'resolved';
  const muted = mute !== undefined && isOpen ? `muted by ${mute.id}: ${mute.why}` : undefined;
  if (notices.length > 0) return { notices, why: 'it meets match' };
  return { notices, why: muted ?? skipped ?? whyNothing(receiver, input, newest.event) };
}

/** The feed of an outbox that starts now. */
function feedOf(
  receiver: Receiver,
  unmet: Route['unmet'],
  events: readonly StoredEvent[],
  before: DeliveredBefore,
): Feed {
  const [first, ...later] = events.map(({ event }) => event);
  invariant(first !== undefined, 'an anomaly has an event');
  const isMatched = (event: AnomalyEvent) => unmet(event) === undefined;
  const feed = createFeed(receiver, first, isMatched(first), before);
  for (const event of later) feed.add(event, isMatched(event));
  return feed;
}

/** The reason why nothing is due, apart from a mute and an end before the delivery. */
function whyNothing(
  { renewal }: Receiver,
  { settled, given }: DueInput,
  newest: AnomalyEvent,
): string {
  if (settled === undefined || settled.settledRevision === 0) {
    return 'it is from before this receiver was configured';
  }
  if (settled.accepted?.state === 'resolved') return 'its end was accepted';
  const last = given.findLast(({ revision }) => revision === settled.settledRevision);
  if (last !== undefined && last.outcome !== 'accepted') {
    const part = last.state === 'resolved' ? 'its end' : `revision ${last.revision}`;
    return `${part} was ${last.outcome}${last.answer === '' ? '' : `: ${last.answer}`}`;
  }
  if (renewal !== undefined) return 'it was accepted, and is sent again at intervals';
  return newest.revision === settled.settledRevision
    ? 'its newest state was accepted'
    : 'what is new since the last delivery is no news for it';
}
