import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type {
  DeliveryStore,
  OutboxState,
  StoredEvent,
} from '../../sink/anomalies/delivery-store.ts';
import type { Mute } from '../../sink/anomalies/mute-store.ts';
import type { Answer, Receiver } from '../receiver.ts';
import { covers, isMutedBy } from '../routing/muted.ts';
import type { Route } from '../routing/route.ts';
import { deliveredBefore } from './delivered-before.ts';
import type { DeliveredBefore, Delivery, Outcome, UntimedRow } from './delivery.ts';
import { DeliveryLog } from './delivery-log.ts';
import { Lane } from './lane.ts';
import type { ReceiverWatch } from './receiver-watch.ts';

export interface OutboxOptions {
  readonly routes: readonly Route[];
  readonly store: Pick<DeliveryStore, 'add' | 'load'>;
  /** Reads mutes that end after this time. */
  readonly readMutes: (afterMs: number) => Promise<readonly Mute[]>;
  readonly giveUpAfterMs: number;
  /** Sees all answers. @default nobody */
  readonly watch?: ReceiverWatch;
  readonly clock: Clock;
  readonly random: () => number;
  /** Checked before each attempt. */
  readonly isLeading: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Interval of looking for attempts that have become due. */
const tickMs = 500;
/** All that a delivery may come to. */
const outcomes: readonly Outcome[] = [
  ...(['accepted', 'failed', 'rejected', 'unacceptable'] as const),
  ...(['refused', 'expired', 'skipped'] as const),
];
/** Interval of reading mutes. */
const muteMs = 5_000;
/** Longest wait for the row of an attempt before it is made, and before its place is free again. */
const recordMs = 1_000;
/** Receivers to whom an end was delivered this long ago are not sent it again. */
const renewedMs = 20 * 60_000;
/** Time beyond `give_up_after` in which resolved anomalies are read at a start. */
const slackMs = 3_600_000;

/**
 * Delivers anomalies to all receivers until they are accepted. An event in the table `anomalies` that is not
 * settled in `deliveries` is due, so none is lost over a restart or a takeover. Receivers are independent of
 * each other. Runs in the process that leads.
 *
 * A process that is killed between an acceptance and its row delivers the event again, with the same key. A
 * row from before the attempt says that it may have arrived, so a pager gets the end of it. An opening that was
 * never attempted, or provably failed, has no end. While ClickHouse is away attempts have no rows.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #lanes: readonly Lane[];
  readonly #log: DeliveryLog;
  /** Attempts under way. */
  readonly #attempts = new Set<Promise<void>>();
  /** Receivers that accept nothing, as the log has it. */
  readonly #away = new Set<string>();
  #mutes: readonly Mute[] = [];
  #muteReadMs = Number.NEGATIVE_INFINITY;
  /** Time at which each heartbeat is sent next. */
  readonly #heartbeatsAtMs = new Map<Receiver, number>();
  #stopTicks: () => void = () => undefined;
  #isStopped = false;
  #isReloading = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    const { routes, store, clock, log, metrics, giveUpAfterMs, random } = options;
    this.#log = new DeliveryLog({
      add: (rows) => store.add(rows),
      clock,
      onFailure: (error) => log.warn({ err: messageOf(error) }, 'deliveries cannot be recorded'),
      onLost: () => metrics.alertRowsLost.inc(),
    });
    this.#lanes = routes.map(
      ({ receiver, unmet }) =>
        new Lane({
          receiver,
          matches: (event) => unmet(event) === undefined,
          giveUpAfterMs,
          random,
          onRow: (row, isRenewal) => this.#onRow(row, isRenewal),
        }),
    );
  }

  /** Reads what is due, and begins to deliver it. */
  async start(): Promise<void> {
    const { routes, metrics } = this.#options;
    // A series that begins with its first increase shows no increase.
    for (const { receiver } of routes) {
      for (const outcome of outcomes)
        metrics.alertAttempts.inc({ receiver: receiver.name, outcome }, 0);
    }
    await this.#options.watch?.start();
    await this.#load();
    await this.#readMutes();
    this.#stopTicks = this.#options.clock.every(tickMs, () => this.#tick());
    this.#tick();
  }

  /**
   * Delivers an event that is stored. One that is known already changes nothing.
   *
   * @param before what may have been delivered of it, where no row says so.
   */
  add(event: AnomalyEvent, before?: DeliveredBefore): void {
    const nowMs = this.#options.clock.elapsedMs();
    for (const lane of this.#lanes) {
      lane.add(event, nowMs, before);
      this.#pump(lane);
    }
  }

  /** Receivers that accept nothing, and deliveries that were given up, for `/readyz`. */
  notes(): string[] {
    return this.#options.watch?.notes() ?? [];
  }

  /** Resolves when nothing is due any more, or after this time; returns how many deliveries are due. */
  async drained(maxMs: number): Promise<number> {
    const { clock } = this.#options;
    const endMs = clock.elapsedMs() + maxMs;
    const due = () => this.#lanes.reduce((sum, lane) => sum + lane.backlog().due, 0);
    while (due() > 0 && clock.elapsedMs() < endMs && !this.#isStopped) {
      for (const lane of this.#lanes) this.#pump(lane);
      await Promise.race([clock.sleep(tickMs), ...this.#attempts]);
    }
    return due();
  }

  /** Ends: begins no more attempts, and records those that are under way. */
  async stop(maxMs: number): Promise<void> {
    this.#isStopped = true;
    this.#stopTicks();
    const { clock, metrics } = this.#options;
    await Promise.race([Promise.all(this.#attempts), clock.sleep(maxMs)]);
    await Promise.race([this.#log.end(), clock.sleep(maxMs)]);
    for (const { receiver } of this.#lanes) {
      metrics.alertsDue.set({ receiver: receiver.name }, 0);
      metrics.alertOldestDueSeconds.set({ receiver: receiver.name }, 0);
    }
  }

  async #load(): Promise<void> {
    const { store, readMutes, clock, giveUpAfterMs } = this.#options;
    const names = this.#lanes.map(({ receiver }) => receiver.name);
    const sinceMs = clock.nowMs() - giveUpAfterMs - slackMs;
    const fromMs = Math.max(0, Math.round(sinceMs));
    const [state, mutes] = await Promise.all([store.load(names, fromMs), readMutes(fromMs)]);
    const time = { elapsedMs: clock.elapsedMs(), nowMs: clock.nowMs() };
    for (const lane of this.#lanes) restore(lane, state, mutes, time);
  }

  #tick(): void {
    const { clock } = this.#options;
    if (clock.elapsedMs() >= this.#muteReadMs + muteMs) void this.#readMutes();
    for (const lane of this.#lanes) {
      this.#pump(lane);
      this.#export(lane);
      this.#beat(lane.receiver);
    }
    if (this.#lanes.some((lane) => lane.hasRoomAgain)) void this.#reload();
  }

  /** Sends a heartbeat that is due. One that fails is late by an interval, which its receiver notices. */
  #beat(receiver: Receiver): void {
    const { clock, isLeading, metrics, watch } = this.#options;
    const { heartbeat, name } = receiver;
    const nowMs = clock.elapsedMs();
    if (heartbeat === undefined || this.#isStopped || !isLeading()) return;
    if (nowMs < (this.#heartbeatsAtMs.get(receiver) ?? 0)) return;
    this.#heartbeatsAtMs.set(receiver, nowMs + heartbeat.everyMs);
    void heartbeat
      .send()
      .catch((error: unknown): Answer => ({ outcome: 'failed', answer: messageOf(error) }))
      .then((answer) => {
        watch?.answered(name, answer);
        metrics.alertHeartbeats.inc({ receiver: name, outcome: answer.outcome });
      });
  }

  /** Reads again what found a lane full. */
  async #reload(): Promise<void> {
    if (this.#isReloading) return;
    this.#isReloading = true;
    await this.#log.recorded();
    for (const lane of this.#lanes) lane.beginReload();
    await this.#load().catch((error: unknown) => {
      this.#options.log.warn({ err: messageOf(error) }, 'due deliveries cannot be read');
    });
    this.#isReloading = false;
  }

  async #readMutes(): Promise<void> {
    const { readMutes, clock, log, routes } = this.#options;
    this.#muteReadMs = clock.elapsedMs();
    try {
      this.#mutes = await readMutes(clock.nowMs());
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'mutes cannot be read; the last known ones hold');
    }
    const nowMs = clock.nowMs();
    const isMuted = (event: AnomalyEvent) =>
      this.#mutes.some((mute) => isMutedBy(mute, event, nowMs));
    this.#lanes.forEach((lane, i) => {
      if (routes[i]?.ignoresMutes === false) lane.mute(isMuted, clock.elapsedMs());
    });
  }

  #pump(lane: Lane): void {
    const { clock, isLeading } = this.#options;
    while (!this.#isStopped && isLeading()) {
      const delivery = lane.next(clock.elapsedMs());
      if (delivery === undefined) return;
      const attempt: Promise<void> = this.#attempt(lane, delivery).finally(() => {
        this.#attempts.delete(attempt);
      });
      this.#attempts.add(attempt);
    }
  }

  async #attempt(lane: Lane, delivery: Delivery): Promise<void> {
    const { clock, metrics } = this.#options;
    const receiver = lane.receiver.name;
    if (delivery.begun !== undefined) {
      this.#log.add({ ...delivery.begun, atMs: clock.nowMs() });
      await Promise.race([this.#log.recorded(), clock.sleep(recordMs)]);
      if (!this.#options.isLeading()) {
        lane.release(delivery, clock.elapsedMs());
        return;
      }
    }
    const answer = await lane.receiver
      .send(delivery.notice, delivery.form)
      .catch((error: unknown): Answer => ({ outcome: 'failed', answer: messageOf(error) }));
    // That some people's server says "later" is no outage of the receiver.
    if (!delivery.notice.isRest) this.#options.watch?.answered(receiver, answer);
    lane.finish(delivery, answer, clock.elapsedMs());
    if (answer.outcome === 'accepted' && !delivery.isRenewal) {
      const tookMs = clock.elapsedMs() - delivery.dueSinceMs;
      metrics.alertAcceptedSeconds.observe({ receiver }, tookMs / 1000);
    }
    this.#logOutage(lane);
    await Promise.race([this.#log.recorded(), clock.sleep(recordMs)]);
    lane.release(delivery, clock.elapsedMs());
    this.#pump(lane);
  }

  #onRow(row: UntimedRow, isRenewal: boolean): void {
    const { receiver, outcome } = row;
    this.#options.metrics.alertAttempts.inc({ receiver, outcome });
    // A day of renewals would be 1,440 rows that say nothing new.
    if (isRenewal) return;
    this.#options.watch?.recorded(row);
    this.#log.add({ ...row, atMs: this.#options.clock.nowMs() });
    if (outcome !== 'refused' && outcome !== 'expired') return;
    const fields = { receiver, anomaly: row.id, revision: row.revision, answer: row.answer };
    this.#options.log.error(fields, `delivery ${outcome}; it is not tried again`);
  }

  #logOutage(lane: Lane): void {
    const { log } = this.#options;
    const receiver = lane.receiver.name;
    const outage = lane.outage();
    if (outage !== undefined && !this.#away.has(receiver)) {
      this.#away.add(receiver);
      log.warn({ receiver, answer: outage.answer }, 'a receiver did not accept; retrying');
    } else if (outage === undefined && this.#away.delete(receiver)) {
      log.info({ receiver }, 'the receiver accepts again');
    }
  }

  #export(lane: Lane): void {
    const { clock, metrics } = this.#options;
    const receiver = lane.receiver.name;
    const { due, oldestMs } = lane.backlog();
    const ageMs = oldestMs === undefined ? 0 : clock.elapsedMs() - oldestMs;
    metrics.alertsDue.set({ receiver }, due);
    metrics.alertOldestDueSeconds.set({ receiver }, ageMs / 1000);
  }
}

/**
 * Fills a lane with what may be due. Ages are kept: what was due an hour ago is an hour old. Time in which it was
 * muted does not count.
 */
function restore(
  lane: Lane,
  state: OutboxState,
  mutes: readonly Mute[],
  { elapsedMs, nowMs }: { readonly elapsedMs: number; readonly nowMs: number },
): void {
  const { name } = lane.receiver;
  const registeredMs = state.sinceMs.get(name) ?? 0;
  const settled = new Map(
    state.settled.filter(({ receiver }) => receiver === name).map((each) => [each.id, each]),
  );
  const before = new Map<string, DeliveredBefore>();
  for (const [id, events] of eventsById(state)) {
    const known = deliveredBefore(lane.receiver, events, settled.get(id), registeredMs);
    const end = settled.get(id)?.accepted;
    const isLongOver = end?.state === 'resolved' && nowMs - end.atMs > renewedMs;
    if (known !== undefined && !isLongOver) before.set(id, known);
  }
  for (const { event, writtenMs } of state.events) {
    const known = before.get(event.id);
    if (known === undefined) continue;
    const unmutedMs = mutes
      .filter((mute) => mute.untilMs <= nowMs && covers(mute, event))
      .map(({ untilMs }) => untilMs);
    const ageMs = Math.max(0, nowMs - Math.max(writtenMs, registeredMs, ...unmutedMs));
    lane.add(event, elapsedMs - ageMs, known);
  }
}

function eventsById({ events }: OutboxState): Map<string, StoredEvent[]> {
  const byId = new Map<string, StoredEvent[]>();
  for (const stored of events) {
    const known = byId.get(stored.event.id);
    if (known === undefined) byId.set(stored.event.id, [stored]);
    else known.push(stored);
  }
  return byId;
}
