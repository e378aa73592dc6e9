import { systemClock } from '../../base/clock.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { stagesOfObjectives } from '../../contract/objectives/objective.ts';
import { Detector } from '../../detect/detector.ts';
import { detectOptionsOf } from '../../detect/options/detect-options.ts';
import type { AnomalyStore } from '../../sink/anomalies/anomaly-store.ts';
import type { StateStore } from '../../sink/anomalies/state-store.ts';
import { eachBlock, type ReadOptions, type WindowsAt } from '../../sink/windows/each-window.ts';
import { firstWindowMs, type WindowRange } from '../../sink/windows/window-range.ts';
import { UnreadableState } from '../../snapshot/archive.ts';
import type { RoleContext } from '../role.ts';
import { backfillPast } from './backfill.ts';
import { learnableFromMs } from './learnable-past.ts';

export interface DetectorReplayOptions extends Pick<RoleContext, 'config' | 'client' | 'log'> {
  readonly store: AnomalyStore;
  readonly states: StateStore;
  /** Called with each re-evaluated window. */
  readonly onEvaluated: (at: WindowsAt) => void;
  /** @throws LeadershipLost when this process is not the leader. */
  readonly requireLead: () => void;
}

/** A detector, and the time of the snapshot that it was restored from: undefined if it was rebuilt. */
export interface ResumedDetector {
  readonly detector: Detector;
  readonly asOfMs: number | undefined;
}

/** Shortest interval between two lines about the progress of a replay. */
const progressEveryMs = 10_000;

/**
 * Restores detectors from a snapshot, or rebuilds them from past windows. Replayed windows emit no events;
 * events that were emitted before are kept.
 */
export class DetectorReplay {
  readonly #options: DetectorReplayOptions;

  constructor(options: DetectorReplayOptions) {
    this.#options = options;
  }

  newDetector(): Detector {
    return new Detector(detectOptionsOf(this.#options.config));
  }

  readingFor(detector: Detector): ReadOptions {
    return {
      isWanted: (series, startMs) => detector.isWanted(series, startMs),
      always: stagesOfObjectives(this.#options.config.detect.slos),
      onTooMuch: (windows, limit) => {
        const { log } = this.#options;
        log.warn({ windows, limit }, 'too many windows for one read; halving the range');
      },
    };
  }

  /**
   * Creates a detector as of `untilMs`: from a snapshot of `snapshotMs` or earlier, else from past windows.
   *
   * @param hasAllTraffic true if the windows since the snapshot have all of their traffic.
   */
  async resume(
    untilMs: number | undefined,
    snapshotMs: number | undefined,
    hasAllTraffic = true,
  ): Promise<ResumedDetector> {
    let loaded = snapshotMs === undefined ? undefined : await this.#load(snapshotMs);
    // A later snapshot is more complete than none.
    if (loaded === undefined && untilMs !== undefined && untilMs !== snapshotMs) {
      loaded = await this.#load(untilMs);
    }
    if (loaded === undefined) return { detector: await this.#rebuild(untilMs), asOfMs: undefined };
    const { detector, asOfMs } = loaded;
    await this.#catchUp(detector, asOfMs, untilMs ?? asOfMs, hasAllTraffic);
    return loaded;
  }

  /** Restores the newest usable snapshot of that time or earlier; undefined without one. */
  async #load(untilMs: number) {
    const { log, requireLead, states } = this.#options;
    for await (const { asOfMs, shared, parts } of states.snapshots(untilMs)) {
      try {
        const detector = this.newDetector();
        const loading = detector.beginLoad(await shared());
        // Parts are loaded as they are read, so that only one is in memory.
        for await (const part of parts()) {
          requireLead();
          loading.load(part);
          await systemClock.yieldToEventLoop();
        }
        loading.end();
        return { detector, asOfMs };
      } catch (error) {
        // If ClickHouse is down, the next start may succeed.
        if (!(error instanceof UnreadableState)) throw error;
        const fields = { err: error.message, state_as_of: new Date(asOfMs).toISOString() };
        log.warn(fields, 'detector snapshot rejected; rebuilding from history');
      }
    }
    return undefined;
  }

  async #catchUp(
    detector: Detector,
    fromMs: number,
    toMs: number,
    hasAllTraffic: boolean,
  ): Promise<void> {
    const windowMs = this.#options.config.detect.window;
    for await (const block of this.#pastBlocks(detector, { fromMs, toMs, windowMs })) {
      const steps = block.map((at) => ({ ...at, nowMs: at.startMs + windowMs, hasAllTraffic }));
      detector.observeAll(steps);
      block.forEach(this.#options.onEvaluated);
    }
    await this.reconcile(detector, toMs);
  }

  async #rebuild(untilMs: number | undefined): Promise<Detector> {
    const { client, config, store, requireLead } = this.#options;
    const detector = this.newDetector();
    detector.restore((await store.open(untilMs)).filter(isOfModels));
    if (untilMs === undefined) return detector;
    const past = await this.#learnable(detector, untilMs);
    await backfillPast(client, detector, past.fromMs, config.detect, requireLead);
    for await (const block of this.#pastBlocks(detector, past)) {
      detector.warmUp(block.map(({ windows }) => windows));
    }
    return detector;
  }

  /** Replaces replayed anomalies by the emitted ones, in windows before that time. */
  async reconcile(detector: Detector, beforeMs?: number): Promise<void> {
    const { store } = this.#options;
    const open = (await store.open(beforeMs)).filter(isOfModels);
    const emitted = await store.emitted(detector.open);
    detector.reconcile(open, (id) => emitted.has(id));
  }

  /** The newest part of the history that can be read; the detector learns that older windows are left out. */
  async #learnable(detector: Detector, toMs: number): Promise<WindowRange> {
    const { client, config, log } = this.#options;
    const { window: windowMs, min_baseline_windows } = config.detect;
    const whole = { fromMs: toMs - detector.historyMs, toMs, windowMs };
    const fromMs = await learnableFromMs(client, whole, min_baseline_windows);
    if (fromMs <= whole.fromMs) return whole;
    // The estimate may leave out a time of which nothing is stored.
    const leftOut = { ...whole, toMs: fromMs };
    if ((await firstWindowMs(client, 'latency_10s', leftOut)) !== undefined) {
      detector.truncateHistory(fromMs);
      log.info(
        { from: new Date(fromMs).toISOString(), until: new Date(toMs).toISOString() },
        'history is too large to read all of it on a first start; reading its newest part',
      );
    }
    return { ...whole, fromMs };
  }

  /** Reads past windows while this process leads, and logs its progress. */
  async *#pastBlocks(
    detector: Detector,
    range: WindowRange,
  ): AsyncGenerator<readonly WindowsAt[], void> {
    const { client, log, requireLead } = this.#options;
    const { fromMs, toMs, windowMs } = range;
    let loggedMs = systemClock.elapsedMs();
    for await (const block of eachBlock(client, range, this.readingFor(detector))) {
      requireLead();
      yield block;
      const nowMs = systemClock.elapsedMs();
      if (nowMs - loggedMs < progressEveryMs) continue;
      loggedMs = nowMs;
      const { startMs } = block.at(-1) as WindowsAt;
      const percent = Math.floor((100 * (startMs + windowMs - fromMs)) / (toMs - fromMs));
      const reached = new Date(startMs).toISOString();
      log.info({ reached, until: new Date(toMs).toISOString(), percent }, 'reading past windows');
    }
  }
}

/** True for all anomalies except those of the pipeline itself, which are not in windows. */
function isOfModels({ kind }: AnomalyEvent): boolean {
  return kind !== 'pipeline';
}
