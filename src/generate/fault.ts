/** Defaults of each kind of fault; docs/how-to/generate.md shows the kinds. */
export const faultDefaults = {
  slow_stage: { factor: 4, share: 1 },
  queue: { factor: 3 },
  pause: { stopMs: 400, everyMs: 5_000 },
  bad_version: { factor: 1.8, share: 1 },
  release: { factor: 3, share: 0.1 },
  network: { factor: 4, share: 1 },
  errors: { share: 0.1 },
  timeouts: { share: 0.1, afterMs: 30_000 },
  traffic: { factor: 3 },
  cold_starts: { share: 0.3 },
  cache_misses: { share: 1 },
  big_requests: { factor: 4, share: 0.5 },
} as const;

export type FaultKind = keyof typeof faultDefaults;

export const faultKinds = Object.keys(faultDefaults) as readonly FaultKind[];

/**
 * Describes a fault of part of the traffic for a while. An absent field has the default of its kind
 * (`faultDefaults`) or does not narrow the fault.
 */
export interface Fault {
  readonly kind: FaultKind;
  readonly model?: string;
  /** `bad_version`: the newest of each model if absent. */
  readonly version?: string;
  readonly region?: string;
  readonly host?: string;
  readonly requestType?: string;
  /**
   * `slow_stage`: required. `timeouts`: the stage in which requests hang. `release`: the slower stage,
   * `forward` if absent.
   */
  readonly stage?: string;
  /** Factor of durations, arrivals or sizes. */
  readonly factor?: number;
  /** Part of the requests that are hit, (0, 1]. */
  readonly share?: number;
  /** Milliseconds after the start of the traffic. @default {0} */
  readonly fromMs?: number;
  /** @default {Number.POSITIVE_INFINITY} */
  readonly forMs?: number;
  /** Time over which the factor grows evenly from 1. @default {0} */
  readonly rampMs?: number;
  /** `pause`: length of each stop. */
  readonly stopMs?: number;
  /** `pause`: time from one stop to the next. */
  readonly everyMs?: number;
  /** `timeouts`: time until the client gives up. */
  readonly afterMs?: number;
  /** True where the longer stages hold the host's slot as well, so that its queue grows. @default {false} */
  readonly knockOn?: boolean;
}

/** Version that a `release` introduces: no request had it before. */
export const releasedVersion = '2026-11-15';
