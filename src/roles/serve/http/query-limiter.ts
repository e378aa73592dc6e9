import type { Context } from 'hono';
import { type Clock, systemClock } from '../../../base/clock.ts';
import type { Metrics } from '../../../base/telemetry/metrics.ts';
import { Problem } from '../../http/problem.ts';
import { callerOf } from './caller.ts';
import { ClientShares } from './client-shares.ts';
import { FairQueue } from './fair-queue.ts';
import type { Work } from './work.ts';

/**
 * Limits of a process.
 *
 * | value | unit | why |
 * |---|---|---|
 * | 8 | running | they share the ten connections to ClickHouse with what is read beside |
 * | 4 | running of the dashboard | machines find a place however many pages are open |
 * | 3 | running of one client | another finds a place; `ClientShares` may leave it one, on one thread |
 * | 36 | running or waiting of one client | three tabs of a page with a dozen panels |
 * | 512 | waiting | a page each of 50 clients |
 * | 8 s | longest wait for an answer | Argo, Flagger and KEDA give up after ten seconds or less |
 */
const limits = {
  running: 8,
  runningOfDashboard: 4,
  runningOfClient: 3,
  ofClient: 36,
  waiting: 512,
  deadlineMs: 8_000,
} as const;

/** APIs whose questions share the places. */
const apis = ['machines', 'dashboard'] as const;
type Api = (typeof apis)[number];

/** Somebody who asks. */
export interface Asker {
  readonly api: Api;
  /** Places are shared between clients. */
  readonly client: string;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** Places at ClickHouse are shared between logins, and between addresses of those who have none. */
export function askerOf(context: Context, api: Asker['api']): Asker {
  const { login, address } = callerOf(context);
  const client = login === undefined ? `address ${address}` : `login ${login}`;
  return { api, client, signal: context.req.raw.signal };
}

export type QueryMetrics = Pick<
  Metrics,
  'serveWaiting' | 'serveRunning' | 'serveDropped' | 'serveCancelled'
>;

export interface QueryLimiterOptions {
  readonly metrics: QueryMetrics;
  readonly clock?: Pick<Clock, 'sleep' | 'elapsedMs'>;
}

type AnyWork = Pick<Work<unknown>, 'start' | 'cancel'>;

/** A client of both APIs is one of each: its page does not hold up its rollout. */
function clientOf(api: Api, client: string): string {
  return `${api} ${client}`;
}

interface Waiter {
  readonly api: Api;
  /** As `clientOf`. */
  readonly client: string;
  readonly refuse: (problem: Problem) => void;
}

/** Work in hand. */
interface Entry {
  readonly api: Api;
  readonly work: AnyWork;
  readonly waiters: Set<Waiter>;
  /** Clients that wait for it; once it runs, the one in whose turn. */
  clients: ReadonlySet<string>;
  /** True while it runs on for who asks again, until somebody needs the place. */
  isAbandoned: boolean;
  startedMs: number;
}

/**
 * Gives the places at ClickHouse to clients in turn. A client that asks for more than its share waits for
 * itself, and is the one that is refused. A query that nobody waits for any more is dropped; where it runs,
 * it is cancelled.
 */
export class QueryLimiter {
  readonly #metrics: QueryMetrics;
  readonly #clock: Pick<Clock, 'sleep' | 'elapsedMs'>;
  readonly #shares = new ClientShares(limits.runningOfDashboard);
  readonly #queue = new FairQueue<Entry>();
  readonly #running = new Set<Entry>();
  readonly #entries = new Map<AnyWork, Entry>();

  constructor({ metrics, clock = systemClock }: QueryLimiterOptions) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#report();
  }

  /** Notes a request, also of an answer that is there already: a client that reads has its part of the places. */
  note({ api, client }: Asker): void {
    this.#shares.add(clientOf(api, client), 0, this.#clock.elapsedMs());
  }

  /**
   * Waits for the result of work, which may be in hand already.
   *
   * @throws Problem 503 when too much waits, or when the answer takes too long.
   */
  async run<T>({ api, client, signal }: Asker, work: Work<T>): Promise<T> {
    let refuse: Waiter['refuse'] = () => undefined;
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    const waiter: Waiter = { api, client: clientOf(api, client), refuse };
    const entry = this.#enter(waiter, work);
    const isOver = new AbortController();
    const onGone = () => {
      refuse(gone());
      this.#leave(entry, waiter, 'left');
    };
    if (signal.aborted) onGone();
    signal.addEventListener('abort', onGone);
    const onLate = () => {
      if (isOver.signal.aborted) return;
      refuse(late());
      this.#leave(entry, waiter, 'late');
    };
    void this.#clock.sleep(limits.deadlineMs, isOver.signal).then(onLate);
    try {
      return await Promise.race([work.result, refused]);
    } finally {
      isOver.abort();
      signal.removeEventListener('abort', onGone);
    }
  }

  #enter(waiter: Waiter, work: AnyWork): Entry {
    const { api, client } = waiter;
    const known = this.#entries.get(work);
    if (known === undefined) this.#makeRoom(waiter, work);
    const entry: Entry = known ?? {
      api,
      work,
      waiters: new Set(),
      clients: new Set(),
      isAbandoned: false,
      startedMs: 0,
    };
    this.#entries.set(work, entry);
    this.#shares.add(client, 0, this.#clock.elapsedMs());
    entry.waiters.add(waiter);
    entry.isAbandoned = false;
    // Whoever joins work has it in its own turn too, so that it need not wait for that of a greedy client.
    if (!this.#running.has(entry) && !entry.clients.has(client)) {
      entry.clients = new Set([...entry.clients, client]);
      this.#queue.add(client, entry);
    }
    this.#advance();
    if (known === undefined) this.#cancelAbandoned(client, entry);
    this.#report();
    return entry;
  }

  /** @throws Problem 503 where the client has its share, or none waits for as much as it. */
  #makeRoom({ api, client }: Waiter, work: AnyWork): void {
    const waiting = this.#queue.sizeOf(client);
    const isFull = this.#queue.size >= limits.waiting;
    const longest = isFull ? this.#queue.longest() : undefined;
    const isLongest = longest !== undefined && this.#queue.sizeOf(longest.client) <= waiting + 1;
    if (isLongest || this.#runningOf(client) + waiting >= limits.ofClient) {
      work.cancel();
      throw this.#tooMuch(api);
    }
    if (longest === undefined) return;
    const { newest } = longest;
    for (const waiter of newest.waiters) {
      if (waiter.client !== longest.client) continue;
      waiter.refuse(this.#tooMuch(newest.api));
      newest.waiters.delete(waiter);
    }
    this.#unqueue(newest, longest.client);
    if (newest.waiters.size === 0) this.#drop(newest);
  }

  #tooMuch(api: Api): Problem {
    this.#metrics.serveDropped.inc({ api, reason: 'share' });
    const detail = 'Too many requests of this client wait for ClickHouse: ask again later.';
    return new Problem(503, detail, 5);
  }

  /** Starts what may run. */
  #advance(): void {
    while (this.#running.size < limits.running) {
      const next = this.#queue.next((client, { api }) => this.#mayRun(client, api));
      if (next === undefined) return;
      const { client, item: entry } = next;
      for (const other of entry.clients) this.#queue.remove(other, entry);
      entry.clients = new Set([client]);
      entry.startedMs = this.#clock.elapsedMs();
      this.#running.add(entry);
      const isOver = this.#shares.isOver(client, this.#runningMsOf(client), entry.startedMs);
      void entry.work.start(isOver).then(() => {
        this.#end(entry);
        const nowMs = this.#clock.elapsedMs();
        this.#shares.add(client, nowMs - entry.startedMs, nowMs);
        this.#advance();
        this.#report();
      });
    }
  }

  #mayRun(client: string, api: Api): boolean {
    const ofApi = [...this.#running].filter((entry) => entry.api === api).length;
    if (api === 'dashboard' && ofApi >= limits.runningOfDashboard) return false;
    const nowMs = this.#clock.elapsedMs();
    const runningMs = this.#runningMsOf(client);
    const places = this.#shares.placesOf(client, limits.runningOfClient, runningMs, nowMs);
    return this.#runningOf(client) < places;
  }

  /** Time that the places of a client are in use by now. */
  #runningMsOf(client: string): number {
    const nowMs = this.#clock.elapsedMs();
    let runningMs = 0;
    for (const { clients, startedMs } of this.#running) {
      if (clients.has(client)) runningMs += nowMs - startedMs;
    }
    return runningMs;
  }

  #leave(entry: Entry, waiter: Waiter, reason: 'left' | 'late'): void {
    if (!entry.waiters.delete(waiter)) return;
    const { client } = waiter;
    const stays = [...entry.waiters].some((other) => other.client === client);
    if (!this.#running.has(entry)) {
      this.#metrics.serveDropped.inc({ api: entry.api, reason });
      if (!stays) this.#unqueue(entry, client);
      if (entry.waiters.size === 0) this.#drop(entry);
    } else if (entry.waiters.size === 0 && reason === 'left') this.#cancel(entry);
    // An answer that came too late is there when the client asks again, unless the place is needed.
    else if (entry.waiters.size === 0) {
      entry.isAbandoned = true;
      if (this.#queue.size > 0) this.#cancel(entry);
    }
    this.#report();
  }

  /** Cancels what nobody waits for once another client comes, or the place is needed. */
  #cancelAbandoned(client: string, entry: Entry): void {
    const isQueued = !this.#running.has(entry);
    for (const running of this.#running) {
      if (running.isAbandoned && (isQueued || !running.clients.has(client))) this.#cancel(running);
    }
  }

  /** Its place is free once ClickHouse has let go of it. */
  #cancel(entry: Entry): void {
    this.#metrics.serveCancelled.inc({ api: entry.api });
    entry.isAbandoned = false;
    entry.work.cancel();
  }

  #unqueue(entry: Entry, client: string): void {
    this.#queue.remove(client, entry);
    entry.clients = new Set([...entry.clients].filter((other) => other !== client));
  }

  #drop(entry: Entry): void {
    for (const client of entry.clients) this.#queue.remove(client, entry);
    this.#entries.delete(entry.work);
    entry.work.cancel();
  }

  #end(entry: Entry): void {
    this.#running.delete(entry);
    this.#entries.delete(entry.work);
  }

  #runningOf(client: string): number {
    let count = 0;
    for (const { clients } of this.#running) if (clients.has(client)) count++;
    return count;
  }

  #report(): void {
    for (const api of apis) {
      const count = (entries: Iterable<Entry>) =>
        [...entries].filter((entry) => entry.api === api).length;
      const running = count(this.#running);
      this.#metrics.serveRunning.set({ api }, running);
      this.#metrics.serveWaiting.set({ api }, count(this.#entries.values()) - running);
    }
  }
}

function gone(): Problem {
  return new Problem(503, 'The client has gone.');
}

/** Longest wait for an answer, milliseconds. */
export const { deadlineMs } = limits;

/** The answer to who has waited that long. */
export function late(): Problem {
  return new Problem(503, `ClickHouse has not answered within ${deadlineMs / 1000} s.`, 10);
}
