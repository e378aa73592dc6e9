import { dimensions } from '../../base/dimensions.ts';
import { amountFacets } from '../../base/facets.ts';
import { limits } from '../../base/limits.ts';
import { statuses } from '../../base/statuses.ts';
import { highIndex } from '../../sketch/high-word.ts';
import { powersOfTen } from '../json/exact-decimal.ts';
import type { TimingEventLimits } from '../timing-event.ts';
import { eventKernelWasm } from './event-kernel-wasm.ts';
import { firstAmountIndex } from './event-program.ts';

/**
 * Memory layout of the kernel, in bytes, the same as in kernel/event-kernel.ts.
 *
 *     integers    status, cache hit, partial, stages, dimensions pending, byte beyond ASCII, and the bounds
 *                 of a text ts, of the id, of the trace id and of the attributes
 *     dimensions  ids, and start and end of new values
 *     limits      longest duration, longest text, and the lexicon of the values
 *     tables      the words of `status`, powers of ten
 *     numbers     of the event, NaN if absent: ts, total, and the amounts
 *     stages      ids and milliseconds
 *     programs    of up to four shapes
 *     entries     2,048 values of dimensions with their ids
 *     input       bytes of the message, and zeros
 */
const layout = {
  integers: 64,
  dimensionIds: 128,
  dimensionStarts: 160,
  dimensionEnds: 192,
  maxDurationMs: 224,
  maxTextBytes: 232,
  statusWords: 256,
  powersOfTen: 512,
  numbers: 704,
  stageIds: 1024,
  stageMs: 1536,
  programs: 4096,
  programBytes: 7168,
  input: 163_840,
  end: 262_144,
} as const;
const statusBytes = 48;
/** Bytes that may be read beyond the end, and a margin. */
const paddingBytes = 64;

/** Indices of `EventKernel.integers`. */
export const kernelIntegers = {
  status: 0,
  cacheHit: 1,
  isPartial: 2,
  stageCount: 3,
  pendingDimensions: 4,
  sawHighByte: 5,
  textTsStart: 6,
  textTsEnd: 7,
  idStart: 8,
  idEnd: 9,
  traceStart: 10,
  traceEnd: 11,
  objectStart: 12,
  objectEnd: 13,
} as const;

interface Exports {
  readonly memory: WebAssembly.Memory;
  close(length: number): void;
  scan(start: number, program: number): number;
  learn(start: number, end: number, id: number): void;
}

/**
 * WebAssembly that reads events of known shape, sixteen bytes at a time, and its memory of 256 KiB. One
 * instance a thread suffices, as each message is decoded in one go. Only `KernelScanner` uses it.
 */
export class EventKernel {
  /** Maximum bytes of a message that it holds at a time. */
  static readonly inputBytes = layout.end - layout.input - paddingBytes;
  static readonly maxPrograms = 4;
  static readonly programBytes = layout.programBytes;
  static #shared: EventKernel | null | undefined;

  /** `ts` and total of the event. */
  readonly numbers: Float64Array;
  readonly amounts: Float64Array;
  readonly integers: Int32Array;
  readonly dimensionIds: Int32Array;
  readonly dimensionStarts: Int32Array;
  readonly dimensionEnds: Int32Array;
  readonly stageIds: Int32Array;
  readonly stageMs: Float64Array;
  readonly #exports: Exports;
  readonly #bytes: Uint8Array;
  readonly #input: Uint8Array;
  readonly #bounds: Float64Array;
  readonly #wholeBounds: Int32Array;
  #lexicons = 0;
  #owner: object | undefined;

  /** The kernel of this thread; undefined without WebAssembly SIMD. */
  static shared(): EventKernel | undefined {
    EventKernel.#shared ??= instantiated();
    return EventKernel.#shared ?? undefined;
  }

  constructor(exports: Exports) {
    const { buffer } = exports.memory;
    this.#exports = exports;
    this.#bytes = new Uint8Array(buffer);
    this.#input = new Uint8Array(buffer, layout.input);
    this.numbers = new Float64Array(buffer, layout.numbers, firstAmountIndex);
    this.amounts = new Float64Array(
      buffer,
      layout.numbers + 8 * firstAmountIndex,
      amountFacets.length,
    );
    const integers = Object.keys(kernelIntegers).length;
    this.integers = new Int32Array(buffer, layout.integers, integers);
    this.dimensionIds = new Int32Array(buffer, layout.dimensionIds, dimensions.length);
    this.dimensionStarts = new Int32Array(buffer, layout.dimensionStarts, dimensions.length);
    this.dimensionEnds = new Int32Array(buffer, layout.dimensionEnds, dimensions.length);
    this.stageIds = new Int32Array(buffer, layout.stageIds, limits.durationsPerEvent);
    this.stageMs = new Float64Array(buffer, layout.stageMs, limits.durationsPerEvent);
    this.#bounds = new Float64Array(buffer, layout.maxDurationMs, 1);
    this.#wholeBounds = new Int32Array(buffer, layout.maxTextBytes, 2);
    new Float64Array(buffer, layout.powersOfTen, powersOfTen.length).set(powersOfTen);
    const lengths = new Int32Array(buffer);
    for (const [n, name] of statuses.entries()) {
      const offset = layout.statusWords + n * statusBytes;
      const word = Buffer.from(`"${name}"`);
      this.#bytes.set(word, offset);
      this.#bytes.fill(0xff, offset + 16, offset + 16 + word.length);
      lengths[(offset + 32) >> 2] = word.length;
    }
  }

  /** Returns a new number of a set of values. */
  newLexicon(): number {
    return ++this.#lexicons;
  }

  /** Returns true if the programs and values are those of a decoder: they are until another's `begin`. */
  isOf(owner: object): boolean {
    return this.#owner === owner;
  }

  /** Marks the programs or values of a decoder as changed: it must call `begin` again. */
  leave(owner: object): void {
    if (this.#owner === owner) this.#owner = undefined;
  }

  /** Loads a decoder's limits, programs and lexicon of values. */
  begin(
    owner: object,
    bounds: TimingEventLimits,
    programs: readonly Uint8Array[],
    lexicon: number,
  ): void {
    this.#owner = owner;
    this.#bounds[0] = bounds.maxDurationMs;
    this.#wholeBounds[0] = bounds.maxDimensionBytes;
    this.#wholeBounds[1] = lexicon;
    for (const [n, program] of programs.entries()) {
      this.#bytes.set(program, layout.programs + n * layout.programBytes);
    }
  }

  /** Loads bytes of a message, at most `inputBytes`. */
  load(bytes: Uint8Array): void {
    this.#input.set(bytes);
    this.#exports.close(bytes.length);
  }

  /**
   * Reads the event at a position by the n-th program, into the arrays. Returns the position after it, or -1
   * for another shape or anything but a plain valid event.
   */
  scan(start: number, n: number): number {
    return this.#exports.scan(start, layout.programs + n * layout.programBytes);
  }

  /** Keeps the value `[start, end)` with its id, up to 48 bytes. */
  learn(start: number, end: number, id: number): void {
    this.#exports.learn(start, end, id);
  }
}

function instantiated(): EventKernel | null {
  // WebAssembly memory is little endian, typed arrays are as the machine is.
  if (highIndex !== 1) return null;
  try {
    const module = new WebAssembly.Module(Buffer.from(eventKernelWasm, 'base64'));
    return new EventKernel(new WebAssembly.Instance(module).exports as Exports);
  } catch {
    // Without SIMD or WebAssembly, the scanner in JavaScript reads all.
    return null;
  }
}
