/** Has state that can be saved and restored. */
export interface Serializable {
  serialize(state: StateArchive): void;
}

/**
 * Takes up state, or gives it back: a class names its fields once, in `carry`, and the same calls in the
 * same order save and restore them. Each method is given what there is and returns what there is to be:
 * the same where state is saved, what was saved where it is restored.
 */
export interface StateArchive {
  /**
   * What one class keeps, under its name. The version goes up whenever what `body` carries changes; what
   * was saved under another one is refused by name (test/detect/detector-state.test.ts sees to it).
   */
  section(name: string, version: number, body: () => void): void;
  /** Any double, NaN too. */
  number(value: number): number;
  flag(value: boolean): boolean;
  text(value: string): string;
  /** Some doubles; what is given back is their own array. */
  numbers(values: ArrayLike<number>): Float64Array;
  /** The elements of an array that keeps its place and its length. */
  fill(values: Float64Array | Float32Array): void;
  /** Each by itself, in order; `carry` is given nothing where an item is restored. */
  list<T>(items: Iterable<T>, serialize: (item: T | undefined) => T): T[];
  /** Each under its key, in order; where they are restored, `make` makes them for an empty map. */
  map<T extends Serializable>(items: Map<string, T>, make: (key: string) => T): void;
  /** What may be missing; `carry` is given nothing where it is restored. */
  optional<T>(value: T | undefined, serialize: (value: T | undefined) => T): T | undefined;
}
