import { SeededRandom } from '../base/seeded-random.ts';
import { type FaultKind, faultKinds } from './fault-kinds.ts';

const kinds = Object.keys(faultKinds) as FaultKind[];

/** Kinds that shape a whole run, and those that would leave little to see if they were common. */
const shareOf: Partial<Record<FaultKind, number>> = {
  tokens_off: 0.06,
  topic_recreated: 0.06,
  unclean_election: 0.08,
  commits_expired: 0.06,
  retention: 0.06,
  two_groups: 0.08,
  two_clusters: 0.08,
  lagging_replica: 0.12,
  start_from_latest: 0.05,
  config_changed: 0.12,
  few_series: 0.06,
  profile_off: 0.12,
  old_server: 0.12,
  tokens_evicted: 0.12,
  compaction: 0.15,
  zombie: 0.15,
};
const COMMON_SHARE = 0.22;
/** Kinds that came later. They are drawn apart, so that the seeds from before have the faults that they had. */
const laterShareOf = { log_emptied: 0.05, deleted_while_stopped: 0.05 } as const;
/** The one that came last, drawn apart from these too. */
const latest: FaultKind = 'commits_restored';
const LATEST_SHARE = 0.08;
const isLater = (kind: FaultKind) => kind in laterShareOf || kind === latest;

/**
 * Faults of a run and their strengths, drawn from its seed: a random subset (swarm testing, Groce et al.
 * 2012). A run with every fault at once finds least.
 */
export class FaultPlan {
  readonly #random: SeededRandom;
  readonly #strengths = new Map<FaultKind, number>();
  readonly counts = new Map<FaultKind, number>();
  /** Times and victims of the later kinds. */
  readonly later: SeededRandom;
  /** Times and victims of the latest kind. */
  readonly latest: SeededRandom;
  /** Faults happen while this holds; started ones end by themselves. */
  isActive = true;

  private constructor(seed: number, faultless: boolean) {
    const random = new SeededRandom(seed ^ 0x5f3759df);
    const later = new SeededRandom(seed ^ 0x2545f491);
    this.#random = random;
    this.later = later;
    this.latest = new SeededRandom(seed ^ 0x1b56c4e9);
    for (const kind of kinds) {
      if (isLater(kind)) continue;
      const isOn = random.chance(shareOf[kind] ?? COMMON_SHARE);
      const strength = 10 ** (-2.3 + 1.8 * random.unit());
      if (isOn && !faultless) this.#strengths.set(kind, strength);
    }
    for (const [kind, share] of Object.entries(laterShareOf)) {
      const isOn = later.chance(share);
      const strength = 10 ** (-2.3 + 1.8 * later.unit());
      if (isOn && !faultless) this.#strengths.set(kind as keyof typeof laterShareOf, strength);
    }
    const hasLatest = this.latest.chance(LATEST_SHARE);
    const strength = 10 ** (-2.3 + 1.8 * this.latest.unit());
    if (hasLatest && !faultless) this.#strengths.set(latest, strength);
  }

  /** Plan of a seed, drawn apart from all else, so that a run can be identified by its faults. */
  static ofSeed(seed: number, faultless = false): FaultPlan {
    return new FaultPlan(seed, faultless);
  }

  has(kind: FaultKind): boolean {
    return this.#strengths.has(kind);
  }

  /** Faults of the run, by name. */
  get enabled(): FaultKind[] {
    return [...this.#strengths.keys()];
  }

  drop(kind: FaultKind): void {
    this.#strengths.delete(kind);
  }

  /** True where the fault happens at this opportunity. */
  strikes(kind: FaultKind, weight = 1): boolean {
    const strength = this.#strengths.get(kind);
    if (strength === undefined || !this.isActive) return false;
    if (!this.#random.chance(strength * weight)) return false;
    this.note(kind);
    return true;
  }

  /** Number of occurrences in a run that plans them ahead: 0 where the run does not have the fault. */
  times(kind: FaultKind, most: number): number {
    const strength = this.#strengths.get(kind);
    if (strength === undefined) return 0;
    return Math.max(1, Math.round(Math.sqrt(strength / 0.32) * most));
  }

  /** Counts an occurrence. */
  note(kind: FaultKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }
}
