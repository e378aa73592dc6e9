/** Series share state at the start of a block of this length. */
const blockMs = 2 * 60_000;

/** The number of the block of a window, by its start. */
export function blockOf(startMs: number): number {
  return Math.floor(startMs / blockMs);
}
