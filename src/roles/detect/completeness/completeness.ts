import { messageOf } from '../../../base/failure.ts';

/** A partition whose records wait to be stored for longer than normal. */
export interface PartitionBehind {
  /** `topic/partition` */
  readonly name: string;
  readonly behindMs: number;
  /** Messages in Kafka that are not stored. */
  readonly lagMessages: number;
  /** True if windows are evaluated without it. */
  readonly isGivenUp: boolean;
}

/** A partition whose event times differ too much from their arrival. */
export interface PartitionDisplaced {
  readonly name: string;
  readonly delayMs: number;
}

export interface Outage {
  readonly sinceMs: number;
  readonly reason: string;
}

export interface StoreOutage extends Outage {
  /** The latest error, as thrown. */
  readonly error: unknown;
}

/** Continues an outage, or starts one now. */
export function storeOutage(
  before: StoreOutage | undefined,
  nowMs: number,
  error: unknown,
): StoreOutage {
  return { sinceMs: before?.sinceMs ?? nowMs, reason: messageOf(error), error };
}

/** Completeness of all traffic at one moment. */
export interface Completeness {
  /** Event time before which windows are complete; -Infinity for none. It never decreases. */
  readonly completeMs: number;
  /** Wall-clock time up to which all traffic is known to be stored; undefined while it is not. */
  readonly knownMs: number | undefined;
  /** False while part of the traffic is missing, so that its volume means nothing. */
  readonly hasAllTraffic: boolean;
  /** The longest first. */
  readonly behind: readonly PartitionBehind[];
  readonly displaced: readonly PartitionDisplaced[];
  /** Messages that are not stored, by `topic/partition`. */
  readonly lagMessages: ReadonlyMap<string, number>;
  readonly kafkaOutage: Outage | undefined;
  readonly storeOutage: StoreOutage | undefined;
}

export interface CompletenessProbe {
  /** Probes once. A failure to read the ledger is returned as `storeOutage`. */
  probe(): Promise<Completeness>;
}

/** Without any known problem. */
export const nothingWrong = {
  behind: [],
  displaced: [],
  lagMessages: new Map<string, number>(),
  kafkaOutage: undefined,
  storeOutage: undefined,
} as const;
