import { totalStage } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { dedupKeyOf } from '../../contract/anomaly-identity.ts';
import type { Series } from '../../series/series-window.ts';
import type { StateArchive } from '../../snapshot/archive.ts';
import { AnomalyLifecycle, type Evaluation } from '../lifecycle/anomaly-lifecycle.ts';
import { FlapHistory } from '../lifecycle/flap-history.ts';
import { concurrentMs, type DetectOptions } from '../options/detect-options.ts';
import type { StepContext } from '../options/detector-step.ts';
import { OpenTail } from './open-tail.ts';
import type { ShiftVerdict } from './shift-verdict.ts';

type TailLifecycle = AnomalyLifecycle<OpenTail>;

/**
 * Open anomalies of a series, one a cause, each with its own lifecycle. A stage is explained by an anomaly
 * that began with it: queues build up behind a slow stage. One that gets slow later has another cause.
 */
export class OpenTails {
  readonly #options: DetectOptions;
  readonly #flaps = new FlapHistory();
  #all: TailLifecycle[] = [];

  constructor(options: DetectOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#all.some(({ isOpen }) => isOpen);
  }

  /** Open anomalies in the order of their lifecycles; without those restored that no step has reached. */
  get open(): OpenTail[] {
    return this.#all.flatMap(({ open }) => open ?? []);
  }

  /** As `AnomalyOwner.restore`. */
  restore(event: AnomalyEvent): void {
    this.#idle().restore(event);
  }

  /** As `AnomalyOwner.adopt`. */
  adopt(published: AnomalyEvent): void {
    for (const lifecycle of this.#all) lifecycle.adopt(published);
  }

  /**
   * As `AnomalyOwner.reconcile`. A published anomaly is the own one of the same id, else of the same stage, as late
   * requests may give it another start.
   *
   * @returns its own anomalies that are over.
   */
  reconcile(published: readonly AnomalyEvent[], isPublished: (id: string) => boolean): OpenTail[] {
    const left = new Set(published);
    const found = new Map<TailLifecycle, AnomalyEvent>();
    const isAlike = [
      (own: AnomalyEvent, other: AnomalyEvent) => own.id === other.id,
      (own: AnomalyEvent, other: AnomalyEvent) => own.stage === other.stage,
      () => true,
    ];
    for (const isSame of isAlike) {
      for (const lifecycle of this.#all) {
        const { event } = lifecycle;
        if (event === undefined || found.has(lifecycle)) continue;
        const same = [...left].find((other) => isSame(event, other));
        if (same === undefined) continue;
        found.set(lifecycle, same);
        left.delete(same);
      }
    }
    const over = this.#all.flatMap((lifecycle) => {
      const { open } = lifecycle;
      return lifecycle.reconcile(found.get(lifecycle), isPublished) && open ? open : [];
    });
    for (const event of left) this.restore(event);
    return over;
  }

  serialize(state: StateArchive): void {
    state.section('open tails', 1, () => {
      this.#all = state.list(this.#all, (lifecycle = this.#new()) => {
        lifecycle.serialize(state);
        return lifecycle;
      });
      this.#flaps.serialize(state);
    });
  }

  /** Opens restored anomalies that a step has reached. */
  install(startMs: number, live: boolean): void {
    for (const lifecycle of this.#all) lifecycle.install(startMs, live);
  }

  /** Steps all open anomalies; where none of them ends, another one may open. */
  step(
    startMs: number,
    context: StepContext,
    evaluationOf: (lifecycle: TailLifecycle) => Evaluation<OpenTail>,
  ): AnomalyEvent[] {
    const before = this.#all.filter(({ isOpen }) => isOpen);
    const step = (lifecycle: TailLifecycle) =>
      lifecycle.step(startMs, evaluationOf(lifecycle), context) ?? [];
    const events = before.flatMap(step);
    if (!before.every(({ isOpen }) => isOpen)) return events;
    return [...events, ...[step(this.#idle())].flat()];
  }

  /** Counts unusual stages of a window to the anomaly that began with them, if one did. */
  explain(verdicts: readonly ShiftVerdict[]): void {
    const { open } = this;
    for (const verdict of verdicts) {
      const { stage, anomalous, exceeding } = verdict;
      if (stage === totalStage || !(anomalous || exceeding)) continue;
      if (open.some((tail) => tail.owns(stage))) continue;
      // Of several the latest: before it, the stage was clear.
      const began = open.filter((tail) => !this.isLater(tail, verdict));
      began.toSorted((a, b) => b.startedAtMs - a.startedAtMs)[0]?.explain(stage);
    }
  }

  /** Reports whether the evidence against a stage, not the total, began too late for an anomaly to explain it. */
  isLater(tail: OpenTail, { stage, startedAtMs, anomalous, exceeding }: ShiftVerdict): boolean {
    if (stage === totalStage || !(anomalous || exceeding) || tail.owns(stage)) return false;
    return startedAtMs > tail.startedAtMs + concurrentMs(this.#options);
  }

  /** Reports whether an unusual stage, not the lead, holds an anomaly open. The total does while it has one cause. */
  isOther(tail: OpenTail, { stage }: ShiftVerdict, verdicts: readonly ShiftVerdict[]): boolean {
    if (stage === tail.lead.stage) return false;
    if (stage !== totalStage) return tail.owns(stage);
    const { open } = this;
    return open.length === 1 && !verdicts.some((verdict) => this.isLater(tail, verdict));
  }

  /** Reports whether it is the only cause, and was the first of its series. */
  isAlone({ event }: OpenTail, series: Series): boolean {
    return this.open.length === 1 && event.dedup_key === dedupKeyOf(event.kind, series);
  }

  /** Reports whether what an anomaly measures is the total, and shows another cause, too. */
  isMixed(tail: OpenTail, verdicts: readonly ShiftVerdict[]): boolean {
    if (tail.lead.stage !== totalStage) return false;
    return verdicts.some((verdict) => this.isLater(tail, verdict));
  }

  /** A lifecycle without an anomaly. */
  #idle(): TailLifecycle {
    const idle = this.#all.find(({ isOpen }) => !isOpen);
    if (idle !== undefined) return idle;
    const lifecycle = this.#new();
    this.#all.push(lifecycle);
    return lifecycle;
  }

  #new(): TailLifecycle {
    return new AnomalyLifecycle(this.#options, OpenTail, this.#flaps);
  }
}
