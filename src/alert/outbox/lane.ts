import { type AnomalyEvent, severities } from '../../contract/anomaly-event.ts';
import type { Answer, Notice, Receiver } from '../receiver.ts';
import type { DeliveredBefore, Delivery, Outcome, UntimedRow } from './delivery.ts';
import { DeliveryOrder, type Waiting } from './delivery-order.ts';
import { createFeed, type NextStep } from './feed.ts';
import { createItem, type LaneItem, resetItem } from './lane-item.ts';
import { ownDelayMs, retryDelayMs, unansweredDelayMs } from './retry-policy.ts';

export interface LaneOptions {
  readonly receiver: Receiver;
  /** True if the receiver gets an anomaly in this state. */
  readonly matches: (event: AnomalyEvent) => boolean;
  readonly giveUpAfterMs: number;
  /** Called with each attempt's outcome, and with each revision that is settled without one. */
  readonly onRow: (row: UntimedRow, isRenewal: boolean) => void;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Maximum attempts under way at one receiver. All may be accepted twice if the process is killed. */
const maxConcurrent = 2;
/** Anomalies that fail without a success between, after which one attempt at a time is made. */
const failuresToClose = 2;
/** Times that the lane opened again after which a failure is the anomaly's own. */
const reopeningsToBlame = 3;
/** Interval of looking for deliveries to give up. */
const expireEveryMs = 1_000;
/** Anomalies that one lane holds. */
const maxHeld = 20_000;

/** Of a revision that is settled without an attempt. */
const unattempted = { form: 'full', attempt: 0, isRenewal: false } as const;

/**
 * The deliveries due at one receiver, and the time of the next attempt. Pure: time is a parameter, in
 * monotonic milliseconds, so a clock that jumps changes nothing.
 *
 * - Attempts of one dedup key follow each other: an anomaly waits until the one before it is settled.
 * - While the receiver accepts, up to two attempts are under way, the most severe first (`DeliveryOrder`).
 * - After failures of two anomalies in a row one attempt at a time is made, of the one whose last attempt is
 *   the oldest. The first success opens the lane again, and all is due at once.
 * - A delivery that fails while others are accepted, or after the lane opened three times, waits for its
 *   own, growing delay. So does an unanswered one that people may have seen, where they would see it again.
 * - A delivery that reached only some people stays due for the others, until a newer state takes its place.
 *   Its failures say nothing of the receiver.
 */
export class Lane {
  readonly receiver: Receiver;
  readonly #options: LaneOptions;
  /** By anomaly, the longest known first. */
  readonly #items = new Map<string, LaneItem>();
  /** Anomalies of each dedup key, in order; only the first is delivered. */
  readonly #byKey = new Map<string, string[]>();
  readonly #due = new Set<string>();
  readonly #order = new DeliveryOrder();
  readonly #busy = new Set<string>();
  /** Anomalies that changed while an attempt was under way. */
  readonly #changedWhileBusy = new Set<string>();
  #isMuted: (event: AnomalyEvent) => boolean = () => false;
  /** Anomalies that failed since the last success, without those whose own fault it is. */
  readonly #failing = new Set<string>();
  #awaySinceMs: number | undefined;
  #nextProbeMs = Number.NEGATIVE_INFINITY;
  #lastSuccessMs = Number.NEGATIVE_INFINITY;
  #lastFailure = '';
  #expireAtMs = Number.NEGATIVE_INFINITY;
  #hasOverflowed = false;

  constructor(options: LaneOptions) {
    this.receiver = options.receiver;
    this.#options = options;
  }

  /** Adds a revision. It is due at once where the receiver wants it. */
  add(event: AnomalyEvent, nowMs: number, before?: DeliveredBefore): void {
    const item = this.#items.get(event.id);
    const isMatched = this.#options.matches(event);
    if (item !== undefined) item.feed.add(event, isMatched);
    else if (this.#items.size >= maxHeld) this.#hasOverflowed = true;
    else this.#insert(event, isMatched, before);
    // An attempt under way may be accepted, and then the end is due: its outcome comes first.
    if (this.#busy.has(event.id)) this.#changedWhileBusy.add(event.id);
    else this.#refresh(event.id, nowMs);
  }

  /** Called before all that may be due is read again. */
  beginReload(): void {
    this.#hasOverflowed = false;
  }

  /** Sets what is muted, and finds what is due now. */
  mute(isMuted: (event: AnomalyEvent) => boolean, nowMs: number): void {
    this.#isMuted = isMuted;
    for (const id of [...this.#items.keys()]) this.#refresh(id, nowMs);
  }

  /** The attempt to make now; undefined for none. Its slot is taken until `release`. */
  next(nowMs: number): Delivery | undefined {
    this.#expire(nowMs);
    const id = this.#choose(nowMs);
    const item = id === undefined ? undefined : this.#items.get(id);
    if (id === undefined || item === undefined) return undefined;
    this.#busy.add(id);
    item.lastAttemptMs = nowMs;
    const step = item.feed.next(this.#isMuted(item.feed.newest));
    const rest = step === undefined ? this.#restOf(item) : undefined;
    const isRenewal = step === undefined && rest === undefined;
    const { renewal } = this.receiver;
    if (isRenewal && renewal !== undefined) item.renewAtMs = nowMs + renewal.everyMs;
    const { newest, severities, accepted } = item.feed;
    const event = step?.event ?? newest;
    const renewed = newest.state === 'resolved' ? 'resolved' : 'updated';
    const change = step?.kind === 'deliver' ? step.change : (rest ?? renewed);
    const notice: Notice = {
      event,
      change,
      severities: [...severities],
      memory: accepted?.memory ?? '',
      isTest: false,
      ...(rest !== undefined && { isRest: true }),
    };
    const attempt = item.attempts + 1;
    const { form, feed } = item;
    const begun = feed.mustRecordAttempt
      ? rowOf(this.receiver, event, { form, attempt, outcome: 'begun', mayHaveArrived: true })
      : undefined;
    return { notice, form, attempt, isRenewal, dueSinceMs: item.dueSinceMs ?? nowMs, begun };
  }

  /** Records how an attempt ended. */
  finish(delivery: Delivery, answer: Answer, nowMs: number): void {
    const { event } = delivery.notice;
    const item = this.#items.get(event.id);
    if (item === undefined) return;
    if (answer.mayHaveArrived) item.feed.doubt();
    if (answer.outcome === 'accepted') this.#accepted(item, delivery, answer, nowMs);
    else if (answer.outcome === 'unacceptable') this.#unacceptable(item, delivery, answer);
    else if (delivery.notice.isRest) this.#restFailed(item, delivery, answer, nowMs);
    else this.#failed(item, delivery, answer, nowMs);
    this.#refresh(event.id, nowMs);
  }

  /** Gives an attempt's slot back: its outcome is recorded. */
  release({ notice: { event } }: Delivery, nowMs: number): void {
    this.#busy.delete(event.id);
    if (this.#changedWhileBusy.delete(event.id)) this.#refresh(event.id, nowMs);
    this.#dropSettled(event.id, nowMs);
  }

  /** Anomalies with something to deliver, renewals apart, and since when the first of them has had it. */
  backlog(): { readonly due: number; readonly oldestMs: number | undefined } {
    let due = 0;
    let oldestMs: number | undefined;
    for (const id of this.#due) {
      const since = this.#items.get(id)?.dueSinceMs;
      if (since === undefined) continue;
      due++;
      oldestMs = Math.min(since, oldestMs ?? since);
    }
    return { due, oldestMs };
  }

  /** Since when the receiver has accepted nothing, and what it said last; undefined while it accepts. */
  outage(): { readonly sinceMs: number; readonly answer: string } | undefined {
    if (this.#awaySinceMs === undefined) return undefined;
    return { sinceMs: this.#awaySinceMs, answer: this.#lastFailure };
  }

  /** True where anomalies found the lane full, and there is room again. They are still due in the table. */
  get hasRoomAgain(): boolean {
    return this.#hasOverflowed && this.#items.size < maxHeld / 2;
  }

  get #isClosed(): boolean {
    return this.#failing.size >= failuresToClose;
  }

  #insert(event: AnomalyEvent, isMatched: boolean, before: DeliveredBefore | undefined): void {
    const { dedup_key: dedupKey } = event;
    const feed = createFeed(this.receiver, event, isMatched, before);
    this.#items.set(event.id, createItem(event, feed));
    const ids = this.#byKey.get(dedupKey);
    if (ids === undefined) this.#byKey.set(dedupKey, [event.id]);
    else ids.push(event.id);
  }

  /** Finds out whether an anomaly is due; settles what is never delivered. */
  #refresh(id: string, nowMs: number): void {
    const item = this.#items.get(id);
    if (item === undefined) return;
    let step: NextStep | undefined;
    while (true) {
      step = item.feed.next(this.#isMuted(item.feed.newest));
      if (step?.kind !== 'skip') break;
      this.#settle(item, step.event, 'skipped', step.reason);
    }
    item.isRest = step === undefined && this.#restOf(item) !== undefined;
    const isDue = step !== undefined || item.isRest;
    item.dueSinceMs = isDue ? (item.dueSinceMs ?? nowMs) : undefined;
    if (!isDue) this.#planRenewal(item, nowMs);
    if (isDue || item.renewAtMs !== undefined) this.#due.add(id);
    else this.#due.delete(id);
    this.#dropSettled(id, nowMs);
  }

  /** The change that some recipients have still to get. A mute holds back all but the end. */
  #restOf({ feed }: LaneItem): Notice['change'] | undefined {
    const { accepted, newest } = feed;
    if (accepted === undefined) return undefined;
    if (accepted.state !== 'resolved' && this.#isMuted(newest)) return undefined;
    return this.receiver.rest?.(accepted.memory);
  }

  /** A state that was accepted by a predecessor is repeated at once. */
  #planRenewal(item: LaneItem, nowMs: number): void {
    const { renewal } = this.receiver;
    const { accepted } = item.feed;
    if (renewal === undefined || accepted === undefined) return;
    if (accepted.state === 'resolved' && !Number.isFinite(item.renewUntilMs)) {
      item.renewUntilMs = nowMs + renewal.afterEndMs;
    }
    item.renewAtMs ??= nowMs;
    if (item.renewAtMs > item.renewUntilMs) item.renewAtMs = undefined;
  }

  #choose(nowMs: number): string | undefined {
    if (this.#busy.size >= (this.#isClosed ? 1 : maxConcurrent)) return undefined;
    if (nowMs < this.#nextProbeMs) return undefined;
    const waiting = this.#waiting(nowMs);
    return this.#isClosed ? this.#order.chooseProbe(waiting) : this.#order.choose(waiting, nowMs);
  }

  /** Deliveries that may be attempted now. */
  *#waiting(nowMs: number): Generator<Waiting, void> {
    for (const id of this.#due) {
      const item = this.#items.get(id);
      if (item === undefined || this.#busy.has(id)) continue;
      const pausedUntilMs = item.isRest ? item.restAtMs : item.nextAtMs;
      if (pausedUntilMs > nowMs) continue;
      const isRenewal = item.dueSinceMs === undefined;
      const dueSinceMs = item.dueSinceMs ?? item.renewAtMs ?? Number.POSITIVE_INFINITY;
      if (isRenewal && dueSinceMs > nowMs) continue;
      if (!this.#isFirst(id, item)) continue;
      const readySinceMs = Math.max(dueSinceMs, pausedUntilMs);
      const { lastAttemptMs } = item;
      const rank = this.#rankOf(id, item);
      yield { id, rank, isRenewal, dueSinceMs, readySinceMs, lastAttemptMs };
    }
  }

  /** Its severity, or the highest of those that wait for it as they have the same dedup key. */
  #rankOf(id: string, item: LaneItem): number {
    const ids = item.isRest ? [id] : (this.#byKey.get(item.dedupKey) ?? [id]);
    return Math.max(
      ...ids.map((each) => {
        const { feed } = this.#items.get(each) ?? item;
        return severities.indexOf(feed.severities.at(-1) ?? feed.newest.severity);
      }),
    );
  }

  /** One that only some recipients lack keeps no other waiting. */
  #isFirst(id: string, item: LaneItem): boolean {
    if (this.#owesRest(id)) return true;
    return this.#byKey.get(item.dedupKey)?.find((each) => !this.#owesRest(each)) === id;
  }

  #owesRest(id: string): boolean {
    const item = this.#items.get(id);
    return item?.isRest === true && item.feed.newest.state === 'resolved';
  }

  #accepted(item: LaneItem, delivery: Delivery, answer: Answer, nowMs: number): void {
    if (this.#isClosed) this.#reopen(nowMs);
    this.#lastSuccessMs = nowMs;
    this.#failing.clear();
    this.#awaySinceMs = undefined;
    this.#nextProbeMs = Number.NEGATIVE_INFINITY;
    this.#row(item, delivery, answer.outcome, answer);
    if (answer.refused !== undefined) {
      this.#row(item, delivery, 'refused', { ...answer, answer: answer.refused });
    }
    item.feed.settle(delivery.notice.event, answer.memory ?? delivery.notice.memory);
    const { dueSinceMs } = item;
    resetItem(item);
    if (this.#restOf(item) !== undefined) {
      item.dueSinceMs = dueSinceMs;
      item.restAnswer = answer.answer;
      item.restAtMs = nowMs + (answer.retryAfterMs ?? 0);
    }
    const { renewal } = this.receiver;
    if (renewal === undefined) return;
    const isEnd = delivery.notice.event.state === 'resolved';
    if (isEnd && !delivery.isRenewal) item.renewUntilMs = nowMs + renewal.afterEndMs;
    item.renewAtMs = nowMs + renewal.everyMs;
  }

  /** Makes deliveries due at once that failed only because the receiver was away. */
  #reopen(nowMs: number): void {
    for (const id of this.#due) {
      const item = this.#items.get(id);
      if (item?.firstFailedMs === undefined || this.#isOwnFault(item)) continue;
      item.nextAtMs = nowMs;
      item.failures = 0;
      item.firstFailedMs = undefined;
      item.reopenings++;
    }
  }

  #unacceptable(item: LaneItem, delivery: Delivery, answer: Answer): void {
    this.#row(item, delivery, answer.outcome, answer);
    item.attempts++;
    if (delivery.form === 'full') {
      item.form = 'minimal';
      return;
    }
    this.#settle(item, delivery.notice.event, 'refused', answer.answer, delivery);
  }

  /** Says nothing of the receiver: it has accepted the same for others. */
  #restFailed(item: LaneItem, delivery: Delivery, answer: Answer, nowMs: number): void {
    this.#row(item, delivery, answer.outcome, answer);
    item.attempts++;
    item.restAnswer = answer.answer;
    const random = this.#options.random();
    const delayMs = retryDelayMs(answer, 0, random);
    item.restAtMs = nowMs + Math.max(delayMs, ownDelayMs(item.failures++, random));
  }

  #failed(item: LaneItem, delivery: Delivery, answer: Answer, nowMs: number): void {
    this.#row(item, delivery, answer.outcome, answer);
    if (!this.#isOwnFault(item)) this.#failing.add(delivery.notice.event.id);
    this.#awaySinceMs ??= nowMs;
    this.#lastFailure = answer.answer;
    item.attempts++;
    item.failures++;
    item.firstFailedMs ??= nowMs;
    const delayMs = retryDelayMs(answer, nowMs - this.#awaySinceMs, this.#options.random());
    if (answer.mayHaveArrived && this.receiver.showsRepeats) item.unanswered++;
    const random = this.#options.random();
    const ownMs = this.#isOwnFault(item) ? ownDelayMs(item.failures - 1, random) : 0;
    const unansweredMs = unansweredDelayMs(item.unanswered, random);
    item.nextAtMs = nowMs + Math.max(delayMs, ownMs, unansweredMs);
    // One failure says little of the others, unless the receiver itself asks for a pause.
    const pauses = answer.retryAfterMs !== undefined || this.#isClosed;
    if (pauses) this.#nextProbeMs = nowMs + delayMs;
  }

  /** True for what fails while others are accepted, or each time that the lane opens. */
  #isOwnFault({ firstFailedMs, reopenings }: LaneItem): boolean {
    if (reopenings >= reopeningsToBlame) return true;
    return firstFailedMs !== undefined && this.#lastSuccessMs > firstFailedMs;
  }

  /** Gives up what has been due for too long. */
  #expire(nowMs: number): void {
    const { giveUpAfterMs } = this.#options;
    if (nowMs < this.#expireAtMs) return;
    this.#expireAtMs = nowMs + expireEveryMs;
    for (const id of [...this.#due]) {
      const item = this.#items.get(id);
      if (item?.dueSinceMs === undefined || this.#busy.has(id)) continue;
      // A delivery that was due while no process ran is tried at least once.
      if (item.lastAttemptMs === Number.NEGATIVE_INFINITY) continue;
      if (nowMs - item.dueSinceMs < giveUpAfterMs) continue;
      const step = item.feed.next(this.#isMuted(item.feed.newest));
      const last = step === undefined ? item.restAnswer : this.#lastFailure;
      const why = `not accepted for too long${last === '' ? '' : `: ${last}`}`;
      if (step !== undefined) this.#settle(item, step.event, 'expired', why);
      else this.#expireRest(item, why);
      this.#refresh(id, nowMs);
    }
  }

  /** Gives up the recipients that an accepted delivery did not reach, under the revision that others have. */
  #expireRest(item: LaneItem, why: string): void {
    const { newest, accepted, settledRevision: revision } = item.feed;
    const { state, severity } = accepted ?? newest;
    const event = { ...newest, revision, state, severity };
    item.feed.settle(event, '');
    const { mayHaveArrived } = item.feed;
    const given = { form: 'full', attempt: 0, outcome: 'expired', answer: why } as const;
    this.#options.onRow(rowOf(this.receiver, event, { ...given, mayHaveArrived }), false);
    resetItem(item);
  }

  /** Settles a revision that is not delivered. */
  #settle(
    item: LaneItem,
    event: AnomalyEvent,
    outcome: Outcome,
    answer: string,
    { form, attempt, isRenewal }: Pick<Delivery, 'form' | 'attempt' | 'isRenewal'> = unattempted,
  ): void {
    item.feed.settle(event, undefined);
    const { mayHaveArrived } = item.feed;
    const row = rowOf(this.receiver, event, { form, attempt, outcome, answer, mayHaveArrived });
    this.#options.onRow(row, isRenewal);
    resetItem(item);
  }

  #row({ feed }: LaneItem, delivery: Delivery, outcome: Outcome, answer: Answer): void {
    const { notice, form, attempt, isRenewal } = delivery;
    const memory = answer.memory ?? notice.memory;
    const mayHaveArrived = feed.mayHaveArrived || outcome === 'accepted';
    const given = { form, attempt, outcome, answer: answer.answer, memory, mayHaveArrived };
    this.#options.onRow(rowOf(this.receiver, notice.event, given), isRenewal);
  }

  /** Forgets an anomaly that is over once it is settled, and lets the next one of its dedup key come. */
  #dropSettled(id: string, nowMs: number): void {
    const item = this.#items.get(id);
    if (item === undefined || this.#busy.has(id) || item.dueSinceMs !== undefined) return;
    if (item.feed.newest.state !== 'resolved') return;
    const ids = this.#byKey.get(item.dedupKey) ?? [];
    // A later anomaly of the same key replaces the renewals of this one.
    if (item.renewAtMs !== undefined && ids.at(-1) === id) return;
    this.#items.delete(id);
    this.#due.delete(id);
    const rest = ids.filter((other) => other !== id);
    if (rest.length === 0) this.#byKey.delete(item.dedupKey);
    else this.#byKey.set(item.dedupKey, rest);
    const [next] = rest;
    if (next !== undefined) this.#refresh(next, nowMs);
  }
}

function rowOf(
  { name }: Receiver,
  event: AnomalyEvent,
  given: Pick<UntimedRow, 'form' | 'attempt' | 'outcome' | 'mayHaveArrived'> &
    Partial<Pick<UntimedRow, 'answer' | 'memory'>>,
): UntimedRow {
  const { id, revision, state, severity } = event;
  return { receiver: name, id, revision, state, severity, answer: '', memory: '', ...given };
}
