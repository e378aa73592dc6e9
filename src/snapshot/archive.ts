/** A snapshot that this version, or this configuration, cannot restore; the message says why. */
export class UnreadableState extends Error {}

/** State that can be saved and restored. */
export interface Serializable {
  serialize(state: StateArchive): void;
}

/**
 * Saves state, or restores it. A class names its fields once, in `serialize`: the same calls in the same
 * order do both. Each method is given the present value. It returns that value when saving, and the saved one
 * when restoring.
 */
export interface StateArchive {
  /**
   * Delimits the state of one class by its name. Its version goes up whenever the fields in `body` change; a
   * snapshot of another version is refused by name. test/detect/detector-state.test.ts holds the layouts.
   */
  section<T>(name: string, version: number, body: () => T): T;
  number(value: number): number;
  flag(value: boolean): boolean;
  text(value: string): string;
  /** Saves doubles, or restores them into a new array. */
  numbers(values: ArrayLike<number>): Float64Array;
  /** Saves the elements of an array, or restores them in place; their number must be the same. */
  fill(values: Float64Array | Float32Array): void;
  /** Saves items in order. `serialize` is given undefined where an item is restored. */
  list<T>(items: Iterable<T>, serialize: (item: T | undefined) => T): T[];
  /** Saves items by key, in order, or restores them into an empty map, each made by `make`. */
  map<T extends Serializable>(items: Map<string, T>, make: (key: string) => T): void;
  /** Saves a value that may be undefined. `serialize` is given undefined where one is restored. */
  optional<T>(value: T | undefined, serialize: (value: T | undefined) => T): T | undefined;
}

/** Saves the fields of a flat object, or restores them, in the order of `empty`, which has the same ones. */
export function serializeFields<T extends { readonly [Key in keyof T]: number | string | boolean }>(
  state: StateArchive,
  value: NoInfer<T> | undefined,
  empty: T,
): T {
  const fields = Object.keys(empty).map((key) => {
    const field = (value ?? empty)[key as keyof T];
    if (typeof field === 'number') return [key, state.number(field)];
    return [key, typeof field === 'string' ? state.text(field) : state.flag(field as boolean)];
  });
  return Object.fromEntries(fields) as T;
}
