import type { AlertDispatcher } from '../../alert/alert-dispatcher.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import type { Config } from '../../config/schema.ts';
import type { Detector } from '../../detect/detector.ts';
import type { AnomalyEvent } from '../../detect/event/anomaly-event.ts';
import { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import { explainedEvent } from '../../sink/anomalies/read-drivers.ts';
import { StateStore } from '../../sink/anomalies/state-store.ts';
import type { ClickHouseClient } from '../../sink/clickhouse.ts';
import { eachWindow, type WindowsAt } from '../../sink/windows/each-window.ts';
import { firstWindowMs } from '../../sink/windows/first-window.ts';
import { readProgress } from '../../sink/windows/read-progress.ts';
import { readWindowRequests } from '../../sink/windows/read-window-requests.ts';
import { idleAfterMs } from '../../sink/windows/window-progress.ts';
import type { Completeness, CompletenessProbe } from './completeness/completeness.ts';
import { LedgerCompleteness } from './completeness/ledger-completeness.ts';
import { clearCompleteness, measureCompleteness } from './completeness/measure-completeness.ts';
import { DetectorReplay } from './detector-replay.ts';
import { LateRequests } from './late-requests.ts';
import { LeadLost } from './lead-lost.ts';
import { LimitWatch } from './limit-watch.ts';
import { PipelineHealth } from './pipeline-health.ts';

export interface WatcherOptions {
  readonly config: Config;
  /** Whose ledger tells which windows are complete. */
  readonly groupId: string;
  readonly client: ClickHouseClient;
  readonly dispatcher: AlertDispatcher;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
  /** Tells which windows are complete. @default by the ledger alone */
  readonly completeness?: CompletenessProbe;
  /** Asked before anything is written or told. @default always */
  readonly isLeading?: () => boolean;
}

/** Windows that are judged before it is put on record that they are. */
const WINDOWS_A_PIECE = 360;
/** A state that takes longer to save is not saved again on the way out. */
const QUICK_SAVE_MS = 1_500;

/** An event to be told, and the window whose judging gave it. */
interface Unstored {
  readonly event: AnomalyEvent;
  readonly startMs: number;
  /** Whether it went out before it could be stored. */
  readonly isEmitted?: boolean;
}

/**
 * The detect role: reads windows as they become complete, in order, has the detector judge them,
 * and hands its events on, without waiting for pagers. The table comes first, so that what was told
 * is always on record; what a crash leaves untold is told again under the same id and revision.
 *
 * What the detector has learnt is saved at an interval, once all before it is judged, told and on record.
 * A successor goes on from there: it judges what came since again, in silence, and then is where the last
 * one was. docs/explained/detection-takeover.md, "Restart".
 */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #store: AnomalyStore;
  readonly #states: StateStore;
  readonly #limits: LimitWatch;
  readonly #completeness: CompletenessProbe;
  readonly #health: PipelineHealth;
  readonly #replay: DetectorReplay;
  #detector: Detector;
  /** Events that the table does not have yet, in order: the detector says each only once. */
  readonly #unstored: Unstored[] = [];
  /** Events on their way to pagers. */
  readonly #undelivered = new Set<Promise<unknown>>();
  /** Start of the first window that is not judged. */
  #judgedUntilMs: number | undefined;
  /** The last window of which a detector before this one has told more than is on record as judged. */
  #emittedUntilMs: number | undefined;
  readonly #late = new LateRequests();
  /** From when on windows are being judged again; until that is done the detector does not know all of them. */
  #againFromMs: number | undefined;
  #savedAsOfMs = Number.NEGATIVE_INFINITY;
  #saveTookMs = 0;

  constructor(options: WatcherOptions) {
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
    this.#replay = new DetectorReplay({
      ...{ config, client, log: options.log, store: this.#store, states: this.#states },
      onJudged: ({ startMs, windows }) => this.#late.judged(startMs, windows),
      requireLead: () => this.#requireLead(),
    });
    this.#detector = this.#replay.newDetector();
  }

  /** This process detects no more. */
  end(): void {
    this.#limits.end();
    clearCompleteness(this.#options.metrics);
  }

  /**
   * Takes up where the last detector of this group stopped: with what it had saved, or else with what the
   * windows before teach, in silence. A first start learns from all the past and judges what comes.
   */
  async start(): Promise<void> {
    const { config, groupId, log } = this.#options;
    const { window: windowMs } = config.detect;
    const completeness = await this.#completeness.probe();
    if (completeness.storeOutage !== undefined) throw completeness.storeOutage.error;
    const reachedMs = completeness.completeMs;
    const stored = await this.#store.judgedUntilMs(groupId);
    const judgedUntilMs =
      stored ?? (Number.isFinite(reachedMs) ? floor(reachedMs, windowMs) : undefined);
    const asOfMs = await this.#resume(judgedUntilMs, stored);
    this.#judgedUntilMs = judgedUntilMs;
    this.#limits.observe(this.#detector.stats);
    this.#health.restore(await this.#store.open());
    const storedMs = await this.#store.lastStoredMs();
    const isAhead =
      storedMs !== undefined && judgedUntilMs !== undefined && storedMs >= judgedUntilMs;
    this.#emittedUntilMs = isAhead ? storedMs : undefined;
    log.info(
      {
        judged_until: isoOf(judgedUntilMs),
        state_as_of: isoOf(asOfMs),
        open_anomalies: this.#detector.open.filter(isPublished).length,
      },
      'detector ready',
    );
  }

  /**
   * Has a detector that knows all windows before a time: from a snapshot where there is one, which is of
   * `snapshotMs` or before.
   *
   * @returns when the snapshot is of; undefined where the detector has learnt anew.
   */
  async #resume(
    untilMs: number | undefined,
    snapshotMs: number | undefined,
    isWhole = true,
  ): Promise<number | undefined> {
    let loaded = snapshotMs === undefined ? undefined : await this.#replay.load(snapshotMs);
    // A later one lacks less than none.
    if (loaded === undefined && untilMs !== undefined && untilMs !== snapshotMs) {
      loaded = await this.#replay.load(untilMs);
    }
    if (loaded === undefined) {
      this.#detector = await this.#replay.learnAnew(untilMs);
      return undefined;
    }
    const { detector, asOfMs } = loaded;
    this.#savedAsOfMs = asOfMs;
    await this.#replay.catchUp(detector, { fromMs: asOfMs, toMs: untilMs ?? asOfMs, isWhole });
    this.#detector = detector;
    return asOfMs;
  }

  /** Why the detector does not keep up; empty while it does. */
  problems(): string[] {
    return this.#health.problems();
  }

  /** What an operator should know although the detector does its work. */
  notes(): string[] {
    return [...this.#health.notes(), ...this.#limits.notes()];
  }

  /** Judges every window that has become complete. */
  async step(): Promise<void> {
    const { client, config } = this.#options;
    this.#requireLead();
    const completeness = await this.#probe();
    const { storeOutage, isWhole, knownMs, behind } = completeness;
    if (storeOutage !== undefined) throw storeOutage.error;
    await this.#publishAll();
    await this.#judgeLate(completeness);
    const windowMs = config.detect.window;
    const completeMs = floor(completeness.completeMs - config.windows.grace, windowMs);
    if (!Number.isFinite(completeMs)) return;
    const ever = { fromMs: 0, toMs: completeMs, windowMs };
    let fromMs = this.#judgedUntilMs ?? (await firstWindowMs(client, ever));
    if (fromMs === undefined || fromMs >= completeMs) return this.#judgeSilence(knownMs);
    while (fromMs < completeMs) {
      const toMs = Math.min(completeMs, fromMs + WINDOWS_A_PIECE * windowMs);
      const range = { fromMs, toMs, windowMs };
      for await (const at of eachWindow(client, range, this.#replay.readingFor(this.#detector))) {
        await this.#judge(at, isWhole);
        this.#late.judged(
          at.startMs,
          at.windows,
          behind.some(({ isGivenUp }) => isGivenUp),
        );
      }
      this.#judgedUntilMs = toMs;
      // Written down only when all is told: what a crash leaves untold is judged, and told, again.
      if (this.#undelivered.size === 0) await this.#putOnRecord();
      fromMs = toMs;
    }
  }

  /** Resolves when every event so far has been delivered or given up, and that is on record. */
  async flush(): Promise<void> {
    await Promise.all(this.#undelivered);
    if (this.#judgedUntilMs === undefined || this.#unstored.length > 0) return;
    await this.#putOnRecord(this.#saveTookMs <= QUICK_SAVE_MS);
  }

  /**
   * How far windows are complete, and whether the pipeline keeps up. What is wrong with it goes out at once: the
   * table may be what is away, and has it later.
   */
  async #probe(): Promise<Completeness> {
    const { config, nowMs } = this.#options;
    const completeness = await this.#completeness.probe();
    const atMs = nowMs();
    this.#requireLead();
    const completeMs = floor(completeness.completeMs - config.windows.grace, config.detect.window);
    const unjudgedMs =
      completeMs > (this.#judgedUntilMs ?? completeMs) ? this.#judgedUntilMs : undefined;
    measureCompleteness(this.#options.metrics, completeness, atMs, unjudgedMs);
    const startMs =
      (this.#judgedUntilMs ?? floor(atMs, config.detect.window)) - config.detect.window;
    for (const event of this.#health.observe(atMs, completeness)) {
      this.#emit(event);
      this.#unstored.push({ event, startMs, isEmitted: true });
    }
    return completeness;
  }

  /**
   * Judges windows again that have received more requests since, as a successor would that knows none of them.
   * Where they cannot be counted, windows of now are judged all the same.
   */
  async #judgeLate(completeness: Completeness): Promise<void> {
    const { log, nowMs } = this.#options;
    if (this.#againFromMs === undefined) {
      if (this.#emittedUntilMs !== undefined || !this.#late.isDue(nowMs(), completeness)) return;
      try {
        this.#againFromMs = await this.#lateFromMs();
      } catch (error) {
        log.warn({ err: messageOf(error) }, 'late requests could not be counted');
      }
      if (this.#againFromMs === undefined) return;
    }
    const untilMs = this.#judgedUntilMs;
    const beganMs = performance.now();
    // What it knows is not needed any more: there is room for one.
    this.#detector = this.#replay.newDetector();
    const asOfMs = await this.#resume(untilMs, this.#againFromMs, completeness.isWhole);
    this.#late.finished(nowMs(), performance.now() - beganMs);
    log.info(
      {
        from: isoOf(this.#againFromMs),
        until: isoOf(untilMs),
        state_as_of: isoOf(asOfMs),
        open_anomalies: this.#detector.open.filter(isPublished).length,
      },
      'windows re-evaluated with late requests',
    );
    this.#againFromMs = undefined;
  }

  /** Start of the first window that is to be judged again; undefined for none. */
  async #lateFromMs(): Promise<number | undefined> {
    const { client, config, log, metrics, nowMs } = this.#options;
    const windowMs = config.detect.window;
    const remembered = this.#late.remembered;
    if (remembered === undefined) return undefined;
    const { fromMs, lastMs } = remembered;
    const range = { fromMs, toMs: lastMs + windowMs, windowMs };
    const requests = await readWindowRequests(client, range);
    const snapshotsMs = await this.#states.timesMs(range.toMs);
    const again = this.#late.again(nowMs(), requests, snapshotsMs);
    if (again === undefined) return undefined;
    const { windows, left } = again;
    metrics.windowsJudgedAgain.inc(windows);
    metrics.windowsLeftLate.inc(left);
    if (left > 0) {
      log.warn(
        { windows: left },
        'windows received more than 1 % of their requests late and are too old to be re-evaluated',
      );
    }
    return windows > 0 ? again.fromMs : undefined;
  }

  /** Event time stands still when nothing comes at all: then the clock says how long it has been. */
  async #judgeSilence(knownMs: number | undefined): Promise<void> {
    const { config, nowMs } = this.#options;
    if (knownMs === undefined) return;
    const untilMs = knownMs - config.windows.grace;
    const events = this.#detector.silentUntil(untilMs, nowMs());
    // On record they are of the last window: who goes on after it knows of them.
    const startMs = (this.#judgedUntilMs ?? untilMs) - config.detect.window;
    this.#unstored.push(...events.map((event) => ({ event, startMs })));
    await this.#publishAll();
  }

  async #judge({ windows, startMs }: WindowsAt, isWhole: boolean): Promise<void> {
    const { metrics, nowMs } = this.#options;
    this.#requireLead();
    const { windowsJudged } = this.#detector.stats;
    const events = this.#detector.observe(windows, nowMs(), startMs, isWhole);
    const { stats } = this.#detector;
    metrics.windowsJudged.inc(stats.windowsJudged - windowsJudged);
    this.#limits.observe(stats);
    this.#unstored.push(...events.map((event) => ({ event, startMs })));
    await this.#publishAll();
    if (this.#emittedUntilMs !== undefined && startMs >= this.#emittedUntilMs) {
      await this.#replay.reconcile(this.#detector);
      this.#emittedUntilMs = undefined;
    }
  }

  /** Tells what is to be told, in order. What cannot be stored stays for the next step. */
  async #publishAll(): Promise<void> {
    for (let next = this.#unstored[0]; next !== undefined; next = this.#unstored[0]) {
      await this.#publish(next);
      this.#unstored.shift();
    }
  }

  async #publish({ event, startMs, isEmitted = false }: Unstored): Promise<void> {
    const before = await this.#store.stored(event.id, event.revision);
    this.#requireLead();
    if (isEmitted) {
      if (before === undefined) await this.#store.add(event, startMs);
      return;
    }
    const published = before ?? (await this.#explained(await this.#withExemplars(event)));
    // Another one has put it on record, and perhaps told nobody yet: it goes out as it is there.
    if (before === undefined) await this.#store.add(published, startMs);
    else this.#detector.adopt(before);
    if (isPublished(published)) this.#emit(published, before === undefined);
  }

  /** @param isNew false where another one has counted it. */
  #emit(event: AnomalyEvent, isNew = true): void {
    const { dispatcher, log, metrics } = this.#options;
    if (isNew) metrics.anomalies.inc({ event: event.state });
    const { id, state, severity, stage } = event;
    log.warn({ anomaly: id, state, severity, stage }, event.summary);
    const undelivered: Promise<unknown> = dispatcher
      .dispatch(event)
      .finally(() => this.#undelivered.delete(undelivered));
    this.#undelivered.add(undelivered);
  }

  async #withExemplars(event: AnomalyEvent): Promise<AnomalyEvent> {
    const fromMs = Date.parse(event.started_at);
    const toMs = fromMs + 6 * this.#options.config.detect.window;
    const slowest = await this.#store.slowest(event, fromMs, toMs);
    return {
      ...event,
      exemplars: slowest.map(({ trace_id }) => trace_id).filter((id) => id !== ''),
    };
  }

  /** Puts on record up to where all is judged and told; then what was learnt by then may be saved. */
  async #putOnRecord(isEnd = false): Promise<void> {
    const { config, groupId } = this.#options;
    const asOfMs = this.#judgedUntilMs as number;
    this.#requireLead();
    await this.#store.setJudgedUntilMs(groupId, asOfMs);
    const dueMs = this.#savedAsOfMs + (isEnd ? 1 : config.detect.save_interval);
    const isHeld = this.#againFromMs !== undefined || this.#late.holdsSnapshots(asOfMs);
    if (asOfMs >= dueMs && !isHeld) await this.#saveState(asOfMs);
  }

  /** A state that cannot be saved is saved at the next interval: whoever follows has more to judge again. */
  async #saveState(asOfMs: number): Promise<void> {
    const { log, metrics } = this.#options;
    const fromMs = performance.now();
    try {
      const bytes = await this.#states.save(asOfMs, this.#whileLeading(this.#detector.save()));
      metrics.stateSavedSeconds.set(asOfMs / 1000);
      metrics.stateSavedBytes.set(bytes);
    } catch (error) {
      if (error instanceof LeadLost) throw error;
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
    if (this.#options.isLeading?.() === false) throw new LeadLost();
  }

  /**
   * With what slow requests have in common, in the windows that were added up: the same for every event that
   * measures nothing anew. Who is woken must not wait for it: where it cannot be read, the event goes without.
   */
  async #explained(event: AnomalyEvent): Promise<AnomalyEvent> {
    const { client, config, log } = this.#options;
    try {
      return await explainedEvent(client, event, config.detect.window);
    } catch (error) {
      log.warn({ anomaly: event.id, err: messageOf(error) }, 'event emitted without its drivers');
      return event;
    }
  }
}

function floor(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}

function isoOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** All but series of an anomaly that is told as a whole: they are for the table only. */
function isPublished({ incident_id }: AnomalyEvent): boolean {
  return incident_id === undefined;
}
