const pageBytes = 65_536;
const pages = { initial: 16, maximum: 65_536 } as const;
/** Memory grows by so many pages at least, and by this part of what it has. */
const leastGrowth = 16;
const growthPart = 1 / 8;
const doubleBytes = 8;
/** Rooms begin at whole cache lines, of so many doubles. */
const lineDoubles = 8;

/** Larger rooms are of whole blocks of so many: those of stages alike are of one size, and take each other's. */
const roomyDoubles = 64;

/** What a kernel asks of its host: functions of numbers, by modules. */
type Imports = Readonly<Record<string, Readonly<Record<string, (x: number) => number>>>>;

/** A part of the memory: its first double, and how many there are. */
export interface Allocation {
  readonly offset: number;
  readonly doubles: number;
}

/**
 * Where detectors keep what each window needs: one WebAssembly memory a thread, which kernels work on. What
 * belongs to one stage lies side by side in it, where scattered objects would cost a wait for memory each.
 *
 * It grows by need, up to 4 GiB, and is kept; what was taken for an owner's `Rooms` is free again once nobody
 * has these any more, and then goes to the next one of its size. Cost: taking a room some hundred nanoseconds.
 */
export class Arena {
  static #shared: Arena | undefined;

  readonly memory = new WebAssembly.Memory(pages);
  /** Views of the memory, made anew when it grows: not to be kept over a call that may take some. */
  doubles = new Float64Array(0);
  floats = new Float32Array(0);
  ints = new Int32Array(0);
  /** What is free, by size. The first line is nobody's: a room is never at 0. */
  readonly #free = new Map<number, number[]>();
  #end = lineDoubles;
  readonly #forgotten = new FinalizationRegistry((rooms: readonly Allocation[]) => {
    for (const room of rooms) this.release(room);
  });

  /** The one of this thread. */
  static shared(): Arena {
    Arena.#shared ??= new Arena();
    return Arena.#shared;
  }

  private constructor() {
    this.#view();
  }

  /**
   * The functions of a kernel, which works on this memory.
   *
   * @param wasm what it was compiled to, as base64.
   * @param imports what else it asks for, by its name. @throws where there is no WebAssembly.
   */
  kernel<Exports>(wasm: string, imports: Imports = {}): Exports {
    const module = new WebAssembly.Module(Buffer.from(wasm, 'base64'));
    const { memory } = this;
    const instance = new WebAssembly.Instance(module, { ...imports, env: { memory } });
    return instance.exports as Exports;
  }

  /** The place of values that stay. */
  store(values: readonly number[]): number {
    const { offset: at } = this.allocate(values.length);
    this.doubles.set(values, at);
    return at;
  }

  /** Rooms of one owner. */
  scope(): ArenaScope {
    const held: Allocation[] = [];
    const rooms = new ArenaScope(this, held);
    this.#forgotten.register(rooms, held);
    return rooms;
  }

  /**
   * Room for so many doubles, all of them 0, until it is released.
   *
   * @throws RangeError when that is more than there can be.
   */
  allocate(doubles: number): Allocation {
    const least = doubles < roomyDoubles ? lineDoubles : roomyDoubles;
    const size = Math.ceil(doubles / least) * least;
    return { offset: this.#taken(size), doubles: size };
  }

  /** The place of so many doubles, all of them 0, for as long as there is their owner. */
  allocateFor(owner: object, doubles: number): number {
    const room = this.allocate(doubles);
    this.#forgotten.register(owner, [room]);
    return room.offset;
  }

  /** What a room had is of no interest any more. */
  release({ offset: at, doubles }: Allocation): void {
    const free = this.#free.get(doubles);
    if (free === undefined) this.#free.set(doubles, [at]);
    else free.push(at);
  }

  #taken(doubles: number): number {
    const free = this.#free.get(doubles)?.pop();
    if (free !== undefined) {
      this.doubles.fill(0, free, free + doubles);
      return free;
    }
    const at = this.#end;
    const missing = Math.ceil(((at + doubles - this.doubles.length) * doubleBytes) / pageBytes);
    if (missing > 0) {
      const left = pages.maximum - this.#pages;
      if (missing > left)
        throw new RangeError('detectors keep 4 GiB already: there is no room for more');
      const more = Math.max(missing, leastGrowth, Math.floor(this.#pages * growthPart));
      this.memory.grow(Math.min(more, left));
      this.#view();
    }
    this.#end += doubles;
    return at;
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

/** What one owner has taken: free again when it is collected as garbage. */
export class ArenaScope {
  readonly #memory: Arena;
  readonly #held: Allocation[];

  constructor(memory: Arena, held: Allocation[]) {
    this.#memory = memory;
    this.#held = held;
  }

  /** Room for so many doubles, all of them 0. */
  allocate(doubles: number): Allocation {
    const room = this.#memory.allocate(doubles);
    this.#held.push(room);
    return room;
  }

  release(room: Allocation): void {
    const last = this.#held.pop();
    if (last !== undefined && last !== room) this.#held[this.#held.indexOf(room)] = last;
    this.#memory.release(room);
  }
}

/** The address of a double of `StateMemory`. From 2 GiB on it is negative here, as 32-bit integers are. */
export function addressOf(at: number): number {
  return at << 3;
}

/** The address of a float of it. */
export function floatAddressOf(at: number): number {
  return at << 2;
}
