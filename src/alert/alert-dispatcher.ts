import type { AnomalyEvent } from '../detect/event/anomaly-event.ts';
import type { AlertTarget } from './alert-target.ts';

export interface AlertFailure {
  readonly target: string;
  readonly error: Error;
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

  constructor({ targets, onFailure, maxQueued = 1000 }: AlertDispatcherOptions) {
    this.#queues = targets.map((target) => new TargetQueue(target, maxQueued));
    this.#onFailure = onFailure ?? (() => undefined);
  }

  /** Resolves with the failures when every target has delivered the event or given it up; never rejects. */
  async dispatch(event: AnomalyEvent): Promise<readonly AlertFailure[]> {
    const results = await Promise.all(this.#queues.map((queue) => queue.deliver(event)));
    const failures = results.filter((failure) => failure !== undefined);
    for (const failure of failures) this.#onFailure(failure, event);
    return failures;
  }
}

/** Concurrent deliveries at one target. */
const maxConcurrent = 8;

interface Waiting {
  readonly event: AnomalyEvent;
  readonly done: (failure: AlertFailure | undefined) => void;
}

class TargetQueue {
  readonly #target: AlertTarget;
  readonly #maxQueued: number;
  readonly #waiting: Waiting[] = [];
  readonly #busyKeys = new Set<string>();

  constructor(target: AlertTarget, maxQueued: number) {
    this.#target = target;
    this.#maxQueued = maxQueued;
  }

  async deliver(event: AnomalyEvent): Promise<AlertFailure | undefined> {
    const { name } = this.#target;
    if (this.#waiting.length >= this.#maxQueued) {
      const message = `${name} has ${this.#maxQueued} events waiting: its queue is full`;
      return { target: name, error: new Error(message) };
    }
    return new Promise((done) => {
      this.#waiting.push({ event, done });
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#busyKeys.size < maxConcurrent) {
      const at = this.#waiting.findIndex(({ event }) => !this.#busyKeys.has(event.dedup_key));
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) return;
      void this.#run(next);
    }
  }

  async #run({ event, done }: Waiting): Promise<void> {
    this.#busyKeys.add(event.dedup_key);
    let failure: AlertFailure | undefined;
    try {
      await this.#target.deliver(event);
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      failure = { target: this.#target.name, error: reason };
    }
    this.#busyKeys.delete(event.dedup_key);
    done(failure);
    this.#pump();
  }
}
