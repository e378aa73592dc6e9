/** Windows of a block: what series know of each other is as of its begin. */
const blockWindows = 6;

/** The number of the block that a window is of; each begins at a multiple of its length. */
export function blockOf(startMs: number, windowMs: number): number {
  return Math.floor(startMs / (blockWindows * windowMs));
}
