import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { countKernelWasm } from './count-kernel-wasm.ts';
import { highIndex } from './high-word.ts';

/**
 * Memory layout of the kernel, in bytes, the same as in kernel/count-kernel.ts. Allocated structures:
 *
 *     slot      waiting values and room for them (16 bits each), column of its stage, up to 7 values;
 *               once replaced: room for none, address of its wide slot
 *     wide slot the same with up to 32 values; of the buckets requests, sum, min, max, page table
 *     table     addresses of the pages of 64 octaves
 *     page      requests and milliseconds of 64 buckets
 *     block     of a cell (a series in a window): slots of 16 stages, pages of bands, table of the slots of
 *               further stages, its number
 *     bands     vectors of 16 bands
 *     vector    sums of 16 columns
 */
const layout = {
  ids: 1024,
  durations: 2048,
  blocks: 65_536,
} as const;

/** Sizes of the structures, in bytes: whole cache lines. */
export const kernelBytes = { slot: 64, block: 128, stages: 192, bands: 64, vector: 128 } as const;
/** Values of a slot, and of a wide one. */
export const kernelValues = { slot: 7, wideSlot: 32 } as const;
/** Offsets in a slot and in a block. */
export const kernelOffsets = {
  waiting: 0,
  column: 4,
  values: 8,
  requests: 264,
  sum: 272,
  min: 280,
  max: 288,
  table: 296,
  bands: 64,
  stages: 116,
  cell: 120,
} as const;
/** Stages with a slot in a block, and in its table; bands of a page; columns of a vector. */
export const kernelStages = { inBlock: 16, inTable: 48 } as const;
export const kernelPageBands = 16;
export const kernelColumns = 16;

const blockBytes = 65_536;
const pageBytes = 65_536;
/** Minimum growth of the memory in pages; it grows by an eighth otherwise. */
const minGrowthPages = 16;

/** Allocates structures that the kernel needs for the first time. */
export interface CountHost {
  /** Allocates zeroed memory, of whole cache lines. */
  allocate(bytes: number): number;
  /** Returns the slot of a block's stage, and may store it in the block. */
  slotOf(block: number, stage: number): number;
  /** Allocates the vector of a block's band, and stores it in the block. */
  vectorOf(block: number, band: number): number;
  /** Adds to a column beyond those of a vector. */
  addFar(block: number, band: number, column: number, amount: number): void;
}

function refuse(): never {
  invariant(false, 'the count kernel asked its host for what the host does not hold');
}

/** Allocates nothing: a host of a part of the structures overrides the rest. */
export const refusingHost: CountHost = {
  allocate: refuse,
  slotOf: refuse,
  vectorOf: refuse,
  addFar: refuse,
};

interface Exports {
  readonly memory: WebAssembly.Memory;
  count(block: number, band: number, stages: number, total: number, totalMs: number): void;
  countMany(
    block: number,
    band: number,
    stages: number,
    total: number,
    totalMs: number,
    times: number,
  ): void;
  add(slot: number, ms: number): void;
  spill(slot: number): void;
  addToBand(block: number, band: number, column: number, amount: number): void;
}

/**
 * WebAssembly that adds durations to sketches and bands, and their memory: one instance a thread. Addresses
 * are unsigned 32-bit integers, shifted without sign as indices of `ints` and `doubles`. The memory grows on
 * demand, up to 4 GiB, and never shrinks.
 */
export class CountKernel {
  static #shared: CountKernel | undefined;

  readonly #exports: Exports;
  #host = refusingHost;
  /** Views of the memory, replaced when it grows: do not hold them across a call that may allocate. */
  bytes = new Uint8Array(0);
  ints = new Int32Array(0);
  doubles = new Float64Array(0);
  /** Arguments of `count`. */
  ids = new Int32Array(0);
  durations = new Float64Array(0);
  readonly #free: number[] = [];
  #end: number = layout.blocks;
  /** Frees the blocks of collected arenas. */
  readonly #collected = new FinalizationRegistry((blocks: readonly number[]) => {
    this.freeBlocks(blocks);
  });

  /** The kernel of this thread. @throws where there is no WebAssembly, or numbers are big endian. */
  static shared(): CountKernel {
    CountKernel.#shared ??= new CountKernel();
    return CountKernel.#shared;
  }

  private constructor() {
    invariant(highIndex === 1, 'this machine is big endian, which tailmark does not run on');
    const host = {
      take: (bytes: number) => this.#host.allocate(bytes),
      slotOf: (block: number, stage: number) => this.#host.slotOf(block, stage),
      vectorOf: (block: number, band: number) => this.#host.vectorOf(block, band),
      addFar: (block: number, band: number, column: number, amount: number) =>
        this.#host.addFar(block, band, column, amount),
    };
    const module = new WebAssembly.Module(Buffer.from(countKernelWasm, 'base64'));
    this.#exports = new WebAssembly.Instance(module, { 'count-kernel': host })
      .exports as unknown as Exports;
    this.#view();
  }

  /** Returns an arena for one pool or table. */
  arena(): KernelArena {
    const blocks: number[] = [];
    const arena = new KernelArena(this, blocks);
    this.#collected.register(arena, blocks);
    return arena;
  }

  /** Allocates a block of 64 KiB, not zeroed. */
  allocateBlock(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const block = this.#end;
    if (block + blockBytes > this.bytes.length) {
      this.#exports.memory.grow(Math.max(minGrowthPages, this.bytes.length / pageBytes / 8));
      this.#view();
    }
    this.#end += blockBytes;
    return block;
  }

  freeBlocks(blocks: readonly number[]): void {
    for (const block of blocks) this.#free.push(block);
  }

  /**
   * Adds an event's durations, the first of `durations`, to the stages of `ids`.
   *
   * @param band of its total, from 0 on; -1 for an event without a total.
   */
  count(
    host: CountHost,
    block: number,
    band: number,
    stages: number,
    total: number,
    totalMs: number,
  ): void {
    this.#host = host;
    this.#exports.count(block, band, stages, total, totalMs);
  }

  /** Does as `count` does `times` times, at the cost of 64 of them at most. */
  countMany(
    host: CountHost,
    block: number,
    band: number,
    stages: number,
    total: number,
    totalMs: number,
    times: number,
  ): void {
    this.#host = host;
    this.#exports.countMany(block, band, stages, total, totalMs, times);
  }

  add(host: CountHost, slot: number, ms: number): void {
    this.#host = host;
    this.#exports.add(slot, ms);
  }

  /** Moves a wide slot's waiting values to its buckets. */
  spill(host: CountHost, slot: number): void {
    this.#host = host;
    this.#exports.spill(slot);
  }

  /** Adds to one column of a band. A host may call it while the kernel calls the host. */
  addToBand(host: CountHost, block: number, band: number, column: number, amount: number): void {
    const caller = this.#host;
    this.#host = host;
    this.#exports.addToBand(block, band, column, amount);
    this.#host = caller;
  }

  #view(): void {
    const { buffer } = this.#exports.memory;
    this.bytes = new Uint8Array(buffer);
    this.ints = new Int32Array(buffer);
    this.doubles = new Float64Array(buffer);
    const counted = limits.durationsPerEvent + limits.jointObjectives;
    this.ids = new Int32Array(buffer, layout.ids, counted);
    this.durations = new Float64Array(buffer, layout.durations, counted);
  }
}

/** Allocates from blocks, in order; `reset` gives all of them back to the kernel. */
class KernelArena {
  readonly #kernel: CountKernel;
  readonly #blocks: number[];
  #next = 0;
  #end = 0;

  constructor(kernel: CountKernel, blocks: number[]) {
    this.#kernel = kernel;
    this.#blocks = blocks;
  }

  /** Bytes in use, in whole blocks. */
  get bytes(): number {
    return this.#blocks.length * blockBytes;
  }

  /** Allocates bytes, whole cache lines, not zeroed. Returns their address. */
  allocate(bytes: number): number {
    if (this.#next + bytes > this.#end) {
      this.#next = this.#kernel.allocateBlock();
      this.#blocks.push(this.#next);
      this.#end = this.#next + blockBytes;
    }
    const address = this.#next;
    this.#next += bytes;
    return address;
  }

  allocateZeroed(bytes: number): number {
    const address = this.allocate(bytes);
    this.#kernel.bytes.fill(0, address, address + bytes);
    return address;
  }

  reset(): void {
    this.#kernel.freeBlocks(this.#blocks);
    this.#blocks.length = 0;
    this.#next = 0;
    this.#end = 0;
  }
}
