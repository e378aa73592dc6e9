/** Owner of an event: its events wait while it is stopped, and are void when it is gone. */
export interface Owner {
  readonly name: string;
  state: 'up' | 'frozen' | 'dead';
}

export interface ScheduledEvent {
  readonly atMs: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly action: () => void;
  isCancelled: boolean;
}

const MOST_EVENTS = 200_000;

/** A real turn of the event loop: after it, this thread has no microtask and no tick left. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Virtual time and its due events, in order of time, then of request. An event of an owner runs to its last
 * microtask before the next one starts, so `current` is right wherever its code reads it.
 */
export class Scheduler {
  #nowMs = 0;
  #order = 0;
  #current: Owner | undefined;
  readonly #heap: ScheduledEvent[] = [];
  readonly #held = new Map<Owner, ScheduledEvent[]>();
  /** Events that happened. */
  eventCount = 0;
  /** Hash of every event that happened: equal for equal runs. */
  fingerprint = 0;

  /** Milliseconds since the start of the run. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** The owner whose code runs at this moment. */
  get current(): Owner | undefined {
    return this.#current;
  }

  /** Schedules an event of `owner`; undefined: of a server, which runs no waiting code. */
  at(delayMs: number, owner: Owner | undefined, action: () => void): ScheduledEvent {
    const atMs = this.#nowMs + Math.max(0, delayMs);
    const event = { atMs, order: this.#order++, owner, action, isCancelled: false };
    this.#push(event);
    return event;
  }

  /** Runs the events held back while the owner was stopped, in order. */
  thaw(owner: Owner): void {
    owner.state = 'up';
    const held = this.#held.get(owner) ?? [];
    this.#held.delete(owner);
    for (const event of held) {
      if (event.isCancelled) continue;
      this.#push({
        ...event,
        atMs: this.#nowMs,
        order: this.#order++,
        action: () => runHeld(event),
      });
    }
  }

  /** True after more events than any run with progress has. */
  get isExhausted(): boolean {
    return this.eventCount >= MOST_EVENTS;
  }

  /** Runs due events until the time, or until `isDone` at a whole step. */
  async runTo(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    while (this.#heap.length > 0 && !this.isExhausted && !isDone()) {
      const next = this.#heap[0] as ScheduledEvent;
      if (next.atMs > untilMs) break;
      this.#pop();
      if (next.isCancelled) continue;
      this.#nowMs = next.atMs;
      if (next.owner?.state === 'dead') continue;
      if (next.owner?.state === 'frozen') {
        this.#hold(next.owner, next);
        continue;
      }
      this.eventCount++;
      this.fingerprint = (Math.imul(this.fingerprint, 31) + next.order + next.atMs * 8) | 0;
      this.#current = next.owner;
      next.action();
      if (next.owner !== undefined) await turn();
      this.#current = undefined;
    }
    if (!isDone()) this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  #hold(owner: Owner, event: ScheduledEvent): void {
    const held = this.#held.get(owner);
    if (held === undefined) this.#held.set(owner, [event]);
    else held.push(event);
  }

  #push(event: ScheduledEvent): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as ScheduledEvent)) break;
      heap[at] = heap[parent] as ScheduledEvent;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as ScheduledEvent;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as ScheduledEvent)) child++;
      if (!isBefore(heap[child] as ScheduledEvent, last)) break;
      heap[at] = heap[child] as ScheduledEvent;
      at = child;
    }
    heap[at] = last;
  }
}

function runHeld(event: ScheduledEvent): void {
  if (!event.isCancelled) event.action();
}

function isBefore(a: ScheduledEvent, b: ScheduledEvent): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
