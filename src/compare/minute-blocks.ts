import { minuteMs } from '../base/time.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import {
  type ComparedMinute,
  type PairedMinute,
  paired,
  type VersionMinute,
} from './compared-minute.ts';
import { mergedOf } from './merged-digests.ts';
import type { BadCount } from './share-test.ts';

/**
 * Joins minutes to blocks of equal length by the clock, each as if it were one minute. For traffic whose
 * minutes remember the ones before. A block counts once it is complete: the last one is left out before its
 * last minute.
 *
 * @param minutes in the order of time, each once
 */
export function inBlocks(
  minutes: readonly ComparedMinute[],
  blockMinutes: number,
): readonly ComparedMinute[] {
  if (blockMinutes <= 1) return minutes;
  const blockMs = blockMinutes * minuteMs;
  const blocks = new Map<number, ComparedMinute[]>();
  for (const minute of minutes) {
    const startMs = Math.floor(minute.startMs / blockMs) * blockMs;
    const block = blocks.get(startMs);
    if (block === undefined) blocks.set(startMs, [minute]);
    else block.push(minute);
  }
  const untilMs = (minutes.at(-1)?.startMs ?? 0) + minuteMs;
  return [...blocks]
    .filter(([startMs]) => startMs + blockMs <= untilMs)
    .map(([startMs, block]) => joined(startMs, block));
}

/** Minutes of both versions, joined; those of one version where there is none of both. */
function joined(startMs: number, minutes: readonly ComparedMinute[]): ComparedMinute {
  const both = minutes.map(paired).filter((pair): pair is PairedMinute => pair !== undefined);
  const of = both.length > 0 ? both : minutes;
  const candidate = sumOf(of.map((minute) => minute.candidate));
  const baseline = sumOf(of.map((minute) => minute.baseline));
  return {
    startMs,
    ...(candidate === undefined ? {} : { candidate }),
    ...(baseline === undefined ? {} : { baseline }),
  };
}

function sumOf(given: readonly (VersionMinute | undefined)[]): VersionMinute | undefined {
  const versions = given.filter((version) => version !== undefined);
  if (versions.length === 0) return undefined;
  const digests = new Map<string, TDigest[]>();
  for (const { stages } of versions) {
    for (const [stage, digest] of stages) {
      const ofStage = digests.get(stage);
      if (ofStage === undefined) digests.set(stage, [digest]);
      else ofStage.push(digest);
    }
  }
  const objectives = new Map<string, BadCount>();
  for (const [row, { requests, bad }] of versions.flatMap((each) => [...(each.objectives ?? [])])) {
    const sum = objectives.get(row) ?? { requests: 0, bad: 0 };
    objectives.set(row, { requests: sum.requests + requests, bad: sum.bad + bad });
  }
  return {
    requests: versions.reduce((sum, { requests }) => sum + requests, 0),
    failed: versions.reduce((sum, { failed }) => sum + failed, 0),
    stages: new Map([...digests].map(([stage, ofStage]) => [stage, mergedOf(ofStage)])),
    objectives,
  };
}
