import type { ClickHouseClient } from '@clickhouse/client';
import type { AlertDispatcher } from '../alert/alert-dispatcher.ts';
import type { Logger } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/schema.ts';
import type { AnomalyEvent } from '../detect/anomaly-event.ts';
import { Detector } from '../detect/detector.ts';
import { readProgress } from '../sink/read-progress.ts';
import { completeUntil, idleAfterMs } from '../sink/window-progress.ts';
import { AnomalyStore } from './anomaly-store.ts';
import { eachWindow, type WindowsAt } from './each-window.ts';

export interface WatcherOptions {
  readonly config: Config;
  /** Whose ledger tells which windows are complete. */
  readonly groupId: string;
  readonly client: ClickHouseClient;
  readonly dispatcher: AlertDispatcher;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
}

/**
 * The detect role: reads windows as they become complete, in order, has the detector judge them,
 * and hands its events on, without waiting for pagers. The table comes first, so that what was told
 * is always on record; what a crash leaves untold is told again under the same id and revision.
 */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #store: AnomalyStore;
  readonly #detector: Detector;
  /** Events that the table does not have yet, in order: the detector says each only once. */
  readonly #unstored: AnomalyEvent[] = [];
  /** Events on their way to pagers. */
  readonly #untold = new Set<Promise<unknown>>();
  /** Start of the first window that is not judged. */
  #judgedUntilMs: number | undefined;

  constructor(options: WatcherOptions) {
    const { config, client } = options;
    this.#options = options;
    this.#store = new AnomalyStore(client);
    this.#detector = new Detector({ ...config.detect, runbookUrl: config.alert.runbook_url });
  }

  /**
   * Takes up where the last detector of this group stopped: learns from the windows before, in
   * silence, and knows what is open. A first start learns from all the past and judges what comes.
   */
  async start(): Promise<void> {
    const { client, config, log } = this.#options;
    const windowMs = config.detect.window;
    const reachedMs = await this.#completeUntilMs();
    const stored = await this.#store.judgedUntilMs(this.#options.groupId);
    const judgedUntilMs =
      stored ?? (Number.isFinite(reachedMs) ? floor(reachedMs, windowMs) : undefined);
    const open = await this.#store.open();
    this.#detector.restore(open);
    if (judgedUntilMs !== undefined) {
      const fromMs = judgedUntilMs - this.#detector.historyMs;
      const past = { fromMs, toMs: judgedUntilMs, windowMs };
      for await (const { windows } of eachWindow(client, past)) this.#detector.warmUp(windows);
    }
    this.#judgedUntilMs = judgedUntilMs;
    log.info(
      {
        judged_until: judgedUntilMs === undefined ? null : new Date(judgedUntilMs).toISOString(),
        open_anomalies: open.length,
      },
      'detector ready',
    );
  }

  /** Judges every window that has become complete. */
  async step(): Promise<void> {
    const { client, config, groupId } = this.#options;
    await this.#tellAll();
    const windowMs = config.detect.window;
    const completeMs = floor((await this.#completeUntilMs()) - config.windows.grace, windowMs);
    if (!Number.isFinite(completeMs)) return;
    const fromMs = this.#judgedUntilMs ?? (await this.#firstWindowMs(completeMs));
    if (fromMs === undefined || fromMs >= completeMs) return;
    for await (const at of eachWindow(client, { fromMs, toMs: completeMs, windowMs })) {
      await this.#judge(at);
    }
    this.#judgedUntilMs = completeMs;
    // Written down only when all is told: what a crash leaves untold is judged, and told, again.
    if (this.#untold.size === 0) await this.#store.setJudgedUntilMs(groupId, completeMs);
  }

  /** Resolves when every event so far has been delivered or given up, and that is on record. */
  async settle(): Promise<void> {
    await Promise.all(this.#untold);
    if (this.#judgedUntilMs === undefined || this.#unstored.length > 0) return;
    await this.#store.setJudgedUntilMs(this.#options.groupId, this.#judgedUntilMs);
  }

  async #judge({ windows, startMs }: WindowsAt): Promise<void> {
    const { metrics, nowMs } = this.#options;
    metrics.windowsJudged.inc(windows.length);
    this.#unstored.push(...this.#detector.observe(windows, nowMs(), startMs));
    await this.#tellAll();
  }

  /** Tells what is to be told, in order. What cannot be stored stays for the next step. */
  async #tellAll(): Promise<void> {
    for (let event = this.#unstored[0]; event !== undefined; event = this.#unstored[0]) {
      await this.#tell(event);
      this.#unstored.shift();
    }
  }

  async #tell(event: AnomalyEvent): Promise<void> {
    const { config, dispatcher, log, metrics } = this.#options;
    const fromMs = Date.parse(event.started_at);
    const slowest = await this.#store.slowest(event, fromMs, fromMs + 6 * config.detect.window);
    const exemplars = slowest.map(({ trace_id }) => trace_id).filter((id) => id !== '');
    const told: AnomalyEvent = { ...event, exemplars };
    await this.#store.add(told);
    metrics.anomalies.inc({ event: event.state });
    log.warn(
      { anomaly: event.id, state: event.state, severity: event.severity, stage: event.stage },
      event.summary,
    );
    const untold: Promise<unknown> = dispatcher
      .dispatch(told)
      .finally(() => this.#untold.delete(untold));
    this.#untold.add(untold);
  }

  async #completeUntilMs(): Promise<number> {
    const { client, config, groupId, nowMs } = this.#options;
    const partitions = await readProgress(client, groupId);
    return completeUntil(partitions, nowMs(), idleAfterMs(config));
  }

  /** Start of the earliest stored window, where a first detector begins. */
  async #firstWindowMs(beforeMs: number): Promise<number | undefined> {
    const { client, config } = this.#options;
    const result = await client.query({
      query: `SELECT toUnixTimestamp(min(window_start)) AS seconds, count() AS found FROM latency_10s
              WHERE window_start < toDateTime({before:UInt32}, 'UTC')`,
      query_params: { before: Math.floor(beforeMs / 1000) },
      format: 'JSONEachRow',
    });
    const row = (await result.json<{ seconds: number; found: string }>())[0];
    if (row === undefined || Number(row.found) === 0) return undefined;
    return floor(Number(row.seconds) * 1000, config.detect.window);
  }
}

function floor(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}
