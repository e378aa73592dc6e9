import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { countKernelWasm } from './count-kernel-wasm.ts';
import { highIndex } from './high-word.ts';

/**
 * Where things lie in the kernel's memory, in bytes. kernel/count-kernel.ts has the same addresses and
 * offsets, and those of what is handed out:
 *
 *     slot      how many values wait, column of its stage, the values, 32 at most; of what is in buckets
 *               requests, sum, min, max, page table
 *     table     addresses of the pages of 64 octaves
 *     page      requests and milliseconds of 64 buckets
 *     record    of a series in a window: slots of 64 stages, vectors of 208 bands, its number
 *     vector    sums of 16 columns
 */
const layout = {
  ids: 1024,
  durations: 2048,
  blocks: 65_536,
} as const;

/** Sizes of what is handed out, in bytes: all of them whole cache lines. */
export const kernelBytes = { slot: 320, record: 1152, vector: 128 } as const;
/** Offsets in a slot and in a record. */
export const kernelOffsets = {
  waiting: 0,
  column: 4,
  values: 8,
  requests: 264,
  sum: 272,
  min: 280,
  max: 288,
  table: 296,
  vectors: 256,
  cell: 1088,
} as const;
/** Stages whose slots a record knows, and columns of a vector. */
export const kernelStages = 64;
export const kernelColumns = 16;

const blockBytes = 65_536;
const pageBytes = 65_536;
/** Memory grows by so many pages at least, and by an eighth. */
const leastGrowth = 16;

/** Makes room for what the kernel meets for the first time. */
export interface CountHost {
  /** Zeroed memory, of whole cache lines. */
  take(bytes: number): number;
  /** The slot of a stage of a record, which it may put among the record's. */
  slotOf(record: number, stage: number): number;
  /** The vector of a band of a record, put among the record's. */
  vectorOf(record: number, band: number): number;
  /** Adds to a column beyond those of a vector. */
  addFar(record: number, band: number, column: number, amount: number): void;
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  count(record: number, band: number, stages: number, total: number, totalMs: number): void;
  add(slot: number, ms: number): void;
  spill(slot: number): void;
  addToBand(record: number, band: number, column: number, amount: number): void;
}

/**
 * The WebAssembly that adds durations to sketches and bands, and the memory in which they are: one for all
 * of a thread. Addresses are unsigned 32-bit integers; as indices of `ints` and `doubles` they are
 * shifted without sign. The memory grows by need, up to 4 GiB, and is kept.
 */
export class CountKernel {
  static #shared: CountKernel | undefined;

  readonly #exports: Exports;
  #host: CountHost | undefined;
  /** Views of the memory, made anew when it grows: not to be kept over a call that may take some. */
  bytes = new Uint8Array(0);
  ints = new Int32Array(0);
  doubles = new Float64Array(0);
  /** What is given to `count`. */
  ids = new Int32Array(0);
  durations = new Float64Array(0);
  readonly #free: number[] = [];
  #end: number = layout.blocks;
  /** Blocks of arenas that nobody has any more are free again. */
  readonly #forgotten = new FinalizationRegistry((blocks: readonly number[]) => {
    for (const block of blocks) this.#free.push(block);
  });

  /** The one of this thread. @throws where there is no WebAssembly, or numbers are big endian. */
  static shared(): CountKernel {
    CountKernel.#shared ??= new CountKernel();
    return CountKernel.#shared;
  }

  private constructor() {
    invariant(highIndex === 1, 'this machine is big endian, which tailmark does not run on');
    const asked = (): CountHost => {
      invariant(this.#host !== undefined, 'the kernel was called without a host');
      return this.#host;
    };
    const host = {
      take: (bytes: number) => asked().take(bytes),
      slotOf: (record: number, stage: number) => asked().slotOf(record, stage),
      vectorOf: (record: number, band: number) => asked().vectorOf(record, band),
      addFar: (record: number, band: number, column: number, amount: number) =>
        asked().addFar(record, band, column, amount),
    };
    const module = new WebAssembly.Module(Buffer.from(countKernelWasm, 'base64'));
    this.#exports = new WebAssembly.Instance(module, { 'count-kernel': host })
      .exports as unknown as Exports;
    this.#view();
  }

  /** Memory from which one pool or table takes what it needs. */
  arena(): KernelArena {
    const blocks: number[] = [];
    const arena = new KernelArena(this, blocks);
    this.#forgotten.register(arena, blocks);
    return arena;
  }

  /** A block of 64 KiB, as it was left. */
  takeBlock(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const block = this.#end;
    if (block + blockBytes > this.bytes.length) {
      this.#exports.memory.grow(Math.max(leastGrowth, this.bytes.length / pageBytes / 8));
      this.#view();
    }
    this.#end += blockBytes;
    return block;
  }

  /**
   * Adds an event's durations, the first of `durations`, to the stages of `ids`.
   *
   * @param band of its total, from 0 on; -1 where it has none, and no total either.
   */
  count(
    host: CountHost,
    record: number,
    band: number,
    stages: number,
    total: number,
    totalMs: number,
  ): void {
    this.#host = host;
    this.#exports.count(record, band, stages, total, totalMs);
  }

  add(host: CountHost, slot: number, ms: number): void {
    this.#host = host;
    this.#exports.add(slot, ms);
  }

  /** Moves the values that wait in a slot to their buckets. */
  spill(host: CountHost, slot: number): void {
    this.#host = host;
    this.#exports.spill(slot);
  }

  /** Adds to one column of a band; a host may do so while it is asked for something. */
  addToBand(host: CountHost, record: number, band: number, column: number, amount: number): void {
    const asking = this.#host;
    this.#host = host;
    this.#exports.addToBand(record, band, column, amount);
    this.#host = asking;
  }

  #view(): void {
    const { buffer } = this.#exports.memory;
    this.bytes = new Uint8Array(buffer);
    this.ints = new Int32Array(buffer);
    this.doubles = new Float64Array(buffer);
    this.ids = new Int32Array(buffer, layout.ids, limits.stagesPerEvent);
    this.durations = new Float64Array(buffer, layout.durations, limits.stagesPerEvent);
  }
}

/** Memory in blocks, handed out one piece after the other, taken back all at once, and kept. */
export class KernelArena {
  readonly #kernel: CountKernel;
  readonly #blocks: number[];
  #used = 0;
  #at = 0;
  #end = 0;

  constructor(kernel: CountKernel, blocks: number[]) {
    this.#kernel = kernel;
    this.#blocks = blocks;
  }

  /** Memory held, whether in use or kept for reuse. */
  get bytes(): number {
    return this.#blocks.length * blockBytes;
  }

  /** The address of so many bytes, whole cache lines, as they were left. */
  allocate(bytes: number): number {
    if (this.#at + bytes > this.#end) {
      if (this.#used === this.#blocks.length) this.#blocks.push(this.#kernel.takeBlock());
      this.#at = this.#blocks[this.#used++] as number;
      this.#end = this.#at + blockBytes;
    }
    const address = this.#at;
    this.#at += bytes;
    return address;
  }

  takeZeroed(bytes: number): number {
    const address = this.allocate(bytes);
    this.#kernel.bytes.fill(0, address, address + bytes);
    return address;
  }

  /** Takes all back. */
  reset(): void {
    this.#used = 0;
    this.#at = 0;
    this.#end = 0;
  }
}
