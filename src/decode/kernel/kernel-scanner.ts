import { dimensions, overflowValue } from '../../base/dimensions.ts';
import type { DecodeContext } from '../decode-event.ts';
import { EventProgram } from '../event-program.ts';
import type { EventRecord } from '../event-record.ts';
import { isPlausibleTs } from '../is-plausible-ts.ts';
import { scanEpochMs } from '../json/scan-epoch-ms.ts';
import type { Shape } from '../json/shape.ts';
import type { TimingEventLimits } from '../timing-event.ts';
import { EventKernel, kernelIntegers as places } from './event-kernel.ts';

/** Bytes ahead that are wanted in the kernel's memory: most events are far shorter. */
const AHEAD_BYTES = 16 * 1024;
/** What misses may use up of the hits before them until the kernel is left alone for a while. */
const MOST_CREDIT = 32;
const REST_EVENTS = 512;
/** Events between two programs that are made, at least: making one takes as long as ten. */
const SPACING = 256;
const quotedOverflow = Buffer.from(`"${overflowValue}"`);

/**
 * Reads events of known shapes by the kernel in WebAssembly. As `EventScanner`, it takes what is
 * plain and right, and answers -1 for all else, for the scanner in JavaScript to look at: so the
 * two cannot judge differently.
 *
 * A shape gets a program when the scanner in JavaScript has read an event of it. Which of the
 * programs an event is tried with first is told by the one before: what followed it the last time.
 */
export class KernelScanner {
  readonly #kernel: EventKernel;
  readonly #context: DecodeContext;
  readonly #limits: TimingEventLimits;
  readonly #programs: EventProgram[] = [];
  /** By program, which one came after it. */
  readonly #after = new Int32Array(EventKernel.maxPrograms);
  #last = 0;
  #oldest = 0;
  #credit = MOST_CREDIT;
  #rest = 0;
  #sinceProgram = SPACING;
  #lexicon: number;
  /** Bytes of the message that are in the kernel's memory. */
  #from = 0;
  #to = -1;
  /** Events read so far. */
  eventCount = 0;
  /** Whether the event read last is of stages only, and whether it has bytes beyond ASCII. */
  isPartial = false;
  sawHighByte = false;

  constructor(kernel: EventKernel, context: DecodeContext, bounds: TimingEventLimits) {
    this.#kernel = kernel;
    this.#context = context;
    this.#limits = bounds;
    this.#lexicon = kernel.newLexicon();
  }

  /** Begins a message. */
  begin(): void {
    this.#to = -1;
  }

  /** Forgets the ids of values, as their interner was cleared. */
  forgetValues(): void {
    this.#lexicon = this.#kernel.newLexicon();
    this.#kernel.leave(this);
  }

  /** Forgets all programs, as they have the ids of stages, whose interner was cleared. */
  forgetStages(): void {
    this.#programs.length = 0;
    this.#after.fill(0);
    this.#last = 0;
    this.#oldest = 0;
    this.#credit = MOST_CREDIT;
    this.#rest = 0;
    this.#sinceProgram = SPACING;
  }

  /** Takes up a shape of events, and that of their stages, of which one was just read without the kernel. */
  learn(event: Shape, stages: Shape): void {
    if (this.#sinceProgram < SPACING) return;
    this.#sinceProgram = 0;
    const program = EventProgram.of(event, stages, EventKernel.programBytes);
    if (program === undefined) return;
    const n = this.#oldest;
    this.#oldest = (n + 1) % EventKernel.maxPrograms;
    this.#programs[n] = program;
    this.#kernel.leave(this);
    this.#to = -1;
    this.#last = n;
    this.#after[n] = n;
  }

  /** As `EventScanner.scan`, for the event that begins at `start`. */
  scan(bytes: Buffer, start: number, end: number, record: EventRecord): number {
    this.#sinceProgram++;
    const count = this.#programs.length;
    if (count === 0) return -1;
    if (this.#rest > 0) {
      this.#rest--;
      return -1;
    }
    const isShort = start + AHEAD_BYTES > this.#to && this.#to < bytes.length;
    if (this.#to < 0 || isShort || start < this.#from) this.#load(bytes, start);
    let n = this.#after[this.#last] as number;
    for (let tried = 0; tried < count; tried++) {
      const read = this.#kernel.scan(start - this.#from, n);
      if (read >= 0 && this.#from + read <= end && this.#fill(bytes, record)) {
        this.#after[this.#last] = n;
        this.#last = n;
        if (this.#credit < MOST_CREDIT) this.#credit++;
        return this.#from + read;
      }
      n = n + 1 === count ? 0 : n + 1;
    }
    if (--this.#credit === 0) {
      this.#rest = REST_EVENTS;
      this.#credit = MOST_CREDIT >> 2;
    }
    return -1;
  }

  #load(bytes: Buffer, start: number): void {
    const kernel = this.#kernel;
    if (!kernel.isOf(this)) kernel.begin(this, this.#limits, this.#programs, this.#lexicon);
    const isWhole = bytes.length <= EventKernel.inputBytes;
    this.#from = isWhole ? 0 : start;
    this.#to = isWhole ? bytes.length : Math.min(bytes.length, start + EventKernel.inputBytes);
    kernel.load(isWhole ? bytes : bytes.subarray(this.#from, this.#to));
  }

  /** Interns the values that are not known to the kernel: when the whole event is known to be good. */
  resolve(bytes: Buffer, record: EventRecord): void {
    const pending = this.#kernel.integers[places.pendingDimensions] as number;
    if (pending === 0) return;
    const { values } = this.#context;
    for (let i = 0; i < dimensions.length; i++) {
      if ((pending & (1 << i)) === 0) continue;
      const start = this.#startOf(i) + 1;
      const end = this.#endOf(i) - 1;
      const id = values.idOf(bytes, start, end);
      record.dimensionIds[i] = id;
      // A value that found no room may find it once the interner is cleared.
      if (id !== values.otherId) this.#kernel.learn(start - this.#from, end - this.#from, id);
    }
  }

  /** Fills the record with what the kernel has read; the arrays in it are the kernel's own. */
  #fill(bytes: Buffer, record: EventRecord): boolean {
    const { numbers, integers } = this.#kernel;
    const from = this.#from;
    const textStart = integers[places.textTsStart] as number;
    const tsMs =
      textStart < 0
        ? Math.floor(numbers[0] as number)
        : scanEpochMs(bytes, from + textStart, from + (integers[places.textTsEnd] as number));
    if (!isPlausibleTs(tsMs)) return false;
    if (integers[places.pendingDimensions] !== 0 && !this.#arePlain(bytes)) return false;
    this.eventCount++;
    record.tsMs = tsMs;
    record.status = integers[places.status] as number;
    record.totalMs = numbers[1] as number;
    record.stageCount = integers[places.stageCount] as number;
    record.batchSize = numbers[2] as number;
    record.requestBytes = numbers[3] as number;
    record.inputTokens = numbers[4] as number;
    record.concurrency = numbers[5] as number;
    record.cacheHit = integers[places.cacheHit] as number;
    record.bytes = bytes;
    record.idStart = from + (integers[places.idStart] as number);
    record.idEnd = from + (integers[places.idEnd] as number);
    record.traceStart = from + (integers[places.traceStart] as number);
    record.traceEnd = from + (integers[places.traceEnd] as number);
    this.isPartial = integers[places.isPartial] === 1;
    this.sawHighByte = integers[places.sawHighByte] !== 0;
    return true;
  }

  /** Whether no value that is not known is the one that is reserved. */
  #arePlain(bytes: Buffer): boolean {
    const { integers } = this.#kernel;
    for (let i = 0; i < dimensions.length; i++) {
      if (((integers[places.pendingDimensions] as number) & (1 << i)) === 0) continue;
      const [start, end] = [this.#startOf(i), this.#endOf(i)];
      if (end - start !== quotedOverflow.length) continue;
      if (quotedOverflow.compare(bytes, start, end) === 0) return false;
    }
    return true;
  }

  /** Where a dimension's value lies in the message, its quotes included. */
  #startOf(dimension: number): number {
    return this.#from + (this.#kernel.dimensionStarts[dimension] as number);
  }

  #endOf(dimension: number): number {
    return this.#from + (this.#kernel.dimensionEnds[dimension] as number);
  }
}
