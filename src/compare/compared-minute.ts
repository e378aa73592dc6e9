import { totalStage } from '../base/dimensions.ts';
import { invariant } from '../base/invariant.ts';
import type { TDigest } from '../sketch/t-digest.ts';

/** One version in one minute of event time. */
export interface VersionMinute {
  readonly requests: number;
  /** Requests that ended in an error or a timeout. */
  readonly failed: number;
  /** Milliseconds by stage; `total` is the whole request. */
  readonly stages: ReadonlyMap<string, TDigest>;
}

/** A minute of event time, complete for both versions. A version without requests is missing. */
export interface ComparedMinute {
  readonly startMs: number;
  readonly candidate?: VersionMinute;
  readonly baseline?: VersionMinute;
}

/** A minute in which both versions have requests. */
export interface PairedMinute {
  readonly startMs: number;
  readonly candidate: VersionMinute;
  readonly baseline: VersionMinute;
}

/** Returns the minute if both versions have requests in it. */
export function paired({ startMs, candidate, baseline }: ComparedMinute): PairedMinute | undefined {
  if (candidate === undefined || baseline === undefined) return undefined;
  if (candidate.requests === 0 || baseline.requests === 0) return undefined;
  return { startMs, candidate, baseline };
}

/** A minute of one version while its stages are read. */
export interface ReadMinute {
  requests: number;
  failed: number;
  readonly stages: Map<string, TDigest>;
}

interface StageRow {
  readonly stage: string;
  readonly requests: number;
  readonly failed: number;
  readonly digest: TDigest;
}

/** Adds a stage. Every request has a total; without one, the stage with most requests stands for it. */
export function addStage(read: ReadMinute, { stage, requests, failed, digest }: StageRow): void {
  read.stages.set(stage, digest);
  if (stage !== totalStage && (requests <= read.requests || read.stages.has(totalStage))) return;
  read.requests = requests;
  read.failed = failed;
}

/** Minutes of two sides in pairs, by their distance from the start of each. */
export function pairSides(
  baselines: ReadonlyMap<number, VersionMinute>,
  candidates: ReadonlyMap<number, VersionMinute>,
  startMsOf: (minute: number) => number,
): ComparedMinute[] {
  const minutes = new Set([...baselines.keys(), ...candidates.keys()]);
  return [...minutes]
    .toSorted((x, y) => x - y)
    .map((minute) => {
      const [candidate, baseline] = [candidates.get(minute), baselines.get(minute)];
      return {
        startMs: startMsOf(minute),
        ...(candidate === undefined ? {} : { candidate }),
        ...(baseline === undefined ? {} : { baseline }),
      };
    });
}

/** Minutes in the order of time. @throws on what no stored minute is: NaN, more failed than all, one twice */
export function orderedMinutes(minutes: readonly ComparedMinute[]): readonly ComparedMinute[] {
  const ordered = minutes.toSorted((a, b) => a.startMs - b.startMs);
  for (const [i, minute] of ordered.entries()) {
    const { startMs, candidate, baseline } = minute;
    invariant(Number.isFinite(startMs), `a minute starts at ${startMs}`);
    invariant(startMs !== ordered[i - 1]?.startMs, `two minutes start at ${startMs}`);
    for (const version of [candidate, baseline]) {
      if (version === undefined) continue;
      const { requests, failed } = version;
      invariant(requests >= 0 && requests < Infinity, `a minute of ${requests} requests`);
      invariant(failed >= 0 && failed <= requests, `${failed} of ${requests} requests failed`);
    }
  }
  return ordered;
}
