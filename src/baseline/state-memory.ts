const pageBytes = 65_536;
const pages = { initial: 16, maximum: 65_536 } as const;
/** Memory grows by so many pages at least, and by an eighth. */
const leastGrowth = 16;
const doubleBytes = 8;
/** Rooms begin at whole cache lines, of so many doubles. */
const lineDoubles = 8;

/** A part of the memory: its first double, and how many there are. */
export interface Room {
  at: number;
  doubles: number;
}

/**
 * Where detectors keep what each window needs: one WebAssembly memory a thread, which kernels work on. What
 * belongs to one stage lies side by side in it, where scattered objects would cost a wait for memory each.
 *
 * It grows by need, up to 4 GiB, and is kept; a room is free again once nobody has its owner any more, and
 * then goes to the next one of its size. Cost: taking a room some hundred nanoseconds.
 */
export class StateMemory {
  static #shared: StateMemory | undefined;

  readonly memory = new WebAssembly.Memory(pages);
  /** Views of the memory, made anew when it grows: not to be kept over a call that may take some. */
  doubles = new Float64Array(0);
  floats = new Float32Array(0);
  ints = new Int32Array(0);
  /** What is free, by size. The first line is nobody's: a room is never at 0. */
  readonly #free = new Map<number, number[]>();
  #end = lineDoubles;
  readonly #forgotten = new FinalizationRegistry((room: Room) => this.#release(room));

  /** The one of this thread. */
  static shared(): StateMemory {
    StateMemory.#shared ??= new StateMemory();
    return StateMemory.#shared;
  }

  private constructor() {
    this.#view();
  }

  /** Room for so many doubles, all of them 0, for as long as there is its owner. */
  take(owner: object, doubles: number): Room {
    const size = Math.ceil(doubles / lineDoubles) * lineDoubles;
    const room = { at: this.#taken(size), doubles: size };
    this.#forgotten.register(owner, room);
    return room;
  }

  /** Makes a room larger than it is: another one, whose doubles are 0. */
  enlarge(room: Room, doubles: number): void {
    const size = Math.ceil(doubles / lineDoubles) * lineDoubles;
    this.#release(room);
    room.at = this.#taken(size);
    room.doubles = size;
  }

  #release({ at, doubles }: Room): void {
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
      const more = Math.max(missing, leastGrowth, Math.floor(this.#pages / lineDoubles));
      this.memory.grow(Math.min(more, pages.maximum - this.#pages));
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
