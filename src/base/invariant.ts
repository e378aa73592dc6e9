/** Throws when a state that cannot be has come about: a bug of ours, never the operator's. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`BUG: ${message}`);
}
