import {
  type AnomalyEvent,
  severities as ranks,
  type Severity,
} from '../../contract/anomaly-event.ts';
import type { Notice, Receiver } from '../receiver.ts';
import type { Accepted, DeliveredBefore } from './delivery.ts';

/** The next step for one anomaly at one receiver. */
export type NextStep =
  | { readonly kind: 'deliver'; readonly event: AnomalyEvent; readonly change: Notice['change'] }
  /** Settles the revision without delivering it. */
  | { readonly kind: 'skip'; readonly event: AnomalyEvent; readonly reason: string };

/** Which states of one anomaly a receiver gets, in which order. Knows neither time nor failures. */
export interface Feed {
  /** Adds a later revision; known ones are ignored. */
  add(event: AnomalyEvent, isMatched: boolean): void;
  /** The next step; undefined for none. A mute holds back all but the end of what was delivered. */
  next(isMuted: boolean): NextStep | undefined;
  /** Records that an attempt was not answered: the receiver may have it. */
  doubt(): void;
  /** Records that a revision was delivered, or that it never will be. */
  settle(event: AnomalyEvent, memory: string | undefined): void;
  /** True where the receiver may have something of the anomaly. */
  readonly mayHaveArrived: boolean;
  /** True where the end depends on whether an attempt was made: a successor has to know. */
  readonly mustRecordAttempt: boolean;
  readonly newest: AnomalyEvent;
  readonly accepted: Accepted | undefined;
  readonly severities: readonly Severity[];
  readonly settledRevision: number;
}

/** Reasons why a revision is never delivered. */
const overBefore = 'over before it could be delivered';
const overMuted = 'over while it was muted';
const heldMuted = 'muted';

/** Creates the feed that a receiver asks for. */
export function createFeed(
  receiver: Pick<Receiver, 'feed' | 'wantsPast' | 'wantsUpdates'>,
  first: AnomalyEvent,
  isMatched: boolean,
  before: DeliveredBefore | undefined,
): Feed {
  return receiver.feed === 'state'
    ? new StateFeed(receiver, first, isMatched, before)
    : new RevisionFeed(first, isMatched, before);
}

/** The part that both feeds share: what was accepted, and what is settled. */
abstract class BaseFeed {
  newest: AnomalyEvent;
  accepted: Accepted | undefined;
  readonly severities: Severity[] = [];
  settledRevision: number;
  mayHaveArrived: boolean;

  constructor(first: AnomalyEvent, isMatched: boolean, before: DeliveredBefore | undefined) {
    this.newest = first;
    this.accepted = before?.accepted;
    this.settledRevision = before?.settledRevision ?? 0;
    this.mayHaveArrived = before?.mayHaveArrived ?? false;
    if (isMatched) this.severities.push(first.severity);
  }

  protected advance(event: AnomalyEvent, isMatched: boolean): boolean {
    if (event.revision <= this.newest.revision) return false;
    this.newest = event;
    if (isMatched && rankOf(event.severity) > rankOf(this.severities.at(-1))) {
      this.severities.push(event.severity);
    }
    return true;
  }

  doubt(): void {
    this.mayHaveArrived = true;
  }

  settle(event: AnomalyEvent, memory: string | undefined): void {
    this.settledRevision = Math.max(this.settledRevision, event.revision);
    if (memory === undefined) return;
    this.mayHaveArrived = true;
    const { state, severity } = event;
    this.accepted = { state, severity: highest(severity, this.accepted?.severity), memory };
  }
}

/** The newest state only: people need what is, not a replay of what was. */
class StateFeed extends BaseFeed implements Feed {
  readonly #receiver: Pick<Receiver, 'wantsPast' | 'wantsUpdates'>;

  constructor(
    receiver: Pick<Receiver, 'wantsPast' | 'wantsUpdates'>,
    ...rest: ConstructorParameters<typeof BaseFeed>
  ) {
    super(...rest);
    this.#receiver = receiver;
  }

  get mustRecordAttempt(): boolean {
    return !this.#receiver.wantsPast && this.accepted === undefined && !this.mayHaveArrived;
  }

  add(event: AnomalyEvent, isMatched: boolean): void {
    this.advance(event, isMatched);
  }

  next(isMuted: boolean): NextStep | undefined {
    const { newest: event, accepted } = this;
    const { wantsPast } = this.#receiver;
    const current = this.severities.at(-1);
    if (event.revision <= this.settledRevision || current === undefined) return undefined;
    const isEnd = event.state === 'resolved';
    if (accepted === undefined) {
      if (!isEnd) return isMuted ? undefined : { kind: 'deliver', event, change: 'opened' };
      // The end of what a pager may have opened wakes nobody, and without it the page would stay open.
      if (this.mayHaveArrived && !wantsPast) return { kind: 'deliver', event, change: 'resolved' };
      if (isMuted) return { kind: 'skip', event, reason: overMuted };
      return wantsPast
        ? { kind: 'deliver', event, change: 'past' }
        : { kind: 'skip', event, reason: overBefore };
    }
    if (accepted.state === 'resolved') return undefined;
    if (isEnd) return { kind: 'deliver', event, change: 'resolved' };
    if (isMuted) return undefined;
    if (rankOf(current) > rankOf(accepted.severity)) {
      return { kind: 'deliver', event, change: 'risen' };
    }
    return this.#receiver.wantsUpdates ? { kind: 'deliver', event, change: 'updated' } : undefined;
  }
}

/** Every revision in order, from the first that the receiver matches. */
class RevisionFeed extends BaseFeed implements Feed {
  readonly mustRecordAttempt = false;
  readonly #pending: AnomalyEvent[] = [];

  constructor(...rest: ConstructorParameters<typeof BaseFeed>) {
    super(...rest);
    const [first, isMatched] = rest;
    this.#push(first, isMatched);
  }

  add(event: AnomalyEvent, isMatched: boolean): void {
    if (this.advance(event, isMatched)) this.#push(event, isMatched);
  }

  next(isMuted: boolean): NextStep | undefined {
    const event = this.#pending[0];
    if (event === undefined) return undefined;
    if (!isMuted) return { kind: 'deliver', event, change: event.state };
    if (this.newest.state !== 'resolved') return undefined;
    if (this.accepted === undefined) return { kind: 'skip', event, reason: overMuted };
    return event.state === 'resolved'
      ? { kind: 'deliver', event, change: event.state }
      : { kind: 'skip', event, reason: heldMuted };
  }

  override settle(event: AnomalyEvent, memory: string | undefined): void {
    super.settle(event, memory);
    while ((this.#pending[0]?.revision ?? Number.POSITIVE_INFINITY) <= this.settledRevision) {
      this.#pending.shift();
    }
  }

  #push(event: AnomalyEvent, isMatched: boolean): void {
    const hasBegun = this.#pending.length > 0 || this.accepted !== undefined;
    if (event.revision > this.settledRevision && (isMatched || hasBegun)) this.#pending.push(event);
  }
}

function rankOf(severity: Severity | undefined): number {
  return severity === undefined ? -1 : ranks.indexOf(severity);
}

function highest(a: Severity, b: Severity | undefined): Severity {
  return b !== undefined && rankOf(b) > rankOf(a) ? b : a;
}
