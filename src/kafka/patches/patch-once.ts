import { invariant } from '../../base/invariant.ts';

/** A class of kafkajs, as `require` returns it. */
export interface Patchable<T> {
  readonly name?: string;
  readonly prototype: T;
}

const applied = new WeakMap<object, Set<string>>();

/**
 * Replaces methods of a class of kafkajs, once per process.
 *
 * @param patch name of the patch.
 * @param methods the methods to replace.
 * @param replace returns the new methods; it receives the old ones, which must be called with `this`.
 * @throws Error ("BUG: ...") where the class lacks a method: this is another version of kafkajs.
 */
export function patchOnce<T extends object, K extends keyof T & string>(
  { prototype, name = 'a class' }: Patchable<T>,
  patch: string,
  methods: readonly K[],
  replace: (before: Pick<T, K>) => Pick<T, K>,
): void {
  const patches = applied.get(prototype) ?? new Set();
  if (patches.has(patch)) return;
  for (const method of methods) {
    const isThere = typeof prototype[method] === 'function';
    invariant(isThere, `kafkajs' ${name} must have the method ${method}, which ${patch} replaces`);
  }
  const before = Object.fromEntries(methods.map((method) => [method, prototype[method]]));
  Object.assign(prototype, replace(before as Pick<T, K>));
  patches.add(patch);
  applied.set(prototype, patches);
}
