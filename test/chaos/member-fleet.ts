import { setTimeout as sleep } from 'node:timers/promises';
import { poll } from '../e2e/kit/poll.ts';
import { type Child, startChild } from '../e2e/kit/start-child.ts';

/** End of a process after SIGTERM. */
export interface Drain {
  readonly tookMs: number;
  readonly ended: number | NodeJS.Signals;
}

/** A process that ended without a signal. */
export interface SelfExit {
  readonly ended: number | NodeJS.Signals;
  readonly lastLine: string;
}

export interface FleetOptions {
  /** The environment of a member. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const startDeadlineMs = 120_000;
const drainDeadlineMs = 60_000;
const restartAfterMs = 500;

/** Processes of `tailmark run --roles ingest`, and a supervisor that restarts those that end. */
export class MemberFleet {
  readonly drains: Drain[] = [];
  readonly selfExits: SelfExit[] = [];
  readonly #options: FleetOptions;
  readonly #all: Child[] = [];
  #members: Child[] = [];
  #restarting = 0;
  #isClosed = false;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** Processes that are to run now, the oldest first. */
  get members(): readonly Child[] {
    return this.#members;
  }

  /** Starts one more; `settled` resolves when it is a member. */
  add(): Child {
    const child = startChild(['run', '--roles', 'ingest'], this.#options.env);
    this.#all.push(child);
    this.#members.push(child);
    void child.exited.catch(() => undefined).then(() => this.#onExit(child));
    return child;
  }

  /** Kills with -9; another is started in its place. Resolves when the first is gone. */
  async kill(member: Child): Promise<void> {
    const wasMember = this.#members.includes(member);
    this.#release(member);
    member.signal('SIGKILL');
    await member.exited;
    // A member that has just ended by itself has a successor already.
    if (wasMember) this.add();
  }

  /** Sends SIGTERM and waits for the end. One that does not end is killed, and the drain records it. */
  async terminate(member: Child): Promise<void> {
    this.#release(member);
    const startedMs = performance.now();
    let endedMs = startedMs;
    const ended = member.exited.then((how) => {
      endedMs = performance.now();
      return how;
    });
    member.signal('SIGTERM');
    const giveUp = setTimeout(() => member.signal('SIGKILL'), drainDeadlineMs);
    const how = await ended;
    clearTimeout(giveUp);
    this.drains.push({ tookMs: Math.round(endedMs - startedMs), ended: how });
  }

  /** Resolves when every member has joined the group and reads. */
  async settled(): Promise<void> {
    await poll(
      'all members have joined',
      () => {
        this.#options.signal.throwIfAborted();
        const joined = (member: Child) => member.err().includes('"msg":"running');
        return this.#restarting === 0 && this.#members.every(joined) ? true : undefined;
      },
      { deadlineMs: startDeadlineMs, seen: () => this.tail() },
    );
  }

  /** Counts a text in the logs of the running members. */
  occurrences(text: string): number {
    return countIn(this.#members, text);
  }

  /** Counts a text in the logs of all members that ever ran. */
  everLogged(text: string): number {
    return countIn(this.#all, text);
  }

  /** Ends all by force, also those that stand still. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.killNow();
    await Promise.allSettled(this.#all.map((child) => child.exited));
  }

  /** For a process that is ending and cannot wait. */
  killNow(): void {
    for (const child of this.#all) if (!child.isOver()) child.signal('SIGKILL');
  }

  /** The log of each process that ever ran. */
  logs(): { readonly pid: number; readonly text: string }[] {
    return this.#all.map((child) => ({ pid: child.pid, text: child.err() }));
  }

  /** The ends of the members' logs. */
  tail(): string[] {
    return this.#members.map((child) => `process ${child.pid}: ${child.err().slice(-1_500)}`);
  }

  #release(member: Child): void {
    this.#members = this.#members.filter((other) => other !== member);
  }

  async #onExit(child: Child): Promise<void> {
    if (this.#isClosed || !this.#members.includes(child)) return;
    const ended = await child.exited.catch(() => -1);
    const lines = child.err().trimEnd().split('\n');
    this.selfExits.push({ ended, lastLine: lines.at(-1) ?? '' });
    this.#release(child);
    this.#restarting++;
    await sleep(restartAfterMs);
    this.#restarting--;
    if (!this.#isClosed) this.add();
  }
}

function countIn(children: readonly Child[], text: string): number {
  return children.reduce((sum, child) => sum + child.err().split(text).length - 1, 0);
}
