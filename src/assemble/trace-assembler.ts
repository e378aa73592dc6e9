import { invariant } from '../base/invariant.ts';
import {
  type AssembleSettings,
  areSame,
  horizonMs,
  maxKnown,
  tickMs,
} from './assemble-settings.ts';
import { type Checkpoint, Checkpoints } from './checkpoints.ts';
import { LogClock } from './log-clock.ts';
import type { Mark, RestartPoint } from './restart-point.ts';
import type { ClosedTrace, ClosingCause, TraceSpan } from './trace.ts';
import { TraceTable, UNKNOWN } from './trace-table.ts';

/** Receives what becomes of the spans of a partition. */
export interface TraceSink {
  closed(trace: ClosedTrace): void;
  /** Receives a span of a trace that is closed already. */
  late(traceId: string, span: TraceSpan, offset: number, index: number): void;
}

/** Marks that the metadata of a commit has room for. A horizon has fewer, unless settings often change. */
const MAX_MARKS = 250;
/** Before any time of a clock. */
const NEVER_MS = -1e15;

/** A log that is read from its beginning, or from `offset`. */
export function freshStart(offset: number, settings: AssembleSettings): RestartPoint {
  return {
    offset,
    clock: new LogClock().state,
    settings,
    marks: [],
    limitsFrom: offset,
    limitReachedMs: NEVER_MS,
    position: offset,
  };
}

/**
 * Gathers the spans of one partition by trace. The time at which a trace closes is a function of the log: of
 * the records' timestamps (`LogClock`), and of marks, which stand for the few things that are not in the log.
 * So the traces that are open at an offset can be rebuilt from an earlier one: records before `position` of
 * the restart point are read without any output, as all that they close has been published.
 *
 * Places to restart from, so that the state at `position` is the same:
 *
 * - If no limit was reached since: the first span of the oldest trace that is open or remembered. A trace
 *   that began before and is forgotten by `position` had its last span more than the late memory ago, so it
 *   is closed and forgotten again. Limits hold from `position` on only (`limitsFrom`), since some traces
 *   appear later or shorter on the way than they were.
 * - Else that place as it was when a limit was reached, with limits from that record on.
 * - After a horizon from there (`max_trace` and the late memory), with limits all the way. Only the time of
 *   its last span decides whether a trace is known. One that is known when reading begins is closed by
 *   `max_trace` in time. The oldest trace is evicted first, so only younger ones decide whether one is
 *   evicted. Of the traces before, only those that seem to begin within the late memory count.
 */
export class TraceAssembler {
  readonly #sink: TraceSink;
  readonly #clock: LogClock;
  readonly #checkpoints: Checkpoints;
  readonly #traces = new TraceTable();
  #settings: AssembleSettings;
  /** Settings at the restart point, and marks after it that have been applied. */
  #firstSettings: AssembleSettings;
  #marks: Mark[] = [];
  /** Marks that are still to be applied, of the run before. */
  #ahead: readonly Mark[];
  #nextSettings: AssembleSettings;
  readonly #publishedTo: number;
  #isRebuilding = true;
  #limitsFrom: number;
  #limitReachedMs: number;
  /** The restart point when a limit was reached; undefined where none was within the horizon. */
  #frozen: Checkpoint | undefined;
  #position: number;
  #offset: number;
  #bytes = 0;

  /** @param settings hold from the restart point's position on. */
  constructor(restart: RestartPoint, settings: AssembleSettings, sink: TraceSink) {
    const { offset, clock, marks, limitsFrom, limitReachedMs, position } = restart;
    invariant(position >= offset, 'a restart point must not be after the position');
    this.#sink = sink;
    this.#clock = new LogClock(clock);
    this.#checkpoints = new Checkpoints({ offset, clock });
    this.#settings = restart.settings;
    this.#firstSettings = restart.settings;
    this.#ahead = marks;
    this.#nextSettings = settings;
    this.#publishedTo = position;
    this.#limitsFrom = limitsFrom;
    this.#limitReachedMs = limitReachedMs;
    if (limitsFrom < position) this.#frozen = this.#checkpoints.latest;
    this.#position = offset;
    this.#offset = offset;
    if (position === offset) this.#endRebuilding();
  }

  /** Offset of the next record. */
  get position(): number {
    return this.#position;
  }

  /** True while records are read again that have all been published. */
  get isRebuilding(): boolean {
    return this.#isRebuilding;
  }

  get openTraces(): number {
    return this.#traces.openByAge.size;
  }

  get openBytes(): number {
    return this.#bytes;
  }

  /** Time of the clock; it stands still where timestamps do. */
  get nowMs(): number {
    return this.#clock.nowMs;
  }

  /** Begins a record: closes what is due before it. */
  beginRecord(offset: number, timestampMs: number): void {
    this.#applyMarks(offset);
    if (this.#isRebuilding && offset >= this.#publishedTo) this.#endRebuilding();
    this.#checkpoints.observe(offset, this.#clock);
    this.#offset = offset;
    this.#position = offset + 1;
    this.#clock.observe(timestampMs);
    this.#closeDue();
  }

  /** Adds a span of the record. @param index its place in the record. */
  add(traceId: string, span: TraceSpan, index: number): void {
    const trace = this.#traces.find(traceId);
    if (trace === UNKNOWN) {
      this.#keep(this.#open(traceId, index), span);
      return;
    }
    this.#traces.touch(trace, this.#clock.nowMs);
    if (this.#traces.isOpen[trace] === 1) this.#keep(trace, span);
    else if (!this.#isRebuilding) this.#sink.late(traceId, span, this.#offset, index);
  }

  /** Passes over offsets without a record, up to the one before `nextOffset`. */
  advanceTo(nextOffset: number): void {
    this.#applyMarks(nextOffset);
    this.#position = Math.max(this.#position, nextOffset);
    if (this.#isRebuilding && nextOffset >= this.#publishedTo) this.#endRebuilding();
  }

  /** For how long the clock must have stood still before `tick`; undefined where nothing waits for it. */
  get tickAfterMs(): number | undefined {
    if (this.#isRebuilding || this.#traces.size === 0) return undefined;
    return this.#marks.length < MAX_MARKS ? tickMs(this.#settings) : undefined;
  }

  /** Moves the clock at the end of the log, where no record does, and closes what is due. */
  tick(): void {
    invariant(!this.#isRebuilding, 'a tick must not come before all is rebuilt');
    const { lateMemoryMs } = this.#settings;
    const ms = this.openTraces === 0 ? lateMemoryMs : tickMs(this.#settings);
    this.#apply({ offset: this.#position, tickMs: ms });
  }

  /** Returns where a successor is to begin. All that has been closed so far must be published with it. */
  restartPoint(): RestartPoint {
    invariant(!this.#isRebuilding, 'a restart point must not be asked for before all is rebuilt');
    const { checkpoint, limitsFrom } = this.#checkpointOfRestart();
    const { offset, clock } = checkpoint;
    this.#checkpoints.dropBefore(offset);
    while (this.#marks[0] !== undefined && this.#marks[0].offset <= offset) {
      this.#firstSettings = this.#marks.shift()?.settings ?? this.#firstSettings;
    }
    return {
      ...{ offset, clock, limitsFrom },
      settings: this.#firstSettings,
      marks: [...this.#marks],
      limitReachedMs: this.#limitReachedMs,
      position: this.#position,
    };
  }

  #checkpointOfRestart(): { checkpoint: Checkpoint; limitsFrom: number } {
    const first = this.#checkpoints.firstInUse();
    if (first === undefined) {
      this.#frozen = undefined;
      this.#limitReachedMs = NEVER_MS;
      const here = { offset: this.#position, clock: this.#clock.state, traces: 0 };
      return { checkpoint: here, limitsFrom: here.offset };
    }
    if (first.clock.nowMs > this.#limitReachedMs) {
      this.#frozen = undefined;
      return { checkpoint: first, limitsFrom: this.#position };
    }
    const old = this.#checkpoints.lastAt(this.#clock.nowMs - this.#longestHorizonMs());
    const { offset = -1 } = this.#frozen ?? {};
    if (old !== undefined && old.offset >= offset) {
      this.#frozen = old;
      this.#limitsFrom = old.offset;
    }
    invariant(this.#frozen !== undefined, 'a limit was reached, so its checkpoint must be known');
    return { checkpoint: this.#frozen, limitsFrom: this.#limitsFrom };
  }

  #longestHorizonMs(): number {
    let longest = Math.max(horizonMs(this.#settings), horizonMs(this.#firstSettings));
    for (const { settings } of this.#marks) {
      if (settings !== undefined) longest = Math.max(longest, horizonMs(settings));
    }
    return longest;
  }

  /** Applies the marks before a record. */
  #applyMarks(offset: number): void {
    while (this.#ahead[0] !== undefined && this.#ahead[0].offset <= offset) {
      const [mark, ...rest] = this.#ahead;
      this.#ahead = rest;
      this.#apply(mark as Mark);
    }
  }

  #apply(mark: Mark): void {
    this.#marks.push(mark);
    if (mark.settings !== undefined) this.#settings = mark.settings;
    if (mark.tickMs !== undefined) this.#clock.tick(mark.tickMs);
    this.#position = Math.max(this.#position, mark.offset);
    this.#offset = mark.offset;
    this.#closeDue();
  }

  #endRebuilding(): void {
    this.#isRebuilding = false;
    this.#position = Math.max(this.#position, this.#publishedTo);
    const next = this.#nextSettings;
    if (areSame(next, this.#settings) || this.#marks.length >= MAX_MARKS) return;
    this.#apply({ offset: this.#publishedTo, settings: next });
  }

  /** True if limits other than the wait act. */
  get #hasLimits(): boolean {
    return !this.#isRebuilding || this.#offset >= this.#limitsFrom;
  }

  #open(id: string, index: number): number {
    const { maxOpenTraces } = this.#settings;
    if (this.#hasLimits) {
      while (this.openTraces >= maxOpenTraces) this.#evict('max_open_traces');
      while (this.#traces.size >= maxKnown(this.#settings)) this.#forgetOldest();
    }
    const { latest } = this.#checkpoints;
    return this.#traces.add(id, latest, this.#offset, index, this.#clock.nowMs);
  }

  #keep(trace: number, span: TraceSpan): void {
    this.#bytes += this.#traces.keep(trace, span, this.#settings.maxSpansPerTrace);
    if (!this.#hasLimits) return;
    while (this.#bytes > this.#settings.maxBytes && this.openTraces > 0) this.#evict('max_bytes');
  }

  #evict(cause: ClosingCause): void {
    const oldest = this.#traces.openByAge.first;
    invariant(oldest !== UNKNOWN, 'there must be an open trace to evict');
    this.#close(oldest, cause);
  }

  #closeDue(): void {
    const traces = this.#traces;
    const { openByAge, openByLast, knownByLast } = traces;
    const { nowMs } = this.#clock;
    const { waitMs, maxTraceMs, lateMemoryMs } = this.#settings;
    for (let next = openByLast.first; next !== UNKNOWN; next = openByLast.first) {
      if (nowMs - (traces.lastMs[next] as number) < waitMs) break;
      this.#close(next, 'wait');
    }
    if (this.#hasLimits) {
      for (let next = openByAge.first; next !== UNKNOWN; next = openByAge.first) {
        if (nowMs - (traces.firstMs[next] as number) < maxTraceMs) break;
        this.#close(next, 'max_trace');
      }
    }
    for (let next = knownByLast.first; next !== UNKNOWN; next = knownByLast.first) {
      if (nowMs - (traces.lastMs[next] as number) < lateMemoryMs) break;
      traces.forget(next);
    }
  }

  #close(trace: number, cause: ClosingCause): void {
    const traces = this.#traces;
    traces.close(trace);
    this.#bytes -= traces.bytes[trace] as number;
    if (cause !== 'wait') this.#reachLimit();
    if (this.#isRebuilding) {
      traces.dropSpans(trace);
      return;
    }
    this.#sink.closed({
      traceId: traces.ids[trace] as string,
      offset: traces.offsets[trace] as number,
      index: traces.indexes[trace] as number,
      spansLeftOut: traces.leftOut[trace] as number,
      duplicates: traces.duplicates[trace] as number,
      spans: traces.takeSpans(trace),
      cause,
    });
  }

  #forgetOldest(): void {
    const oldest = this.#traces.knownByLast.first;
    invariant(oldest !== UNKNOWN, 'there must be a trace to forget');
    this.#reachLimit();
    if (this.#traces.isOpen[oldest] === 1) this.#close(oldest, 'max_open_traces');
    this.#traces.forget(oldest);
  }

  #reachLimit(): void {
    if (this.#frozen === undefined) {
      this.#frozen = this.#checkpoints.firstInUse() ?? this.#checkpoints.latest;
      this.#limitsFrom = this.#offset;
    }
    this.#limitReachedMs = Math.max(this.#limitReachedMs, this.#clock.nowMs);
  }
}
