import { minuteMs } from '../../base/time.ts';
import type { AnomalyEvent, Resolution } from '../../contract/anomaly-event.ts';
import { withAsOf } from '../../contract/as-of.ts';
import { type StateArchive, serializeFields } from '../../snapshot/archive.ts';
import { serializeEvent } from '../event/serialize-event.ts';
import { riseReason } from '../event/severity-reason.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { FlapHistory } from './flap-history.ts';
import type { EventUpdate, OpenAnomaly } from './open-anomaly.ts';
import { peakField, sizeOf } from './peak.ts';

/** A detector's evaluation of one window, computed on demand. */
export interface Evaluation<Open extends OpenAnomaly = OpenAnomaly> {
  /** Pause after which the series has no traffic, where that is known; ten minutes at least. */
  readonly noTrafficAfterMs?: number;
  /** Reports whether the anomaly persists; undefined with too little traffic. Called once a window. */
  isAnomalous(open: Open): boolean | undefined;
  /** The event, if the window opens an anomaly. */
  opening(): AnomalyEvent | undefined;
  /** Called with the anomaly that the window has opened. */
  opened?(open: Open): void;
  /** New values of an open anomaly's event, if they justify an update. */
  update(open: Open): EventUpdate | undefined;
  /** The event's measurements as they are in this window; undefined where it has none. */
  present(open: Open): EventUpdate | undefined;
  /** True if enough of its windows are known to become the baseline; called after `isAnomalous`. */
  isRebaselinable(): boolean;
  resolvedSummary(open: Open, resolution: Resolution): string;
  /** Called when the anomaly is over, even if it was never emitted. */
  ended(resolution: Resolution, open: Open): void;
}

export type OpenClass<Open extends OpenAnomaly> = new (
  ...args: ConstructorParameters<typeof OpenAnomaly>
) => Open;

/**
 * At most one open anomaly at a time, from opening to resolving, of any kind. It recovers after enough
 * clear windows, ends as `no_traffic` after ten minutes that cannot be evaluated, and is rebaselined if it
 * lasts. While history is replayed nothing is emitted, and no emitted anomaly is resolved.
 */
export class AnomalyLifecycle<Open extends OpenAnomaly = OpenAnomaly> {
  readonly #options: DetectOptions;
  readonly #Open: OpenClass<Open>;
  #open: Open | undefined;
  #restored: AnomalyEvent | undefined;
  readonly #flaps: FlapHistory;

  /** @param flaps shared by the lifecycles of a series that has several. */
  constructor(options: DetectOptions, open: OpenClass<Open>, flaps = new FlapHistory()) {
    this.#options = options;
    this.#Open = open;
    this.#flaps = flaps;
  }

  /** The open anomaly; undefined while none is, or while one is restored that no step has reached. */
  get open(): Open | undefined {
    return this.#open;
  }

  get isOpen(): boolean {
    return this.#open !== undefined || this.#restored !== undefined;
  }

  /** As `AnomalyOwner.restore`. */
  restore(event: AnomalyEvent): void {
    this.#restored = event;
  }

  /** Last event of the open or the restored anomaly. */
  get event(): AnomalyEvent | undefined {
    return this.#restored ?? this.#open?.event;
  }

  /** As `AnomalyOwner.adopt`. */
  adopt(published: AnomalyEvent): void {
    const event = this.#open?.event;
    if (event?.id !== published.id || event.revision !== published.revision) return;
    this.#open?.adopt(published);
  }

  /**
   * As `AnomalyOwner.reconcile`, of its one anomaly.
   *
   * @returns whether the open anomaly is over.
   */
  reconcile(open: AnomalyEvent | undefined, isPublished: (id: string) => boolean): boolean {
    const own = this.#open?.isEmitted === true ? this.#open : undefined;
    this.#restored = undefined;
    if (open !== undefined) {
      const isSame = own?.event.id === open.id && own.event.revision === open.revision;
      if (isSame) own.adopt(open);
      else this.#restored = open;
    } else if (own !== undefined) {
      if (isPublished(own.event.id)) {
        this.#open = undefined;
        return true;
      }
      // Pending: it is emitted if the anomaly still opens.
      own.isEmitted = false;
    }
    return false;
  }

  serialize(state: StateArchive): void {
    state.section('anomaly lifecycle', 1, () => {
      this.#open = state.optional(this.#open, (open) => this.#serializeOpen(state, open));
      this.#restored = state.optional(this.#restored, (event) => serializeEvent(state, event));
      this.#flaps.serialize(state);
    });
  }

  #serializeOpen(state: StateArchive, open: Open | undefined): Open {
    const event = serializeEvent(state, open?.event);
    const isEmitted = state.flag(open?.isEmitted ?? false);
    const policy = serializeFields(state, open?.policy, { clearWindows: 0, decayedMs: 0 });
    const restored = open ?? new this.#Open(event, this.#options, isEmitted, policy);
    restored.serialize(state);
    return restored;
  }

  step(startMs: number, evaluation: Evaluation<Open>, context: StepContext) {
    this.install(startMs, context.live);
    if (this.#open !== undefined) return this.#observe(this.#open, startMs, evaluation, context);
    const opening = evaluation.opening();
    if (opening === undefined) return undefined;
    const dated = this.#dated(opening, startMs);
    const event = { ...dated, ...peakField(sizeOf(dated)) };
    const open = this.#begin(event, context.live, startMs);
    evaluation.opened?.(open);
    open.begin();
    return context.live ? event : undefined;
  }

  /** Opens the restored anomaly, once a step has reached it. */
  install(startMs: number, live: boolean): void {
    const event = this.#restored;
    if (event === undefined || (!live && startMs < Date.parse(event.started_at))) return;
    this.#restored = undefined;
    // A replay may have opened the same anomaly; the emitted one counts.
    this.#flaps.forgetFrom(Date.parse(event.started_at), event.stage);
    this.#begin(event, true, startMs);
  }

  #begin(event: AnomalyEvent, isEmitted: boolean, startMs: number): Open {
    const startedAtMs = Date.parse(event.started_at);
    const policy = this.#flaps.resolvePolicy(startedAtMs, this.#options, event.stage);
    this.#flaps.opened(startedAtMs, event.stage);
    const open = new this.#Open(event, this.#options, isEmitted, policy);
    open.start(startMs);
    this.#open = open;
    return open;
  }

  #observe(open: Open, startMs: number, evaluation: Evaluation<Open>, context: StepContext) {
    open.reach(startMs);
    const isAnomalous = evaluation.isAnomalous(open);
    if (isAnomalous !== undefined) {
      open.count(startMs, isAnomalous);
      this.#measure(open, startMs, evaluation);
    }
    if (!context.live && open.isEmitted) {
      // Only a live window may resolve an emitted anomaly.
      open.holdOpen();
      return undefined;
    }
    if (open.hasDecayed) this.#flaps.decayed(startMs, open.event.stage);
    const resolution = this.#resolution(open, startMs, evaluation);
    if (resolution !== undefined) return this.#end(open, resolution, evaluation, context);
    const isClear = isAnomalous === false || open.isBack;
    context.present?.set(open.event.id, { event: open.now, isClear });
    if (!context.live || isAnomalous !== true) return undefined;
    if (!open.isEmitted) {
      return evaluation.opening() === undefined ? undefined : open.emit(context.nowMs);
    }
    return this.#update(open, startMs, evaluation, context.nowMs);
  }

  /** Measures an open anomaly as it is now: for its peak, and for an event of its incident. */
  #measure(open: Open, startMs: number, evaluation: Evaluation<Open>): void {
    const { measured_at } = open.event;
    // A replay begins with the windows that the event is of.
    if (measured_at !== undefined && startMs < Date.parse(measured_at)) return;
    const measured = evaluation.present(open);
    if (measured === undefined) return;
    // Severity rises by an event of its own.
    const { severity: _, ...size } = measured;
    open.measured(this.#dated(size, startMs));
  }

  /** Says up to when it is measured: up to the end of the window, unless it says so itself. */
  #dated<Fields extends EventUpdate>(fields: Fields, startMs: number): Fields {
    const endMs = startMs + this.#options.window;
    const { measured_at = new Date(endMs).toISOString(), summary } = fields;
    const dated = { ...fields, measured_at };
    return summary === undefined ? dated : { ...dated, summary: withAsOf(summary, measured_at) };
  }

  #resolution(open: Open, startMs: number, evaluation: Evaluation<Open>): Resolution | undefined {
    const { rebaseline_after, baseline, window } = this.#options;
    if (open.isOver) return 'recovered';
    const pauseMs = Math.max(10 * minuteMs, 30 * window, evaluation.noTrafficAfterMs ?? 0);
    if (open.silentMs(startMs) >= pauseMs) return 'no_traffic';
    const isLong = startMs - open.startedAtMs >= Math.max(rebaseline_after, baseline);
    return isLong && evaluation.isRebaselinable() ? 'rebaselined' : undefined;
  }

  #end(open: Open, resolution: Resolution, evaluation: Evaluation<Open>, { nowMs }: StepContext) {
    this.#open = undefined;
    evaluation.ended(resolution, open);
    if (!open.isEmitted) return undefined;
    return open.resolve(resolution, evaluation.resolvedSummary(open, resolution), nowMs);
  }

  /** Emits an update: at once when the anomaly becomes critical, else after the backoff. */
  #update(
    open: Open,
    startMs: number,
    evaluation: Evaluation<Open>,
    nowMs: number,
  ): AnomalyEvent | undefined {
    const { severity } = open.event;
    const update = evaluation.update(open);
    if (update === undefined) return undefined;
    const rises = severity !== 'critical' && update.severity === 'critical';
    if (!rises && !open.isUpdateDue) return undefined;
    const dated = this.#dated({ ...update, severity: rises ? 'critical' : severity }, startMs);
    const severity_reason = riseReason({ ...open.event, ...dated });
    return open.update({ ...dated, ...(rises && { severity_reason }) }, nowMs);
  }
}
