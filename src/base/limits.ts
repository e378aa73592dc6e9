/** Limits of memory and work that are not configurable. Reaching one is counted with a reason. */
export const limits = {
  /** Distinct stage names of a chunk; later ones count as `__other__`. */
  stageNames: 256,
  /** Records of a Kafka batch that cannot be decoded, which are rejected one by one. */
  recordsPerRefusedBatch: 100_000,
  /** Latest timestamp of a record, in the year 2286: the last with ten digits of seconds. */
  timestampMs: 9_999_999_999_999,
  stagesPerEvent: 64,
  /** Stages of an event, and the measures that are derived from it. */
  durationsPerEvent: 66,
  /** Gaps between tokens of an event: those of an answer of as many tokens. */
  gapsPerEvent: 65_536,
  /** Sets of thresholds of joint objectives, each counted once however many objectives have it. */
  jointObjectives: 8,
  /** Bytes of these as JSON: they are part of a commit's metadata, for which Kafka has 4,096. */
  jointObjectiveBytes: 1_000,
  eventsPerMessage: 100_000,
  /**
   * Spans or records of a message that are rejected one by one. The rest of the message is then rejected as a
   * whole.
   */
  rejectedPerMessage: 10_000,
  /** Bytes of one event that JSON.parse has to read. */
  eventBytes: 1024 * 1024,
  /** Nesting of one event's JSON. */
  nestingDepth: 64,
  /** Nesting of a message of JSON that is parsed as a whole, such as many spans. Attributes may be trees. */
  messageDepth: 1_000,
  /** Objects and arrays of such a message. 16 MiB of spans of calls have some 490,000. */
  messageBrackets: 500_000,
  /** Members of one object or array of it: an object of a million different names takes seconds. */
  messageMembers: 200_000,
  /**
   * Attributes and events of a span together, with the attributes of its events; attributes of a resource. By
   * default SDKs keep 128 attributes, 128 events and 128 attributes of each: 16,640.
   */
  spanParts: 20_000,
  /** Bytes of a rejected message that its dead letter contains. */
  deadLetterBytes: 64 * 1024,
  /** Requests that one event may stand for. */
  eventWeight: 10_000,
  /** Dead letters, and bytes of them, that seal a chunk early. */
  deadLettersPerChunk: 10_000,
  deadLetterBytesPerChunk: 8 * 1024 * 1024,
  /**
   * Rows of a chunk beyond which stages and cells count as `__other__`. Chunks are sealed before, but never
   * within a message, which may hold 100,000 events of 64 stages.
   */
  rowsPerChunk: 300_000,
  driversPerChunk: 75_000,
  windowsPerChunk: 10_000,
  /**
   * Memory of all open chunks of a process together (`OpenMemory`). Some two million rows of one value each,
   * or 60,000 of hundreds.
   */
  openBytes: 256 * 1024 * 1024,
  /** Distinct dimension and facet values of a chunk; later ones count as `__other__`. */
  internedValues: 400_000,
  /** A team's own dimensions, and its own facets. */
  ownDimensions: 4,
  ownFacets: 8,
  /** Values of a facet per model and minute of a chunk; later ones count as `__other__`. */
  facetValues: 128,
  /** Exemplars of a chunk per series and window, and of a window. */
  exemplarsPerSeries: 3,
  /** The same for requests that failed, in addition. */
  failedExemplarsPerSeries: 1,
  exemplarsOfWindow: 1_000,
  /** Requests that a conversion remembers where a mapping says `once`; the oldest are forgotten. */
  rememberedRequests: 100_000,
  /** Events that `generate` or `replay` hold until their requests have ended; beyond, some are late. */
  heldEvents: 200_000,
} as const;
