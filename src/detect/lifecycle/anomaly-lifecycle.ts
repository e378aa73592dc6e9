import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { serializeEvent } from '../event/snapshot-event.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../step/detector-step.ts';
import { EventChain, type EventUpdate } from './event-chain.ts';
import { reconcileOpen } from './reconcile-open.ts';

/** A detector's evaluation of one window, computed on demand. */
export interface Judgement {
  /** Reports whether the event's anomaly persists; undefined where the window has too little traffic. */
  isAnomalous(event: AnomalyEvent): boolean | undefined;
  /** The event, if the window opens an anomaly. */
  opening(): AnomalyEvent | undefined;
  /** New values of an open anomaly's event, if they justify an update. */
  update(event: AnomalyEvent): EventUpdate | undefined;
  /** True if it has lasted long enough to become the baseline. */
  readonly isRebaselinable: boolean;
  resolvedSummary(event: AnomalyEvent, resolution: Resolution): string;
  /** Called when the anomaly is over, even if it was never emitted. */
  ended(resolution: Resolution): void;
}

const minuteMs = 60_000;
/** Each opening within the last hour doubles the clear windows needed, up to this often. */
const maxBackoff = 4;

/**
 * At most one open anomaly at a time, from opening to resolving, of any kind. It recovers after enough
 * clear windows, ends as `no_traffic` after ten minutes that cannot be evaluated, and is rebaselined if it
 * lasts. While history is replayed nothing is emitted, and no emitted anomaly is resolved.
 */
export class AnomalyLifecycle {
  readonly #options: DetectOptions;
  #open: EventChain | undefined;
  #restored: AnomalyEvent | undefined;
  #openedMs: number[] = [];
  #clearWindowsNeeded = 0;
  #lastJudgedMs = Number.NaN;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined || this.#restored !== undefined;
  }

  /** Start of the open anomaly; undefined without one. */
  get openSinceMs(): number | undefined {
    return this.#open?.startedAtMs;
  }

  /** Time of its first event; undefined without an open anomaly. */
  get detectedMs(): number | undefined {
    return this.#open && Date.parse(this.#open.event.detected_at);
  }

  /** Restores an open anomaly from its last event, at its start or in the next live step. */
  restore(event: AnomalyEvent): void {
    this.#restored = event;
  }

  /** Replaces the own event by the published one, if it is the same revision of the same anomaly. */
  adopt(published: AnomalyEvent): void {
    const event = this.#open?.event;
    if (event?.id === published.id && event.revision === published.revision)
      this.#open?.adopt(published);
  }

  /**
   * Reconciles its anomaly with the published one, which wins, after windows without emitted events.
   *
   * @param open the last published event of the open anomaly, if there is one.
   * @param isPublished whether any event of an anomaly was published, by its id.
   * @returns whether the open anomaly is over.
   */
  reconcile(open: AnomalyEvent | undefined, isPublished: (id: string) => boolean): boolean {
    const outcome = reconcileOpen(this.#open, open, isPublished);
    this.#restored = outcome === 'other' ? open : undefined;
    if (outcome === 'over') this.#open = undefined;
    return outcome === 'over';
  }

  serialize(state: StateArchive): void {
    state.section('anomaly track', 2, () => {
      this.#open = state.optional(this.#open, (open) =>
        EventChain.serialize(state, open, this.#options.window),
      );
      this.#restored = state.optional(this.#restored, (event) => serializeEvent(state, event));
      this.#openedMs = [...state.numbers(this.#openedMs)];
      this.#clearWindowsNeeded = state.number(this.#clearWindowsNeeded);
      this.#lastJudgedMs = state.number(this.#lastJudgedMs);
    });
  }

  step(startMs: number, judgement: Judgement, context: StepContext): AnomalyEvent | undefined {
    this.#installRestored(startMs, context.live);
    if (this.#open !== undefined) return this.#observeOpen(this.#open, startMs, judgement, context);
    const event = judgement.opening();
    if (event === undefined) return undefined;
    this.#begin(event, context.live, startMs).begin();
    return context.live ? event : undefined;
  }

  #installRestored(startMs: number, live: boolean): void {
    const event = this.#restored;
    if (event === undefined || (!live && startMs < Date.parse(event.started_at))) return;
    this.#restored = undefined;
    this.#begin(event, true, startMs);
  }

  #begin(event: AnomalyEvent, announced: boolean, startMs: number): EventChain {
    const open = new EventChain(event, announced, this.#options.window);
    open.reach(startMs);
    const { startedAtMs } = open;
    // A replay may have opened the same anomaly; the emitted one counts.
    this.#openedMs = this.#openedMs.filter(
      (ms) => ms < startedAtMs && startedAtMs - ms < 60 * minuteMs,
    );
    const doublings = Math.min(this.#openedMs.length, maxBackoff);
    this.#clearWindowsNeeded = this.#options.resolve_windows * 2 ** doublings;
    this.#openedMs.push(startedAtMs);
    this.#lastJudgedMs = startMs;
    this.#open = open;
    return open;
  }

  #observeOpen(open: EventChain, startMs: number, judgement: Judgement, context: StepContext) {
    open.reach(startMs);
    const isAnomalous = judgement.isAnomalous(open.event);
    if (isAnomalous !== undefined) {
      this.#lastJudgedMs = startMs;
      open.observe(isAnomalous);
    }
    if (!context.live && open.announced) {
      // Only a live window may resolve an emitted anomaly.
      open.holdOpen(this.#clearWindowsNeeded - 1);
      return undefined;
    }
    const resolution = this.#resolution(open, startMs, judgement);
    if (resolution !== undefined) return this.#end(open, resolution, judgement, context);
    if (!context.live || isAnomalous !== true) return undefined;
    if (!open.announced) {
      return judgement.opening() === undefined ? undefined : open.announce(context.nowMs);
    }
    return this.#update(open, judgement, context.nowMs);
  }

  #resolution(open: EventChain, startMs: number, judgement: Judgement): Resolution | undefined {
    const { rebaseline_after, baseline, window } = this.#options;
    if (open.clearWindows >= this.#clearWindowsNeeded) return 'recovered';
    if (startMs - this.#lastJudgedMs >= Math.max(10 * minuteMs, 30 * window)) return 'no_traffic';
    const isLong = startMs - open.startedAtMs >= Math.max(rebaseline_after, baseline);
    return isLong && judgement.isRebaselinable ? 'rebaselined' : undefined;
  }

  #end(open: EventChain, resolution: Resolution, judgement: Judgement, { nowMs }: StepContext) {
    this.#open = undefined;
    judgement.ended(resolution);
    if (!open.announced) return undefined;
    return open.resolve(resolution, judgement.resolvedSummary(open.event, resolution), nowMs);
  }

  /** Emits an update: at once when the anomaly becomes critical, else after the backoff. */
  #update(open: EventChain, judgement: Judgement, nowMs: number): AnomalyEvent | undefined {
    const last = open.event;
    const update = judgement.update(last);
    if (update === undefined) return undefined;
    const rises = last.severity !== 'critical' && update.severity === 'critical';
    if (!rises && !open.isUpdateDue) return undefined;
    return open.update({ ...update, severity: rises ? 'critical' : last.severity }, nowMs);
  }
}
