/** Kinds of fault; docs/how-to/generate.md shows each. */
export const faultKinds = [
  'slow_stage',
  'queue',
  'pause',
  'bad_version',
  'release',
  'network',
  'errors',
  'timeouts',
  'traffic',
  'cold_starts',
  'cache_misses',
  'big_requests',
] as const;

export type FaultKind = (typeof faultKinds)[number];

/**
 * Something that goes wrong with part of the traffic for a while. Whatever is absent does not
 * narrow it, or has the default of its kind (`faultDefaults`).
 */
export interface Fault {
  readonly kind: FaultKind;
  readonly model?: string;
  /** `bad_version`: the newest of each model if absent. */
  readonly version?: string;
  readonly region?: string;
  readonly host?: string;
  readonly requestType?: string;
  /** `slow_stage`: required. `timeouts`: where requests hang; `release`: what is slower: `forward` if absent. */
  readonly stage?: string;
  /** What durations, arrivals or sizes are multiplied by. */
  readonly factor?: number;
  /** Part of the requests that it hits, (0, 1]. */
  readonly share?: number;
  /** Milliseconds after the start of the traffic. @default {0} */
  readonly fromMs?: number;
  /** @default {Number.POSITIVE_INFINITY} */
  readonly forMs?: number;
  /** The factor grows evenly from 1 over this long. @default {0} */
  readonly rampMs?: number;
  /** `pause`: how long the host stands still each time. */
  readonly stopMs?: number;
  /** `pause`: from one stop to the next. */
  readonly everyMs?: number;
  /** `timeouts`: how long the client waits until it gives up. */
  readonly afterMs?: number;
  /** The longer stages hold the host's slot as well, so that its queue grows. @default {false} */
  readonly knockOn?: boolean;
}

/** The version that a `release` brings: no request had it before. */
export const releasedVersion = '2026-11-15';

/** What a kind takes beside the common keys, with its defaults. */
export const faultDefaults: Readonly<
  Record<FaultKind, Readonly<Pick<Fault, 'factor' | 'share' | 'stopMs' | 'everyMs' | 'afterMs'>>>
> = {
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
};
