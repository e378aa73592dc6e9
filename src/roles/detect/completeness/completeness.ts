/** A partition of which something waits to be stored for longer than it should. */
export interface PartitionBehind {
  /** `topic/partition` */
  readonly name: string;
  readonly behindMs: number;
  /** Messages in Kafka that are not stored. */
  readonly lagMessages: number;
  /** Whether windows are judged without it. */
  readonly isGivenUp: boolean;
}

/** A partition whose events are of another time than those at which they arrive. */
export interface PartitionDisplaced {
  readonly name: string;
  readonly delayMs: number;
}

/** A server that does not answer. */
export interface Outage {
  readonly sinceMs: number;
  readonly reason: string;
}

/** A store that does not answer. */
export interface StoreOutage extends Outage {
  /** As it was thrown the last time. */
  readonly error: unknown;
}

/** Where none was before it begins now. */
export function storeOutage(
  before: StoreOutage | undefined,
  nowMs: number,
  error: unknown,
): StoreOutage {
  const reason = error instanceof Error ? error.message : String(error);
  return { sinceMs: before?.sinceMs ?? nowMs, reason, error };
}

/** What is known of all traffic at a moment. */
export interface Completeness {
  /** Event time before which windows have all that they will be judged by; -Infinity for none. It never falls. */
  readonly completeMs: number;
  /** Up to when, by the clock, it is sure that what has arrived is all there was; undefined where it is not. */
  readonly knownMs: number | undefined;
  /** False while part of the traffic is missing: how much there is says nothing then. */
  readonly isWhole: boolean;
  /** The longest first. */
  readonly behind: readonly PartitionBehind[];
  readonly displaced: readonly PartitionDisplaced[];
  /** Messages that are not stored, by `topic/partition`. */
  readonly lagMessages: ReadonlyMap<string, number>;
  readonly kafkaOutage: Outage | undefined;
  readonly storeOutage: StoreOutage | undefined;
}

/** Tells how far windows are complete. */
export interface CompletenessProbe {
  /** Asks once. Where the ledger cannot be read, `storeOutage` says so. */
  probe(): Promise<Completeness>;
}

/** Nothing is wrong, as far as anybody can tell. */
export const nothingWrong = {
  behind: [],
  displaced: [],
  lagMessages: new Map<string, number>(),
  kafkaOutage: undefined,
  storeOutage: undefined,
} as const;
