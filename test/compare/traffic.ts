import { minuteMs } from '../../src/base/time.ts';
import type { ComparedMinute, VersionMinute } from '../../src/compare/compared-minute.ts';
import { Random } from '../../src/generate/random.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';

export const startMs = Date.UTC(2026, 10, 1, 12);

/** One version: its requests a minute, how slow they are, and which part of them fails. */
export interface Traffic {
  readonly requests: number;
  readonly factor?: number;
  readonly failing?: number;
}

/** Minutes of both versions, of lognormal durations; a version without traffic is missing. */
export function minutesOf(
  seed: string,
  count: number,
  candidate: Traffic | undefined,
  baseline: Traffic | undefined,
): ComparedMinute[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, i) => ({
    startMs: startMs + i * minuteMs,
    ...(candidate === undefined ? {} : { candidate: versionMinute(random, candidate) }),
    ...(baseline === undefined ? {} : { baseline: versionMinute(random, baseline) }),
  }));
}

function versionMinute(
  random: Random,
  { requests, factor = 1, failing = 0 }: Traffic,
): VersionMinute {
  const queues = Array.from({ length: requests }, () => random.lognormal(40, 0.5) * factor);
  const forwards = queues.map(() => random.lognormal(30, 0.2));
  const stages = {
    total: queues.map((queue, i) => queue + (forwards[i] as number)),
    queue: queues,
    forward: forwards,
  };
  return {
    requests,
    failed: Math.round(requests * failing),
    stages: new Map(
      Object.entries(requests === 0 ? {} : stages).map(([stage, values]) => [
        stage,
        TDigest.fromValues(values),
      ]),
    ),
  };
}

/** The same minutes with all durations of both versions times a factor. */
export function scaled(minutes: readonly ComparedMinute[], factor: number): ComparedMinute[] {
  const of = (version: VersionMinute): VersionMinute => ({
    ...version,
    stages: new Map([...version.stages].map(([name, digest]) => [name, digest.scaled(factor)])),
  });
  return minutes.map(({ startMs: at, candidate, baseline }) => ({
    startMs: at,
    ...(candidate === undefined ? {} : { candidate: of(candidate) }),
    ...(baseline === undefined ? {} : { baseline: of(baseline) }),
  }));
}

/** The part of the requests that misses an objective, of each version; undefined where none is counted. */
export interface Missing {
  readonly candidate: number | undefined;
  readonly baseline: number | undefined;
  /** Minutes before the first one that is counted. @default none */
  readonly after?: number;
}

/** The same minutes with what was counted for an objective: exact parts of the requests, rounded in turn. */
export function withGoodput(
  minutes: readonly ComparedMinute[],
  row: string,
  { candidate: ofCandidate, baseline: ofBaseline, after = 0 }: Missing,
): ComparedMinute[] {
  const random = new Random(`goodput ${row}`);
  const of = (version: VersionMinute | undefined, share: number | undefined) => {
    if (version === undefined || share === undefined) return version;
    const { requests, objectives = new Map() } = version;
    const bad = Math.min(requests, Math.floor(requests * share + random.uniform()));
    return { ...version, objectives: new Map([...objectives, [row, { requests, bad }]]) };
  };
  return minutes.map((minute, i) => {
    if (i < after) return minute;
    const [candidate, baseline] = [
      of(minute.candidate, ofCandidate),
      of(minute.baseline, ofBaseline),
    ];
    return { ...minute, ...(candidate && { candidate }), ...(baseline && { baseline }) };
  });
}

/** A stage that is added to minutes: lognormal of σ 0.5, by default of 200 ms in the middle. */
export interface AddedStage {
  readonly stage: string;
  /** Of the candidate's durations. @default 1 */
  readonly factor?: number;
  /** @default 200 */
  readonly medianMs?: number;
  /** Minutes before the first one with it. @default none */
  readonly after?: number;
  /** Part of the requests that have it. @default 1 */
  readonly share?: number;
  /** @default both */
  readonly only?: 'candidate' | 'baseline';
}

/** The same minutes with a stage more, whose durations know nothing of the others. */
export function withStage(
  minutes: readonly ComparedMinute[],
  { stage, factor = 1, medianMs = 200, after = 0, share = 1, only }: AddedStage,
): ComparedMinute[] {
  const random = new Random(`added ${stage} ${factor}`);
  const of = (version: VersionMinute, ms: number): VersionMinute => {
    const length = Math.round(version.requests * share);
    const values = Array.from({ length }, () => random.lognormal(ms, 0.5));
    return {
      ...version,
      stages: new Map([...version.stages, [stage, TDigest.fromValues(values)]]),
    };
  };
  return minutes.map((minute, i) => {
    const { candidate, baseline } = minute;
    if (i < after) return minute;
    return {
      ...minute,
      ...(candidate && only !== 'baseline' && { candidate: of(candidate, medianMs * factor) }),
      ...(baseline && only !== 'candidate' && { baseline: of(baseline, medianMs) }),
    };
  });
}
