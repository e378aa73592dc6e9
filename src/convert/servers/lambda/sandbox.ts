import type { Status } from '../../../base/statuses.ts';
import type { LambdaLine, PreparationKind, Report } from './lambda-line.ts';

/** The start of a sandbox before its next invocation. Times are those of the lines. */
export interface Preparation {
  what: PreparationKind;
  startMs: number | undefined;
  endMs: number | undefined;
  durationMs: number | undefined;
  /** True where it is known that it waited for no request. */
  isAhead: boolean;
  /** True where it broke off: the first invocation does it again. */
  hasFailed: boolean;
}

/** An attempt to answer a request. A request that is tried again has several under its id. */
export interface Invocation {
  readonly id: string;
  startMs: number | undefined;
  reportMs: number | undefined;
  report: Report | undefined;
  /** The status that a separate line reports. */
  outcome: Status | undefined;
  /** The sandbox's start before it; undefined for all but the first. */
  preparation: Preparation | undefined;
  /** True where the sandbox came up once more within it, and how long that took, as far as it is said. */
  isPreparedWithin: boolean;
  preparedWithinMs: number;
}

/** Invocations without a REPORT line that are kept: a sandbox has one at a time. */
const MAX_OPEN = 16;
/** Time that a line of an invocation may come behind its REPORT. */
const BEHIND_MS = 1_000;

/** The lines of one log stream in order, which are those of one sandbox. */
export class Sandbox {
  #open: Invocation[] = [];
  #preparation: Preparation | undefined;

  add(line: LambdaLine, atMs: number): void {
    switch (line.kind) {
      case 'start':
        this.#start(line.id, atMs);
        break;
      case 'report': {
        const open = this.#last(line.id);
        const invocation = open?.report === undefined ? open : undefined;
        const reported = invocation ?? this.#begin(line.id, undefined);
        reported.report = line.report;
        reported.reportMs = atMs;
        break;
      }
      case 'outcome':
        this.#ofOutcome(line.id, atMs).outcome = line.outcome;
        break;
      case 'preparing':
        this.#preparing(line, atMs);
        break;
      case 'prepared':
        this.#prepared(line, atMs);
    }
  }

  /** Returns the invocations that are reported, in order, and forgets them. */
  takeReported(): Invocation[] {
    const reported = this.#open.filter(({ report }) => report !== undefined);
    this.#open = this.#open.filter(({ report }) => report === undefined).slice(-MAX_OPEN);
    return reported;
  }

  #last(id: string): Invocation | undefined {
    return this.#open.findLast((each) => each.id === id);
  }

  /** Of lines of the same millisecond START may come behind its REPORT. */
  #start(id: string, atMs: number): void {
    const last = this.#last(id);
    const isOfLast = last?.startMs === undefined && last?.reportMs === atMs;
    if (last !== undefined && isOfLast) last.startMs = atMs;
    else this.#begin(id, atMs);
  }

  /** The line may come right behind REPORT; later it is of the next attempt. */
  #ofOutcome(id: string, atMs: number): Invocation {
    const last = this.#last(id);
    const { reportMs = atMs, report, outcome } = last ?? {};
    const isOver = report !== undefined && (outcome !== undefined || atMs - reportMs > BEHIND_MS);
    return last === undefined || isOver ? this.#begin(id, undefined) : last;
  }

  #begin(id: string, startMs: number | undefined): Invocation {
    const invocation: Invocation = {
      id,
      startMs,
      reportMs: undefined,
      report: undefined,
      outcome: undefined,
      preparation: this.#preparation,
      isPreparedWithin: false,
      preparedWithinMs: 0,
    };
    this.#preparation = undefined;
    this.#open.push(invocation);
    return invocation;
  }

  /** The invocation that runs: it has begun, and nothing says that it is over. */
  #running(): Invocation | undefined {
    const last = this.#open.at(-1);
    const isRunning = last?.report === undefined && last?.outcome === undefined;
    return isRunning && last?.startMs !== undefined ? last : undefined;
  }

  #preparing({ what, isAhead }: LambdaLine & { kind: 'preparing' }, atMs: number): void {
    const running = this.#running();
    if (running !== undefined) {
      running.isPreparedWithin = true;
      return;
    }
    this.#preparation = {
      what,
      startMs: atMs,
      endMs: undefined,
      durationMs: undefined,
      isAhead,
      hasFailed: false,
    };
  }

  #prepared(line: LambdaLine & { kind: 'prepared' }, atMs: number): void {
    // The line of one within an invocation may come when that is just over.
    const holder = line.isWithin ? this.#open.at(-1) : this.#running();
    if (holder !== undefined && (line.isWithin || holder.isPreparedWithin)) {
      holder.isPreparedWithin = true;
      holder.preparedWithinMs += line.durationMs ?? 0;
      return;
    }
    if (line.isWithin) return;
    const { what, durationMs, hasFailed } = line;
    const begun = this.#preparation?.what === what ? this.#preparation : undefined;
    this.#preparation = {
      what,
      startMs: begun?.startMs,
      endMs: atMs,
      durationMs,
      isAhead: line.isAhead || begun?.isAhead === true,
      hasFailed,
    };
  }
}
