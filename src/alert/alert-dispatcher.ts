import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';
import type { AlertTarget } from './alert-target.ts';

export interface AlertFailure {
  readonly target: string;
  readonly error: Error;
}

/** What became of one event at each target, by the target's name. */
export interface DispatchOutcome {
  readonly delivered: readonly string[];
  readonly failed: readonly AlertFailure[];
}

export interface AlertDispatcherOptions {
  readonly targets: readonly AlertTarget[];
  /** Called for each event a target did not take, once: for the log and the metric. */
  readonly onFailure?: (failure: AlertFailure, event: AnomalyEvent) => void;
  /** Events that may wait at one target. @default {1000} */
  readonly maxQueued?: number;
}

/**
 * Hands each event to every target. Targets do not wait for each other; at one target events of
 * the same dedup key keep their order, others overtake. An event that finds a target's queue full
 * has failed there.
 */
export class AlertDispatcher {
  readonly #lanes: readonly Lane[];
  readonly #onFailure: (failure: AlertFailure, event: AnomalyEvent) => void;
  readonly #pending = new Set<Promise<unknown>>();
  #failures = 0;

  constructor({ targets, onFailure, maxQueued = 1000 }: AlertDispatcherOptions) {
    this.#lanes = targets.map((target) => new Lane(target, maxQueued));
    this.#onFailure = onFailure ?? (() => undefined);
  }

  /** Deliveries given up since the start. */
  get failures(): number {
    return this.#failures;
  }

  /** Resolves when every target has taken the event or given it up; never rejects. */
  dispatch(event: AnomalyEvent): Promise<DispatchOutcome> {
    const outcome = this.#dispatch(event);
    this.#pending.add(outcome);
    void outcome.finally(() => this.#pending.delete(outcome));
    return outcome;
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async #dispatch(event: AnomalyEvent): Promise<DispatchOutcome> {
    const errors = await Promise.all(this.#lanes.map((lane) => lane.deliver(event)));
    const delivered: string[] = [];
    const failed: AlertFailure[] = [];
    this.#lanes.forEach((lane, i) => {
      const error = errors[i];
      if (error === undefined) delivered.push(lane.name);
      else failed.push({ target: lane.name, error });
    });
    this.#failures += failed.length;
    for (const failure of failed) this.#onFailure(failure, event);
    return { delivered, failed };
  }
}

/** Deliveries under way at one target at a time. */
const maxConcurrent = 8;

interface Waiting {
  readonly event: AnomalyEvent;
  readonly done: (error: Error | undefined) => void;
}

/** The queue before one target. */
class Lane {
  readonly #target: AlertTarget;
  readonly #maxQueued: number;
  readonly #waiting: Waiting[] = [];
  readonly #busyKeys = new Set<string>();

  constructor(target: AlertTarget, maxQueued: number) {
    this.#target = target;
    this.#maxQueued = maxQueued;
  }

  get name(): string {
    return this.#target.name;
  }

  /** Resolves with the error if the target did not take the event. */
  deliver(event: AnomalyEvent): Promise<Error | undefined> {
    if (this.#waiting.length >= this.#maxQueued) {
      const message = `${this.name} has ${this.#maxQueued} events waiting: its queue is full`;
      return Promise.resolve(new Error(message));
    }
    return new Promise((done) => {
      this.#waiting.push({ event, done });
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#busyKeys.size < maxConcurrent) {
      const next = this.#waiting.findIndex(({ event }) => !this.#busyKeys.has(event.dedup_key));
      const [taken] = next < 0 ? [] : this.#waiting.splice(next, 1);
      if (taken === undefined) return;
      void this.#run(taken);
    }
  }

  async #run({ event, done }: Waiting): Promise<void> {
    this.#busyKeys.add(event.dedup_key);
    let failure: Error | undefined;
    try {
      await this.#target.deliver(event);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    this.#busyKeys.delete(event.dedup_key);
    done(failure);
    this.#pump();
  }
}
