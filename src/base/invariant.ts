/** Throws if a condition is false: a bug of ours, never the operator's. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`BUG: ${message}`);
}
