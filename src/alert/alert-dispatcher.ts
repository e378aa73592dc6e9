import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';
import type { AlertTarget } from './alert-target.ts';

export interface AlertFailure {
  readonly target: string;
  readonly error: Error;
}

/** Result of one event at each target, by the target's name. */
export interface DispatchOutcome {
  readonly delivered: readonly string[];
  readonly failed: readonly AlertFailure[];
}

export interface AlertDispatcherOptions {
  readonly targets: readonly AlertTarget[];
  /** Called once for each event that a target failed to deliver: for the log and the metric. */
  readonly onFailure?: (failure: AlertFailure, event: AnomalyEvent) => void;
  /** Events that may wait at one target. @default {1000} */
  readonly maxQueued?: number;
}

/**
 * Delivers each event to every target. Targets do not wait for each other. At one target, events of one dedup
 * key keep their order and may be overtaken by others. An event that finds a target's queue full has failed
 * there.
 */
export class AlertDispatcher {
  readonly #queues: readonly TargetQueue[];
  readonly #onFailure: (failure: AlertFailure, event: AnomalyEvent) => void;
  readonly #pending = new Set<Promise<unknown>>();
  #failures = 0;

  constructor({ targets, onFailure, maxQueued = 1000 }: AlertDispatcherOptions) {
    this.#queues = targets.map((target) => new TargetQueue(target, maxQueued));
    this.#onFailure = onFailure ?? (() => undefined);
  }

  /** Deliveries given up since the start. */
  get failures(): number {
    return this.#failures;
  }

  /** Resolves when every target has delivered the event or given it up; never rejects. */
  dispatch(event: AnomalyEvent): Promise<DispatchOutcome> {
    const outcome = this.#dispatch(event);
    this.#pending.add(outcome);
    void outcome.finally(() => this.#pending.delete(outcome));
    return outcome;
  }

  /** Resolves when no delivery is under way. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async #dispatch(event: AnomalyEvent): Promise<DispatchOutcome> {
    const errors = await Promise.all(this.#queues.map((queue) => queue.deliver(event)));
    const delivered: string[] = [];
    const failed: AlertFailure[] = [];
    this.#queues.forEach((queue, i) => {
      const error = errors[i];
      if (error === undefined) delivered.push(queue.name);
      else failed.push({ target: queue.name, error });
    });
    this.#failures += failed.length;
    for (const failure of failed) this.#onFailure(failure, event);
    return { delivered, failed };
  }
}

/** Concurrent deliveries at one target. */
const maxConcurrent = 8;

interface Waiting {
  readonly event: AnomalyEvent;
  readonly done: (error: Error | undefined) => void;
}

/** The queue before one target. */
class TargetQueue {
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

  /** Resolves with the error if delivery failed. */
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
