import type { StateArchive } from '../../snapshot/archive.ts';
import type { AnomalyEvent, Resolution } from '../event/anomaly-event.ts';
import { serializeEvent } from '../event/snapshot-event.ts';
import type { DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../step/detector-step.ts';
import { EventChain, type Renewed } from './event-chain.ts';
import { reconcileOpen } from './reconcile-open.ts';

/** What a detector of some kind says of one window, when it is asked. */
export interface Judgement {
  /** Whether what this event tells still goes on; undefined where the window cannot tell. */
  isOut(event: AnomalyEvent): boolean | undefined;
  /** The event, if the window opens an anomaly. */
  opening(): AnomalyEvent | undefined;
  /** What an open anomaly's event would say by now, if there is more to say than before. */
  renewed(event: AnomalyEvent): Renewed | undefined;
  /** Whether it has stayed so long that it could be the new usual. */
  readonly isRebaselinable: boolean;
  resolvedSummary(event: AnomalyEvent, resolution: Resolution): string;
  /** Called when it is over, also where nobody had been told. */
  ended(resolution: Resolution): void;
}

const minuteMs = 60_000;
/** Each anomaly that was already open in the last hour doubles the quiet a new one needs. */
const maxBackoff = 4;

/**
 * At most one open anomaly at a time, from opening to resolving, whatever its kind: what is quiet for
 * long enough has recovered, what cannot be judged for ten minutes ends without traffic, what stays
 * becomes the new usual. While history is replayed nothing goes out, and nothing that went out is
 * resolved.
 */
export class AnomalyLifecycle {
  readonly #options: DetectOptions;
  #open: EventChain | undefined;
  #restored: AnomalyEvent | undefined;
  #openings: number[] = [];
  #quietNeeded = 0;
  #lastJudgedMs = Number.NaN;

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined || this.#restored !== undefined;
  }

  /** When what is open began; undefined where nothing is. */
  get openSinceMs(): number | undefined {
    return this.#open?.startedAtMs;
  }

  /** When it was told first; undefined where nothing is open. */
  get detectedMs(): number | undefined {
    return this.#open && Date.parse(this.#open.event.detected_at);
  }

  /** Goes on with an anomaly that is open by its last event, from its start or the next live step. */
  restore(event: AnomalyEvent): void {
    this.#restored = event;
  }

  /** What others have told counts, if it is the same event of the same anomaly. */
  adopt(published: AnomalyEvent): void {
    const event = this.#open?.event;
    if (event?.id === published.id && event.revision === published.revision)
      this.#open?.adopt(published);
  }

  /**
   * After windows were judged without telling what came of it: what was told counts.
   *
   * @param open the last event of what is open by what was told, if anything is.
   * @param isKnown whether anything was told of an anomaly, by its id.
   * @returns whether what was open is over.
   */
  reconcile(open: AnomalyEvent | undefined, isKnown: (id: string) => boolean): boolean {
    const outcome = reconcileOpen(this.#open, open, isKnown);
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
      this.#openings = [...state.numbers(this.#openings)];
      this.#quietNeeded = state.number(this.#quietNeeded);
      this.#lastJudgedMs = state.number(this.#lastJudgedMs);
    });
  }

  step(startMs: number, judgement: Judgement, context: StepContext): AnomalyEvent | undefined {
    this.#install(startMs, context.live);
    if (this.#open !== undefined) return this.#observeOpen(this.#open, startMs, judgement, context);
    const event = judgement.opening();
    if (event === undefined) return undefined;
    this.#begin(event, context.live, startMs).begin();
    return context.live ? event : undefined;
  }

  #install(startMs: number, live: boolean): void {
    const event = this.#restored;
    if (event === undefined || (!live && startMs < Date.parse(event.started_at))) return;
    this.#restored = undefined;
    this.#begin(event, true, startMs);
  }

  #begin(event: AnomalyEvent, announced: boolean, startMs: number): EventChain {
    const open = new EventChain(event, announced, this.#options.window);
    open.reach(startMs);
    const { startedAtMs } = open;
    // A replay may have opened the same anomaly itself; the one that went out counts.
    this.#openings = this.#openings.filter(
      (ms) => ms < startedAtMs && startedAtMs - ms < 60 * minuteMs,
    );
    const doublings = Math.min(this.#openings.length, maxBackoff);
    this.#quietNeeded = this.#options.resolve_windows * 2 ** doublings;
    this.#openings.push(startedAtMs);
    this.#lastJudgedMs = startMs;
    this.#open = open;
    return open;
  }

  #observeOpen(open: EventChain, startMs: number, judgement: Judgement, context: StepContext) {
    open.reach(startMs);
    const isOut = judgement.isOut(open.event);
    if (isOut !== undefined) {
      this.#lastJudgedMs = startMs;
      open.observe(isOut);
    }
    if (!context.live && open.announced) {
      // Only a live window may resolve what went out as open.
      open.holdOpen(this.#quietNeeded - 1);
      return undefined;
    }
    const resolution = this.#resolution(open, startMs, judgement);
    if (resolution !== undefined) return this.#end(open, resolution, judgement, context);
    if (!context.live || isOut !== true) return undefined;
    if (!open.announced) {
      return judgement.opening() === undefined ? undefined : open.announce(context.nowMs);
    }
    return this.#update(open, judgement, context.nowMs);
  }

  #resolution(open: EventChain, startMs: number, judgement: Judgement): Resolution | undefined {
    const { rebaseline_after, baseline, window } = this.#options;
    if (open.clearWindows >= this.#quietNeeded) return 'recovered';
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

  /** Told again at once when it has become critical, else when the last event has rested. */
  #update(open: EventChain, judgement: Judgement, nowMs: number): AnomalyEvent | undefined {
    const last = open.event;
    const renewed = judgement.renewed(last);
    if (renewed === undefined) return undefined;
    const rises = last.severity !== 'critical' && renewed.severity === 'critical';
    if (!rises && !open.isUpdateDue) return undefined;
    return open.update({ ...renewed, severity: rises ? 'critical' : last.severity }, nowMs);
  }
}
