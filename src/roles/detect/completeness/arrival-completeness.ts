import { minuteMs } from '../../../base/time.ts';
import { completeUntil, type PartitionProgress } from '../../../sink/windows/window-progress.ts';
import type { ArrivalLog } from './arrival-log.ts';
import {
  type Completeness,
  type CompletenessProbe,
  type PartitionBehind,
  type StoreOutage,
  storeOutage,
} from './completeness.ts';
import { PartitionTrack, type TrackLimits } from './partition-track.ts';

export interface ArrivalCompletenessOptions extends TrackLimits {
  readonly arrivals: Pick<ArrivalLog, 'partitions' | 'probedMs' | 'outage'>;
  readonly readProgress: () => Promise<readonly PartitionProgress[]>;
  readonly nowMs: () => number;
  /** Without live traffic, a partition that is silent for this long delays no window. */
  readonly idleMs: number;
}

/** Longest step that counts as waiting, after a suspended process or a long step. */
const longestStepMs = 5_000;
/** Displaced events make traffic incomplete for this long. */
const displacedForMs = 2 * minuteMs;

/**
 * Windows are complete up to the time by which everything that had arrived in Kafka is stored. A partition
 * without lag delays nothing, however old or rare its events are. A partition with lag is never idle. A
 * partition that makes no progress is waited for only for a limited time. docs/explained/windows.md has the
 * rule.
 */
export class ArrivalCompleteness implements CompletenessProbe {
  readonly #options: ArrivalCompletenessOptions;
  readonly #tracks = new Map<string, PartitionTrack>();
  #completeMs = Number.NEGATIVE_INFINITY;
  #observedMs: number | undefined;
  #ledgerReadMs = Number.NEGATIVE_INFINITY;
  #progress: readonly PartitionProgress[] = [];
  #storeOutage: StoreOutage | undefined;

  constructor(options: ArrivalCompletenessOptions) {
    this.#options = options;
  }

  async probe(): Promise<Completeness> {
    const { nowMs, readProgress } = this.#options;
    const startedMs = nowMs();
    let progress: readonly PartitionProgress[] | undefined;
    try {
      progress = await readProgress();
      this.#storeOutage = undefined;
    } catch (error) {
      this.#storeOutage = storeOutage(this.#storeOutage, startedMs, error);
    }
    return this.observe(nowMs(), progress);
  }

  /** @param progress from the ledger; undefined where it cannot be read. */
  observe(nowMs: number, progress: readonly PartitionProgress[] | undefined): Completeness {
    const { arrivals, maxWaitMs, idleMs } = this.#options;
    const stepMs = Math.min(longestStepMs, Math.max(0, nowMs - (this.#observedMs ?? nowMs)));
    this.#observedMs = nowMs;
    this.#progress = progress ?? this.#progress;
    this.#track(nowMs);
    if (progress !== undefined) this.#ledgerReadMs = nowMs;
    const tracks = [...this.#tracks.values()];
    const isLive = tracks.some((track) => track.isLive);
    this.#updateGivenUp(tracks, { nowMs, stepMs, isLive });
    const { outage, probedMs } = arrivals;
    const isAway = outage !== undefined && nowMs - probedMs > maxWaitMs;
    // While Kafka does not respond, the ledger alone counts.
    const reached = isAway
      ? completeUntil(this.#progress, nowMs, idleMs)
      : this.#byArrivals(tracks, isLive, nowMs);
    this.#completeMs = Math.max(this.#completeMs, Math.min(reached, nowMs));
    const displaced = isLive
      ? tracks.filter((track) => track.isDisplaced && track.hadEvents(nowMs, displacedForMs))
      : [];
    const hasAllTraffic =
      !isAway && displaced.length === 0 && !tracks.some((track) => track.isGivenUp);
    return {
      completeMs: this.#completeMs,
      knownMs: hasAllTraffic && outage === undefined && isLive ? this.#knownMs(tracks) : undefined,
      hasAllTraffic,
      behind: this.#behind(tracks, nowMs),
      displaced: displaced.map(({ name, delayMs = 0 }) => ({ name, delayMs })),
      lagMessages: new Map(tracks.map(({ name, lagMessages }) => [name, lagMessages])),
      kafkaOutage: outage,
      storeOutage: this.#storeOutage,
    };
  }

  /** Tracks the partitions that Kafka has, or the ledger's until Kafka was asked. */
  #track(nowMs: number): void {
    const { arrivals } = this.#options;
    const isAsked = Number.isFinite(arrivals.probedMs);
    const byName = new Map(this.#progress.map((each) => [`${each.topic}/${each.partition}`, each]));
    const names = isAsked ? arrivals.partitions.keys() : byName.keys();
    const present = new Set(names);
    for (const name of this.#tracks.keys()) if (!present.has(name)) this.#tracks.delete(name);
    const isNewer = arrivals.probedMs > this.#ledgerReadMs;
    for (const name of present) {
      let track = this.#tracks.get(name);
      if (track === undefined) {
        track = new PartitionTrack(name, this.#options);
        this.#tracks.set(name, track);
      }
      track.observe(nowMs, arrivals.partitions.get(name), isNewer, byName.get(name));
    }
  }

  #updateGivenUp(
    tracks: readonly PartitionTrack[],
    now: { readonly nowMs: number; readonly stepMs: number; readonly isLive: boolean },
  ): void {
    const { nowMs, isLive } = now;
    const storing = new Set(tracks.filter((track) => track.isStoring(nowMs)));
    const isCaughtUp = (track: PartitionTrack) =>
      track.isLive && nowMs - track.reachMs(isLive) <= this.#options.normalLagMs;
    const caughtUp = new Set([...storing].filter(isCaughtUp));
    const others = (set: ReadonlySet<PartitionTrack>, track: PartitionTrack) =>
      set.size > (set.has(track) ? 1 : 0);
    for (const track of tracks) {
      const othersStore = others(storing, track);
      track.updateGivenUp({ ...now, othersStore, othersCaughtUp: others(caughtUp, track) });
    }
  }

  #byArrivals(tracks: readonly PartitionTrack[], isLive: boolean, nowMs: number): number {
    const { idleMs } = this.#options;
    const started = tracks.filter(({ watermarkMs }) => watermarkMs > 0);
    const latestMs = (of: readonly PartitionTrack[]) =>
      Math.max(Number.NEGATIVE_INFINITY, ...of.map(({ watermarkMs }) => watermarkMs));
    // Without live traffic the watermark alone shows a partition's progress.
    const counted = tracks.filter((track) => {
      if (track.isGivenUp) return false;
      if (isLive || track.lagMessages > 0) return true;
      return track.watermarkMs > 0 && nowMs - track.flushedMs < idleMs;
    });
    if (counted.length === 0) return isLive ? Number.NEGATIVE_INFINITY : latestMs(started);
    const reachedMs = Math.min(...counted.map((track) => track.reachMs(isLive)));
    // After the last event there may be no more events, or all may be late.
    const live = started.filter((track) => track.isLive);
    return isLive ? Math.min(reachedMs, latestMs(live)) : reachedMs;
  }

  /** The time by which everything had arrived and is stored; undefined while anything waits. */
  #knownMs(tracks: readonly PartitionTrack[]): number | undefined {
    if (tracks.length === 0 || tracks.some(({ lagMessages }) => lagMessages > 0)) return undefined;
    const untilMs = Math.min(...tracks.map((track) => track.storedUntilMs ?? -Infinity));
    return Number.isFinite(untilMs) ? untilMs : undefined;
  }

  #behind(tracks: readonly PartitionTrack[], nowMs: number): PartitionBehind[] {
    return tracks
      .map(({ name, lagMessages, isGivenUp, waitingSinceMs = nowMs }) => {
        return { name, behindMs: nowMs - waitingSinceMs, lagMessages, isGivenUp };
      })
      .filter(({ behindMs }) => behindMs > this.#options.normalLagMs)
      .sort((a, b) => b.behindMs - a.behindMs || (a.name < b.name ? -1 : 1));
  }
}
