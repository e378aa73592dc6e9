/** Series share what they know of each other when a block begins, which is so long. */
const blockMs = 2 * 60_000;

/** The number of the block that a window is of, by its start. */
export function blockOf(startMs: number): number {
  return Math.floor(startMs / blockMs);
}

/** Whether two windows are of one block, by their starts. */
export function areOfOneBlock(ms: number, otherMs: number): boolean {
  return blockOf(ms) === blockOf(otherMs);
}
