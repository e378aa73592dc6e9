/** Saved state that this version, or this configuration, cannot go on with; the message says why. */
export class UnreadableState extends Error {}
