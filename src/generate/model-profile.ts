/** Input of a size or of a stage's duration. */
export type Unit = 'items' | 'input_tokens' | 'output_tokens';

/** A size: a mixture of lognormals, rounded, clamped to [least, most]. */
export interface SizeProfile {
  /** The shares sum to 1; `sigma` is the standard deviation of the logarithm. */
  readonly parts: readonly Readonly<{ share: number; median: number; sigma: number }>[];
  readonly least: number;
  readonly most: number;
}

/** Clustering of arrivals: a Poisson process whose rate varies slowly and jitters around its mean. */
export interface ArrivalProfile {
  /** Of the logarithm of the rate: each is stationary, with a relaxation time of `tauMs`. */
  readonly components: readonly Readonly<{ variance: number; tauMs: number }>[];
  /** Relative variance of the independent factor of each 100 ms. */
  readonly jitterVariance: number;
}

export interface RequestTypeProfile {
  readonly name: string;
  readonly share: number;
  readonly arrivals: ArrivalProfile;
  /** Items in the request (`batch_size`). */
  readonly items: SizeProfile;
  readonly inputTokens?: SizeProfile;
  readonly outputTokens?: SizeProfile;
}

/**
 * A stage's time: (baseMs + per unit × units) × a lognormal factor; rarely × a Pareto factor. Half the
 * variance of the factor's logarithm is common to all stages of the request.
 */
export interface StageProfile {
  readonly name: string;
  readonly baseMs: number;
  readonly perUnitMs?: Readonly<Partial<Record<Unit, number>>>;
  readonly sigma: number;
  /** True where the request holds one of the host's slots meanwhile. */
  readonly holdsSlot?: boolean;
  /** Factor of the time on a cache hit. */
  readonly hitFactor?: number;
}

export interface Share {
  readonly name: string;
  readonly share: number;
}

export interface RegionProfile extends Share {
  /** Hour of the UTC day at which its traffic peaks. */
  readonly peakHour: number;
}

/** Name of the stage of a model's forward pass. */
export function forwardStageOf({ forwardStage = 'forward' }: ModelProfile): string {
  return forwardStage;
}

/** One model of the fleet: its clients, the number of its hosts, and the cost of its stages. */
export interface ModelProfile {
  readonly name: string;
  readonly service: string;
  /** Part of the fleet's requests, relative to the sum of all shares. */
  readonly share: number;
  /** In order of release: the last is the newest. */
  readonly versions: readonly Share[];
  readonly regions: readonly RegionProfile[];
  readonly requestTypes: readonly RequestTypeProfile[];
  /** Hosts in each region. */
  readonly hostsPerRegion: number;
  /** Mean utilization for which the number of slots a host is chosen. */
  readonly targetUse: number;
  /** In the order in which a request passes them. The time in `queue` comes from the queueing model. */
  readonly stages: readonly StageProfile[];
  /** The stage of the forward pass, which faults of computation meet. @default {forward} */
  readonly forwardStage?: string;
  /** `stage` is the one in which a cold start pays for loading the model. */
  readonly coldStart: Readonly<{ share: number; stage: string; medianMs: number; sigma: number }>;
  /** Absent: no cache, and events have no `cache_hit`. */
  readonly cacheHitShare?: number;
  readonly bytesPerItem: number;
  readonly bytesPerToken: number;
  /** Time after which a request ends with status timeout. */
  readonly deadlineMs: number;
}
