const pageBytes = 65_536;
const pages = { initial: 16, maximum: 65_536 } as const;
/** The memory grows by at least this many pages, or by this share of its size. */
const minGrowthPages = 16;
const growthShare = 1 / 8;
const doubleBytes = 8;
/** Doubles of a cache line: allocations begin at whole lines. */
const lineDoubles = 8;

/** Larger allocations are multiples of this, so that stages of similar size reuse each other's. */
const blockDoubles = 64;

/** Functions of numbers that a kernel imports, by module. */
type Imports = Readonly<Record<string, Readonly<Record<string, (x: number) => number>>>>;

/** A part of the memory: the offset of its first double, and its length. */
export interface Allocation {
  readonly offset: number;
  readonly doubles: number;
}

/**
 * Memory of the detectors: one WebAssembly memory a thread, on which kernels work. The numbers of a stage are
 * adjacent in it: scattered objects would cost a cache miss each.
 *
 * It grows on demand, up to 4 GiB, and never shrinks. The allocations of a collected owner or `ArenaScope`
 * are free again, for requests of the same size. An allocation costs some hundred nanoseconds.
 */
export class Arena {
  static #shared: Arena | undefined;

  readonly memory = new WebAssembly.Memory(pages);
  /** Views of the memory, replaced when it grows: do not hold them across a call that may allocate. */
  doubles = new Float64Array(0);
  floats = new Float32Array(0);
  ints = new Int32Array(0);
  /** Offsets of free allocations, by size. The first line is never allocated: no offset is 0. */
  readonly #free = new Map<number, number[]>();
  #end = lineDoubles;
  readonly #collected = new FinalizationRegistry((allocations: readonly Allocation[]) => {
    for (const allocation of allocations) this.release(allocation);
  });

  /** The arena of this thread. */
  static shared(): Arena {
    Arena.#shared ??= new Arena();
    return Arena.#shared;
  }

  private constructor() {
    this.#view();
  }

  /**
   * Instantiates a kernel on this memory and returns its exports.
   *
   * @param wasm the module, as base64.
   * @param imports further functions that it imports. @throws where there is no WebAssembly.
   */
  kernel<Exports>(wasm: string, imports: Imports = {}): Exports {
    const module = new WebAssembly.Module(Buffer.from(wasm, 'base64'));
    const { memory } = this;
    const instance = new WebAssembly.Instance(module, { ...imports, env: { memory } });
    return instance.exports as Exports;
  }

  /** Stores constants and returns their offset. */
  store(values: readonly number[]): number {
    const { offset } = this.allocate(values.length);
    this.doubles.set(values, offset);
    return offset;
  }

  /** Returns a scope for the allocations of one owner. */
  scope(): ArenaScope {
    const allocations: Allocation[] = [];
    const scope = new ArenaScope(this, allocations);
    this.#collected.register(scope, allocations);
    return scope;
  }

  /**
   * Allocates doubles, all of them 0, until they are released.
   *
   * @throws RangeError at the limit of 4 GiB.
   */
  allocate(doubles: number): Allocation {
    const least = doubles < blockDoubles ? lineDoubles : blockDoubles;
    const size = Math.ceil(doubles / least) * least;
    return { offset: this.#allocateOffset(size), doubles: size };
  }

  /** Allocates doubles, all of them 0, until their owner is collected. Returns their offset. */
  allocateFor(owner: object, doubles: number): number {
    const allocation = this.allocate(doubles);
    this.#collected.register(owner, [allocation]);
    return allocation.offset;
  }

  release({ offset, doubles }: Allocation): void {
    const free = this.#free.get(doubles);
    if (free === undefined) this.#free.set(doubles, [offset]);
    else free.push(offset);
  }

  #allocateOffset(doubles: number): number {
    const free = this.#free.get(doubles)?.pop();
    if (free !== undefined) {
      this.doubles.fill(0, free, free + doubles);
      return free;
    }
    const offset = this.#end;
    const missingPages = Math.ceil(
      ((offset + doubles - this.doubles.length) * doubleBytes) / pageBytes,
    );
    if (missingPages > 0) {
      const leftPages = pages.maximum - this.#pages;
      if (missingPages > leftPages)
        throw new RangeError('detectors keep 4 GiB already: there is no room for more');
      const growth = Math.max(missingPages, minGrowthPages, Math.floor(this.#pages * growthShare));
      this.memory.grow(Math.min(growth, leftPages));
      this.#view();
    }
    this.#end += doubles;
    return offset;
  }

  get #pages(): number {
    return this.memory.buffer.byteLength / pageBytes;
  }

  #view(): void {
    const { buffer } = this.memory;
    this.doubles = new Float64Array(buffer);
    this.floats = new Float32Array(buffer);
    this.ints = new Int32Array(buffer);
  }
}

/** Allocations of one owner, freed when the scope is collected. */
export class ArenaScope {
  readonly #memory: Arena;
  readonly #allocations: Allocation[];

  constructor(memory: Arena, allocations: Allocation[]) {
    this.#memory = memory;
    this.#allocations = allocations;
  }

  /** As `Arena.allocate`. */
  allocate(doubles: number): Allocation {
    const allocation = this.#memory.allocate(doubles);
    this.#allocations.push(allocation);
    return allocation;
  }

  release(allocation: Allocation): void {
    const last = this.#allocations.pop();
    if (last !== undefined && last !== allocation)
      this.#allocations[this.#allocations.indexOf(allocation)] = last;
    this.#memory.release(allocation);
  }
}

/** Byte address of a double of the arena. From 2 GiB on it is negative, as a 32-bit integer is. */
export function addressOf(offset: number): number {
  return offset << 3;
}

/** Byte address of a float of the arena. */
export function floatAddressOf(offset: number): number {
  return offset << 2;
}
