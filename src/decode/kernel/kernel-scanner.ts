import { dimensions, overflowValue } from '../../base/dimensions.ts';
import type { DecodeContext } from '../decode-event.ts';
import type { DecodedEvent } from '../decoded-event.ts';
import { Interner } from '../interner.ts';
import { isPlausibleTs } from '../is-plausible-ts.ts';
import { scanEpochMs } from '../json/scan-epoch-ms.ts';
import type { Shape } from '../json/shape.ts';
import type { TimingEventLimits } from '../timing-event.ts';
import { EventKernel, kernelIntegers as indices } from './event-kernel.ts';
import { compileProgram } from './event-program.ts';

/** Bytes to hold ahead in the kernel's memory: most events are far shorter. */
const AHEAD_BYTES = 16 * 1024;
/** Maximum credit of hits, spent by misses, and the events without the kernel once it is spent. */
const MAX_CREDIT = 32;
const REST_EVENTS = 512;
/** Minimum number of events between two new programs: compiling one costs as much as ten events. */
const MIN_SPACING = 256;
const quotedOverflow = Buffer.from(`"${overflowValue}"`);

/**
 * Reads events of known shapes by the kernel in WebAssembly. Like `EventScanner`, it reads only plain valid
 * events and returns -1 otherwise. The scanner in JavaScript then reads the event, so the two cannot differ.
 *
 * A shape gets a program once the scanner in JavaScript has read an event of it. The program tried first is
 * the one that followed the last one before.
 */
export class KernelScanner {
  readonly #kernel: EventKernel;
  readonly #context: DecodeContext;
  readonly #limits: TimingEventLimits;
  readonly #programs: Uint8Array[] = [];
  /** Program that followed each program. */
  readonly #after = new Int32Array(EventKernel.maxPrograms);
  #last = 0;
  #oldest = 0;
  #credit = MAX_CREDIT;
  #restEvents = 0;
  #sinceProgram = MIN_SPACING;
  #lexicon: number;
  /** Range of the message in the kernel's memory. */
  #from = 0;
  #to = -1;
  eventCount = 0;
  /** True if the last event has stages only, and if it has bytes beyond ASCII. */
  isPartial = false;
  sawHighByte = false;
  /** Position of the last event's `attributes` in the message; equal where it has none. */
  attributesStart = 0;
  attributesEnd = 0;

  constructor(kernel: EventKernel, context: DecodeContext, bounds: TimingEventLimits) {
    this.#kernel = kernel;
    this.#context = context;
    this.#limits = bounds;
    this.#lexicon = kernel.newLexicon();
  }

  begin(): void {
    this.#to = -1;
  }

  /** Forgets the ids of values, after their interner was cleared. */
  forgetValues(): void {
    this.#lexicon = this.#kernel.newLexicon();
    this.#kernel.leave(this);
  }

  /** Forgets all programs, which have the ids of stages, after their interner was cleared. */
  forgetStages(): void {
    this.#programs.length = 0;
    this.#after.fill(0);
    this.#last = 0;
    this.#oldest = 0;
    this.#credit = MAX_CREDIT;
    this.#restEvents = 0;
    this.#sinceProgram = MIN_SPACING;
  }

  /** Compiles the shape of an event, and those of its stages and milestones, that JavaScript has just read. */
  learn(event: Shape, stages: Shape, milestones: Shape): void {
    if (this.#sinceProgram < MIN_SPACING) return;
    this.#sinceProgram = 0;
    const program = compileProgram(event, { stages, milestones }, EventKernel.programBytes);
    if (program === undefined) return;
    const n = this.#oldest;
    this.#oldest = (n + 1) % EventKernel.maxPrograms;
    this.#programs[n] = program;
    this.#kernel.leave(this);
    this.#to = -1;
    this.#last = n;
    this.#after[n] = n;
  }

  /** Scans the event that begins at `start`, as `EventScanner.scan`. */
  scan(bytes: Buffer, start: number, end: number, event: DecodedEvent): number {
    this.#sinceProgram++;
    const count = this.#programs.length;
    if (count === 0) return -1;
    if (this.#restEvents > 0) {
      this.#restEvents--;
      return -1;
    }
    const isShort = start + AHEAD_BYTES > this.#to && this.#to < bytes.length;
    if (this.#to < 0 || isShort || start < this.#from) this.#load(bytes, start);
    let n = this.#after[this.#last] as number;
    for (let tried = 0; tried < count; tried++) {
      const read = this.#kernel.scan(start - this.#from, n);
      if (read >= 0 && this.#from + read <= end && this.#fill(bytes, event)) {
        this.#after[this.#last] = n;
        this.#last = n;
        if (this.#credit < MAX_CREDIT) this.#credit++;
        return this.#from + read;
      }
      n = n + 1 === count ? 0 : n + 1;
    }
    if (--this.#credit === 0) {
      this.#restEvents = REST_EVENTS;
      this.#credit = MAX_CREDIT >> 2;
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

  /** Interns values that are new to the kernel, when the whole event is valid. */
  resolve(bytes: Buffer, event: DecodedEvent): void {
    const pending = this.#kernel.integers[indices.pendingDimensions] as number;
    if (pending === 0) return;
    const { values } = this.#context;
    for (let i = 0; i < dimensions.length; i++) {
      if ((pending & (1 << i)) === 0) continue;
      const start = this.#startOf(i) + 1;
      const end = this.#endOf(i) - 1;
      const id = values.intern(bytes, start, end);
      event.dimensionIds[i] = id;
      // An overflowed value may be interned once the interner is cleared.
      if (id !== Interner.otherId) this.#kernel.learn(start - this.#from, end - this.#from, id);
    }
  }

  /** Fills the event from the kernel; the arrays in it are the kernel's own. */
  #fill(bytes: Buffer, event: DecodedEvent): boolean {
    const { numbers, integers } = this.#kernel;
    const from = this.#from;
    const textStart = integers[indices.textTsStart] as number;
    const tsMs =
      textStart < 0
        ? Math.floor(numbers[0] as number)
        : scanEpochMs(bytes, from + textStart, from + (integers[indices.textTsEnd] as number));
    if (!isPlausibleTs(tsMs)) return false;
    if (integers[indices.pendingDimensions] !== 0 && !this.#arePlain(bytes)) return false;
    this.eventCount++;
    event.tsMs = tsMs;
    event.status = integers[indices.status] as number;
    event.totalMs = numbers[1] as number;
    event.stageCount = integers[indices.stageCount] as number;
    event.weight = 1;
    event.gapCount = 0;
    event.longTexts = 0;
    event.cacheHit = integers[indices.cacheHit] as number;
    event.bytes = bytes;
    event.idStart = from + (integers[indices.idStart] as number);
    event.idEnd = from + (integers[indices.idEnd] as number);
    event.traceStart = from + (integers[indices.traceStart] as number);
    event.traceEnd = from + (integers[indices.traceEnd] as number);
    this.attributesStart = from + (integers[indices.objectStart] as number);
    this.attributesEnd = from + (integers[indices.objectEnd] as number);
    this.isPartial = integers[indices.isPartial] === 1;
    this.sawHighByte = integers[indices.sawHighByte] !== 0;
    return true;
  }

  /** Returns false if a new value is the reserved one. */
  #arePlain(bytes: Buffer): boolean {
    const { integers } = this.#kernel;
    for (let i = 0; i < dimensions.length; i++) {
      if (((integers[indices.pendingDimensions] as number) & (1 << i)) === 0) continue;
      const [start, end] = [this.#startOf(i), this.#endOf(i)];
      if (end - start !== quotedOverflow.length) continue;
      if (quotedOverflow.compare(bytes, start, end) === 0) return false;
    }
    return true;
  }

  /** Position of a dimension's value in the message, quotes included. */
  #startOf(dimension: number): number {
    return this.#from + (this.#kernel.dimensionStarts[dimension] as number);
  }

  #endOf(dimension: number): number {
    return this.#from + (this.#kernel.dimensionEnds[dimension] as number);
  }
}
