/** What a size or a stage's duration depends on. */
export type Unit = 'items' | 'input_tokens' | 'output_tokens';

/** One lognormal of a mixture. The shares of a mixture sum to 1. */
export interface LognormalPart {
  readonly share: number;
  readonly median: number;
  /** Deviation of the logarithm. */
  readonly sigma: number;
}

/** A size: a mixture of lognormals, rounded, held within [least, most]. */
export interface SizeProfile {
  readonly parts: readonly LognormalPart[];
  readonly least: number;
  readonly most: number;
}

/** A component of the logarithm of the arrival rate: stationary, forgetting over `tauMs`. */
export interface RateComponent {
  readonly variance: number;
  readonly tauMs: number;
}

/** How arrivals cluster: a Poisson process whose rate wanders and jitters around its mean. */
export interface ArrivalProfile {
  readonly components: readonly RateComponent[];
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
 * A stage's time: (baseMs + per unit × units) × a lognormal factor, of whose logarithm half the
 * variance is common to all stages of the request; rarely × a Pareto factor.
 */
export interface StageProfile {
  readonly name: string;
  readonly baseMs: number;
  readonly perUnitMs?: Readonly<Partial<Record<Unit, number>>>;
  readonly sigma: number;
  /** Whether the request holds one of the host's slots meanwhile. */
  readonly holdsSlot?: boolean;
  /** The time is multiplied by this on a cache hit. */
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

/** Where the load of the model is paid on a cold start. */
export interface ColdStartProfile {
  readonly share: number;
  readonly stage: string;
  readonly medianMs: number;
  readonly sigma: number;
}

/** One model of the fleet: who asks it, on how many hosts, and what its stages cost. */
export interface ModelProfile {
  readonly name: string;
  readonly service: string;
  /** Part of the fleet's requests; the shares are taken relative to their sum. */
  readonly share: number;
  /** In order of release: the last is the newest. */
  readonly versions: readonly Share[];
  readonly regions: readonly RegionProfile[];
  readonly requestTypes: readonly RequestTypeProfile[];
  /** Hosts in each region. */
  readonly hostsPerRegion: number;
  /** Mean use of the slots that the number of slots a host is chosen for. */
  readonly targetUse: number;
  /** In the order in which a request passes them; `queue` comes from the queueing model. */
  readonly stages: readonly StageProfile[];
  readonly coldStart: ColdStartProfile;
  /** Absent: no cache, and events carry no `cache_hit`. */
  readonly cacheHitShare?: number;
  readonly bytesPerItem: number;
  readonly bytesPerToken: number;
  /** A request is given up after this long, with status timeout. */
  readonly deadlineMs: number;
}
