import { isObjectiveName, totalStage } from '../base/dimensions.ts';
import { invariant } from '../base/invariant.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import type { BadCount } from './share-test.ts';

/** One version in one minute of event time. */
export interface VersionMinute {
  readonly requests: number;
  /** Requests that ended in an error or a timeout. */
  readonly failed: number;
  /** Milliseconds by stage; `total` is the whole request. */
  readonly stages: ReadonlyMap<string, TDigest>;
  /** Requests counted for joint objectives, by the name of the row. @default none */
  readonly objectives?: ReadonlyMap<string, BadCount>;
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
  readonly objectives: Map<string, BadCount>;
}

interface StageRow {
  readonly stage: string;
  readonly requests: number;
  readonly failed: number;
  readonly digest: TDigest;
}

/** A minute of which no row was read yet. */
export function emptyMinute(): ReadMinute {
  return { requests: 0, failed: 0, stages: new Map(), objectives: new Map() };
}

/**
 * Adds a stage, or what was counted for an objective. Every request has a total; without one, the stage with most
 * requests stands for it.
 */
export function addStage(read: ReadMinute, { stage, requests, failed, digest }: StageRow): void {
  if (isObjectiveName(stage)) {
    read.objectives.set(stage, { requests, bad: failed });
    return;
  }
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
      const { requests, failed, objectives } = version;
      for (const { requests: of, bad } of [
        { requests, bad: failed },
        ...(objectives?.values() ?? []),
      ]) {
        invariant(of >= 0 && of < Infinity, `a minute of ${of} requests`);
        invariant(bad >= 0 && bad <= of, `${bad} of ${of} requests failed`);
      }
    }
  }
  return ordered;
}
