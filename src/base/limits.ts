/**
 * Limits that no configuration moves. What an operator may set is in config/schema.ts; what is
 * here bounds memory and work whatever is configured. Reaching one is counted with a reason.
 */
export const limits = {
  /** Distinct stage names a chunk tells apart; later ones count as `__other__`. */
  stageNames: 256,
  /** Records that a batch of Kafka's says it has, and that are rejected one by one as it cannot be decoded. */
  recordsPerRefusedBatch: 100_000,
  /** The last timestamp of a record that has ten digits of seconds: in the year 2286. Later is this. */
  timestampMs: 9_999_999_999_999,
  /** Stages in one event. */
  stagesPerEvent: 64,
  /** Events in one message. */
  eventsPerMessage: 100_000,
  /** Bytes of one event that is written so unusually that JSON.parse has to read it. */
  eventBytes: 1024 * 1024,
  /** Nesting of one event's JSON. */
  nestingDepth: 64,
  /** Bytes of a rejected message that its dead letter carries. */
  deadLetterBytes: 64 * 1024,
  /** Dead letters, and bytes of them, that seal a chunk early. */
  deadLettersPerChunk: 10_000,
  deadLetterBytesPerChunk: 8 * 1024 * 1024,
  /**
   * What one chunk holds at most. It is sealed well before, but never within a message, and one
   * message may bring 100,000 events of 64 stages. Beyond: `__other__`; windows: rejected.
   */
  rowsPerChunk: 100_000,
  driversPerChunk: 50_000,
  /** Bands of its cells for each row that a chunk may have, beyond which it is sealed early. */
  bandsPerRow: 4,
  windowsPerChunk: 10_000,
  /** Rows that all open chunks of a process may come to together; each has an equal share. */
  openRows: 100_000,
  /** Distinct dimension and facet values a chunk tells apart; later ones count as `__other__`. */
  internedValues: 400_000,
  /** Values a facet keeps per model and minute in a chunk; later ones count as `__other__`. */
  facetValues: 128,
  /** Slowest requests kept per series and window of a chunk. */
  exemplarsPerWindow: 3,
  /** Events that `generate` or `replay` hold back until their requests have ended; beyond, some are late. */
  heldEvents: 200_000,
} as const;
