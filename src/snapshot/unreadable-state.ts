/** A snapshot that this version, or this configuration, cannot restore; the message says why. */
export class UnreadableState extends Error {}
