/** Milliseconds since the Unix epoch, as read by whoever is told the time. */
export interface Clock {
  nowMs(): number;
}

/** The machine's own clock. Only shells use it: the core is told the time. */
export const systemClock: Clock = { nowMs: () => Date.now() };
