import type { Outbox } from '../../alert/outbox/outbox.ts';
import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { isoOf } from '../../base/time.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import type { Detector } from '../../detect/detector.ts';
import { alwaysLeading, type Handover } from '../../kafka/leadership/leadership.ts';
import { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import { explainedEvent } from '../../sink/anomalies/read-drivers.ts';
import { StateStore } from '../../sink/anomalies/state-store.ts';
import { eachWindow, type WindowsAt } from '../../sink/windows/each-window.ts';
import { readWindowRequests } from '../../sink/windows/read-window-requests.ts';
import { idleAfterMs, readProgress } from '../../sink/windows/window-progress.ts';
import { firstWindowMs } from '../../sink/windows/window-range.ts';
import type { RoleContext } from '../role.ts';
import {
  type Completeness,
  type CompletenessProbe,
  nothingWrong,
} from './completeness/completeness.ts';
import { LedgerCompleteness } from './completeness/ledger-completeness.ts';
import { measureCompleteness } from './completeness/measure-completeness.ts';
import { DetectorReplay } from './detector-replay.ts';
import { LateRequests } from './late-requests.ts';
import { LeadershipLost } from './leadership-lost.ts';
import { LimitWatch } from './limit-watch.ts';
import { PipelineHandover } from './pipeline-handover.ts';
import { PipelineHealth } from './pipeline-health.ts';

export interface WindowEvaluatorOptions
  extends Pick<RoleContext, 'config' | 'groupId' | 'client' | 'log' | 'metrics'> {
  readonly outbox: Pick<Outbox, 'start' | 'add' | 'drained' | 'stop' | 'notes'>;
  /** Makes `flush` wait until what is due is delivered, for half a minute. @default false */
  readonly drainsAtEnd?: boolean;
  readonly nowMs: () => number;
  /** Determines which windows are complete. @default the ledger alone */
  readonly completeness?: CompletenessProbe | undefined;
  /** Checked before anything is written or emitted. @default always */
  readonly isLeading?: () => boolean;
  /** Keeps events that are handed on before they can be stored. @default nowhere */
  readonly handover?: Handover;
}

/** Windows per record of progress. */
const WINDOWS_A_PIECE = 360;
/** A snapshot that takes longer is not saved again at the end. */
const QUICK_SAVE_MS = 1_500;
/** Longest wait for receivers at the end of a finite source. */
const DRAIN_MS = 30_000;
/** Longest wait for attempts under way, and for their records. */
const LAST_ATTEMPTS_MS = 1_500;

/** An event to store and hand on, and the window that caused it. */
interface Unstored {
  readonly event: AnomalyEvent;
  readonly startMs: number;
  /** True if it was handed on before it could be stored. */
  readonly isEmitted?: boolean;
}

/**
 * The detect role: reads complete windows in order, evaluates them, and stores events. The outbox delivers them;
 * it reads from the table what a predecessor left, so progress does not wait for receivers. After a crash,
 * events are published again under the same id and revision.
 *
 * The detector's state is saved at an interval, once everything before is evaluated, stored and recorded.
 * A successor replays the windows since without emitting events; its state then equals its predecessor's. See
 * docs/explained/detection-takeover.md, "Restart".
 */
export class WindowEvaluator {
  readonly #options: WindowEvaluatorOptions;
  readonly #store: AnomalyStore;
  readonly #states: StateStore;
  readonly #limits: LimitWatch;
  readonly #completeness: CompletenessProbe;
  readonly #health: PipelineHealth;
  readonly #handover: PipelineHandover;
  readonly #replay: DetectorReplay;
  #detector: Detector;
  /** Events that are not stored yet, in order; the detector emits each only once. */
  readonly #unstored: Unstored[] = [];
  /** Start of the first window that is not evaluated. */
  #evaluatedUntilMs: number | undefined;
  /** The last window with events of a previous detector that are later than its recorded progress. */
  #emittedUntilMs: number | undefined;
  readonly #late = new LateRequests();
  /** Start of the windows being re-evaluated; until that is done the detector's state is incomplete. */
  #reevaluateFromMs: number | undefined;
  #savedAsOfMs = Number.NEGATIVE_INFINITY;
  #saveTookMs = 0;

  constructor(options: WindowEvaluatorOptions) {
    this.#options = options;
    this.#store = new AnomalyStore(options.client);
    this.#states = new StateStore(options.client, options.groupId, options.nowMs());
    this.#limits = new LimitWatch(options.log, options.metrics);
    const { config, client, groupId, nowMs } = options;
    const ledger = { readProgress: () => readProgress(client, groupId), nowMs };
    this.#completeness =
      options.completeness ?? new LedgerCompleteness({ ...ledger, idleMs: idleAfterMs(config) });
    this.#health = new PipelineHealth({
      groupId,
      afterMs: config.detect.pipeline_after,
      quantile: Math.max(...config.detect.quantiles),
      runbookUrl: config.alert.runbook_url,
    });
    const { handover = alwaysLeading.handover, outbox, log } = options;
    this.#handover = new PipelineHandover({
      ...{ handover, outbox, log, store: this.#store, clock: systemClock },
    });
    this.#replay = new DetectorReplay({
      ...{ config, client, log: options.log, store: this.#store, states: this.#states },
      onEvaluated: ({ startMs, windows }) => this.#late.record(startMs, windows),
      requireLead: () => this.#requireLead(),
    });
    this.#detector = this.#replay.newDetector();
  }

  /** Clears the metrics on standby, because the leader exports them. */
  end(): void {
    void this.#options.outbox.stop(LAST_ATTEMPTS_MS);
    this.#limits.end();
    this.#options.metrics.detectorEvaluatedSeconds.set(0);
    measureCompleteness(this.#options.metrics, nothingWrong, 0, undefined);
  }

  /**
   * Continues where the group's last detector stopped: from its snapshot, or rebuilt from past windows
   * without emitting events. A first start learns from all past windows and evaluates new ones.
   */
  async start(): Promise<void> {
    const { outbox } = this.#options;
    // First: what a predecessor left is due now, and loading a detector may take minutes.
    await outbox.start();
    try {
      await this.#resumeDetector();
    } catch (error) {
      await outbox.stop(LAST_ATTEMPTS_MS);
      throw error;
    }
  }

  async #resumeDetector(): Promise<void> {
    const { config, groupId, log } = this.#options;
    const { window: windowMs } = config.detect;
    const completeness = await this.#completeness.probe();
    if (completeness.storeOutage !== undefined) throw completeness.storeOutage.error;
    const reachedMs = completeness.completeMs;
    const stored = await this.#store.evaluatedUntilMs(groupId);
    const evaluatedUntilMs =
      stored ?? (Number.isFinite(reachedMs) ? floor(reachedMs, windowMs) : undefined);
    const asOfMs = await this.#resume(evaluatedUntilMs, stored);
    if (evaluatedUntilMs !== undefined) this.#setEvaluatedUntil(evaluatedUntilMs);
    this.#limits.observe(this.#detector.stats);
    await this.#handover.take((evaluatedUntilMs ?? 0) - windowMs);
    this.#health.restore(await this.#store.open());
    const storedMs = await this.#store.lastStoredMs();
    this.#requireLead();
    const isAhead =
      storedMs !== undefined && evaluatedUntilMs !== undefined && storedMs >= evaluatedUntilMs;
    this.#emittedUntilMs = isAhead ? storedMs : undefined;
    const fields = { judged_until: isoOf(evaluatedUntilMs), ...this.#stateFields(asOfMs) };
    log.info(fields, 'detector ready');
  }

  /** @param asOfMs time of the snapshot that the detector was restored from. */
  #stateFields(asOfMs: number | undefined) {
    const open_anomalies = this.#detector.open.filter(isPublished).length;
    return { state_as_of: isoOf(asOfMs), open_anomalies };
  }

  /** @returns the time of the snapshot that was used; undefined without one. */
  async #resume(...range: Parameters<DetectorReplay['resume']>): Promise<number | undefined> {
    const { detector, asOfMs } = await this.#replay.resume(...range);
    this.#detector = detector;
    this.#savedAsOfMs = asOfMs ?? this.#savedAsOfMs;
    return asOfMs;
  }

  problems(): string[] {
    return this.#health.problems();
  }

  notes(): string[] {
    return [...this.#health.notes(), ...this.#limits.notes(), ...this.#options.outbox.notes()];
  }

  /** Evaluates every window that has become complete. */
  async step(): Promise<void> {
    const endTimer = this.#options.metrics.detectorStepSeconds.startTimer();
    await this.#evaluateComplete();
    endTimer();
  }

  async #evaluateComplete(): Promise<void> {
    const { client, config } = this.#options;
    const windowMs = config.detect.window;
    this.#requireLead();
    const completeness = await this.#completeness.probe();
    this.#requireLead();
    const completeMs = floor(completeness.completeMs - config.windows.grace, windowMs);
    await this.#observePipeline(completeness, completeMs);
    const { storeOutage, hasAllTraffic, knownMs, behind } = completeness;
    if (storeOutage !== undefined) throw storeOutage.error;
    await this.#publishAll();
    await this.#handover.clear();
    await this.#reevaluateLate(completeness);
    if (!Number.isFinite(completeMs)) return;
    const isPart = behind.some(({ isGivenUp }) => isGivenUp);
    const ever = { fromMs: 0, toMs: completeMs, windowMs };
    let fromMs = this.#evaluatedUntilMs ?? (await firstWindowMs(client, 'latency_10s', ever));
    if (fromMs === undefined || fromMs >= completeMs) return this.#evaluateSilence(knownMs);
    while (fromMs < completeMs) {
      const toMs = Math.min(completeMs, fromMs + WINDOWS_A_PIECE * windowMs);
      const range = { fromMs, toMs, windowMs };
      for await (const at of eachWindow(client, range, this.#replay.readingFor(this.#detector))) {
        await this.#evaluate(at, hasAllTraffic);
        this.#late.record(at.startMs, at.windows, isPart);
      }
      this.#setEvaluatedUntil(toMs);
      // Progress is recorded once all events are stored: what is stored is due until it is delivered.
      await this.#recordProgress();
      fromMs = toMs;
    }
  }

  #setEvaluatedUntil(untilMs: number): void {
    this.#evaluatedUntilMs = untilMs;
    this.#options.metrics.detectorEvaluatedSeconds.set(untilMs / 1000);
  }

  /** Records progress, and ends the outbox: what is due stays due for a successor. */
  async flush(): Promise<void> {
    try {
      await this.#recordLast();
    } finally {
      await this.#endOutbox();
    }
  }

  async #endOutbox(): Promise<void> {
    const { outbox, drainsAtEnd = false, log } = this.#options;
    const due = drainsAtEnd ? await outbox.drained(DRAIN_MS) : 0;
    if (due > 0) log.warn({ due }, 'anomalies are not delivered; the next process delivers them');
    await outbox.stop(LAST_ATTEMPTS_MS);
  }

  async #recordLast(): Promise<void> {
    if (this.#evaluatedUntilMs === undefined || this.#unstored.length > 0) return;
    await this.#recordProgress(this.#saveTookMs <= QUICK_SAVE_MS);
  }

  /**
   * Exports lag and health. Events of the pipeline are left in Kafka, handed on at once and stored later, because
   * ClickHouse may be down.
   */
  async #observePipeline(completeness: Completeness, completeMs: number): Promise<void> {
    const { config, metrics, nowMs } = this.#options;
    const windowMs = config.detect.window;
    const atMs = nowMs();
    const untilMs = this.#evaluatedUntilMs;
    const pendingFromMs = completeMs > (untilMs ?? completeMs) ? untilMs : undefined;
    measureCompleteness(metrics, completeness, atMs, pendingFromMs);
    const startMs = (untilMs ?? floor(atMs, windowMs)) - windowMs;
    const events = this.#health.observe(atMs, completeness);
    if (events.length > 0) await this.#handover.leave(events);
    this.#requireLead();
    for (const event of events) {
      this.#emit(event);
      this.#unstored.push({ event, startMs, isEmitted: true });
    }
  }

  /**
   * Re-evaluates windows that received late requests, like a successor without those windows. If the query
   * fails, new windows are still evaluated.
   */
  async #reevaluateLate(completeness: Completeness): Promise<void> {
    const { log, nowMs } = this.#options;
    if (this.#reevaluateFromMs === undefined) {
      if (this.#emittedUntilMs !== undefined || !this.#late.isDue(nowMs(), completeness)) return;
      try {
        this.#reevaluateFromMs = await this.#lateFromMs();
      } catch (error) {
        log.warn({ err: messageOf(error) }, 'late requests could not be counted');
      }
      if (this.#reevaluateFromMs === undefined) return;
    }
    const untilMs = this.#evaluatedUntilMs;
    const beganMs = performance.now();
    // The old detector is dropped first to free its memory.
    this.#detector = this.#replay.newDetector();
    const asOfMs = await this.#resume(untilMs, this.#reevaluateFromMs, completeness.hasAllTraffic);
    this.#late.finished(nowMs(), performance.now() - beganMs);
    const range = { from: isoOf(this.#reevaluateFromMs), until: isoOf(untilMs) };
    log.info({ ...range, ...this.#stateFields(asOfMs) }, 'windows re-evaluated with late requests');
    this.#reevaluateFromMs = undefined;
  }

  /** Start of the first window to re-evaluate; undefined for none. */
  async #lateFromMs(): Promise<number | undefined> {
    const { client, config, log, metrics, nowMs } = this.#options;
    const range = this.#late.remembered(config.detect.window);
    const requests = await readWindowRequests(client, range);
    const snapshotsMs = await this.#states.timesMs(range.toMs);
    const selected = this.#late.select(nowMs(), requests, snapshotsMs);
    if (selected === undefined) return undefined;
    const { windows, tooOld } = selected;
    metrics.windowsEvaluatedAgain.inc(windows);
    metrics.windowsLeftLate.inc(tooOld);
    if (tooOld > 0) {
      log.warn(
        { windows: tooOld },
        'windows received more than 1 % of their requests late and are too old to be re-evaluated',
      );
    }
    return windows > 0 ? selected.fromMs : undefined;
  }

  /** Without any events event time stands still, so the clock shows how long the silence lasts. */
  async #evaluateSilence(knownMs: number | undefined): Promise<void> {
    const { config, nowMs } = this.#options;
    if (knownMs === undefined) return;
    const untilMs = knownMs - config.windows.grace;
    const events = this.#detector.silentUntil(untilMs, nowMs());
    // They are recorded for the last window, so that a successor knows them.
    const startMs = (this.#evaluatedUntilMs ?? untilMs) - config.detect.window;
    this.#unstored.push(...events.map((event) => ({ event, startMs })));
    await this.#publishAll();
  }

  async #evaluate({ windows, startMs }: WindowsAt, hasAllTraffic: boolean): Promise<void> {
    const { config, metrics, nowMs } = this.#options;
    const windowMs = config.detect.window;
    this.#requireLead();
    const { windowsEvaluated } = this.#detector.stats;
    const events = this.#detector.observe(windows, nowMs(), startMs, hasAllTraffic);
    const { stats } = this.#detector;
    metrics.windowsEvaluated.inc(stats.windowsEvaluated - windowsEvaluated);
    metrics.eventEvaluatedSeconds.observe(Math.max(0, nowMs() - startMs - windowMs) / 1000);
    this.#limits.observe(stats);
    this.#unstored.push(...events.map((event) => ({ event, startMs })));
    await this.#publishAll();
    if (this.#emittedUntilMs !== undefined && startMs >= this.#emittedUntilMs) {
      await this.#replay.reconcile(this.#detector);
      this.#emittedUntilMs = undefined;
    }
  }

  /** Publishes pending events in order. Events that cannot be stored stay for the next step. */
  async #publishAll(): Promise<void> {
    for (let next = this.#unstored[0]; next !== undefined; next = this.#unstored[0]) {
      await this.#publish(next);
      this.#unstored.shift();
    }
  }

  async #publish({ event, startMs, isEmitted = false }: Unstored): Promise<void> {
    const before = await this.#store.stored(event.id, event.revision);
    // A predecessor may have stored this event: the stored version is published.
    const published = before ?? (isEmitted ? event : await this.#explained(event));
    // The lead may have been lost during the queries.
    this.#requireLead();
    if (before === undefined) await this.#store.add(published, startMs);
    if (isEmitted) return;
    if (before !== undefined) this.#detector.adopt(before);
    if (isPublished(published)) this.#emit(published, before === undefined);
  }

  /** @param isNew false if a predecessor has counted it. */
  #emit(event: AnomalyEvent, isNew = true): void {
    const { outbox, log, metrics } = this.#options;
    if (isNew) metrics.anomalies.inc({ event: event.state });
    const { id, state, severity, stage } = event;
    log.warn({ anomaly: id, state, severity, stage }, event.summary);
    outbox.add(event);
  }

  /**
   * Records progress up to which everything is evaluated and stored; then saves a snapshot if it is due.
   */
  async #recordProgress(isEnd = false): Promise<void> {
    const { config, groupId } = this.#options;
    const asOfMs = this.#evaluatedUntilMs as number;
    this.#requireLead();
    await this.#store.setEvaluatedUntilMs(groupId, asOfMs);
    const dueMs = this.#savedAsOfMs + (isEnd ? 1 : config.detect.save_interval);
    const isHeld = this.#reevaluateFromMs !== undefined || this.#late.holdsSnapshots(asOfMs);
    if (asOfMs >= dueMs && !isHeld) await this.#saveState(asOfMs);
  }

  /** Saves a snapshot. A failure is retried at the next interval; a successor then has more to replay. */
  async #saveState(asOfMs: number): Promise<void> {
    const { log, metrics } = this.#options;
    const fromMs = performance.now();
    try {
      const bytes = await this.#states.save(asOfMs, this.#whileLeading(this.#detector.save()));
      metrics.stateSavedSeconds.set(asOfMs / 1000);
      metrics.stateSavedBytes.set(bytes);
    } catch (error) {
      if (error instanceof LeadershipLost) throw error;
      metrics.stateFailures.inc();
      log.warn({ err: messageOf(error) }, 'detector snapshot could not be saved');
    }
    this.#savedAsOfMs = asOfMs;
    this.#saveTookMs = performance.now() - fromMs;
  }

  *#whileLeading<T>(items: Iterable<T>): Generator<T, void> {
    for (const item of items) {
      this.#requireLead();
      yield item;
    }
  }

  #requireLead(): void {
    if (this.#options.isLeading?.() === false) throw new LeadershipLost();
  }

  /**
   * Adds traces of the slowest requests, and what slow requests have in common. If the latter cannot be read,
   * the event is published without it, because delivery must not wait.
   */
  async #explained(event: AnomalyEvent): Promise<AnomalyEvent> {
    const { client, config, log } = this.#options;
    const [windowMs, fromMs] = [config.detect.window, Date.parse(event.started_at)];
    const slowest = await this.#store.slowest(ofWorstSeries(event), fromMs, fromMs + 6 * windowMs);
    const exemplars = slowest.flatMap(({ trace_id: id }) => (id === '' ? [] : id));
    try {
      return await explainedEvent(client, { ...event, exemplars }, windowMs);
    } catch (error) {
      log.warn({ anomaly: event.id, err: messageOf(error) }, 'event emitted without its drivers');
      return { ...event, exemplars };
    }
  }
}

function floor(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}

/** True except for members of an incident, which are only stored. */
function isPublished({ incident_id }: AnomalyEvent): boolean {
  return incident_id === undefined;
}
