import { totalStage } from '../base/dimensions.ts';
import { minuteMs } from '../base/time.ts';
import type { StageBands } from '../baseline/series-reference.ts';
import { addStage, emptyMinute, type VersionMinute } from '../compare/compared-minute.ts';
import type { MixPart, SideMix } from '../compare/like-with-like.ts';
import { MergedDigests, mergedOf } from '../compare/merged-digests.ts';
import type { BadCount } from '../compare/share-test.ts';
import type { Config } from '../config/schema.ts';
import { mergeBands } from '../series/bands.ts';
import type { Series, StageSummary } from '../series/series-window.ts';
import { baseWindowMs } from '../window/chunk-accumulator.ts';
import { type EventFile, readFileWindows } from './file-windows.ts';

/** The recorded requests of one side of a comparison. */
export interface FileSide {
  /** By their distance from the first window with requests. */
  readonly minutes: ReadonlyMap<number, VersionMinute>;
  readonly startMs: number;
  readonly bands: ReadonlyMap<string, StageBands>;
  /** Of whole requests, by type and region. Sizes are not read. */
  readonly mix: SideMix;
  /** Models of all events, also of those that are left out. */
  readonly models: readonly string[];
}

/** Reads the requests of a file that are compared, minute by minute. */
export async function readFileSide(
  config: Config,
  file: EventFile,
  isCompared: (series: Series) => boolean,
): Promise<FileSide> {
  const summaries = new Map<number, Map<string, StageSummary[]>>();
  const objectives = new Map<number, Map<string, BadCount>>();
  const models = new Set<string>();
  const mix = new Map<string, MixedPart>();
  // Windows come in order.
  let firstMs = Number.NaN;
  const finest = { ...config, detect: { ...config.detect, window: baseWindowMs } };
  await readFileWindows(finest, file, (complete) => {
    for (const { startMs, windows } of complete) {
      for (const { series, stages, objectives: counted = new Map() } of windows) {
        models.add(series.model);
        if (!isCompared(series)) continue;
        if (Number.isNaN(firstMs)) firstMs = startMs;
        addToMix(mix, series, stages.get(totalStage));
        const minute = Math.floor((startMs - firstMs) / minuteMs);
        const ofMinute = summaries.get(minute) ?? new Map<string, StageSummary[]>();
        summaries.set(minute, ofMinute);
        for (const summary of stages.values()) {
          const ofStage = ofMinute.get(summary.stage) ?? [];
          ofMinute.set(summary.stage, ofStage);
          ofStage.push(summary);
        }
        const ofObjectives = objectives.get(minute) ?? new Map<string, BadCount>();
        objectives.set(minute, ofObjectives);
        for (const [row, { requests, bad }] of counted) {
          const sum = ofObjectives.get(row) ?? { requests: 0, bad: 0 };
          ofObjectives.set(row, { requests: sum.requests + requests, bad: sum.bad + bad });
        }
      }
    }
  });
  return {
    minutes: new Map(
      [...summaries].map(([minute, stages]) => [
        minute,
        { ...minuteOf(stages), objectives: objectives.get(minute) ?? new Map() },
      ]),
    ),
    startMs: firstMs || 0,
    bands: bandsOf([...summaries.values()]),
    mix: { parts: [...mix.values()].map(mergedPart), sizes: [] },
    models: [...models].sort(),
  };
}

interface MixedPart extends Pick<MixPart, 'requestType' | 'region'> {
  requests: number;
  readonly total: MergedDigests;
}

function addToMix(
  mix: Map<string, MixedPart>,
  { request_type: requestType, region }: Series,
  total: StageSummary | undefined,
): void {
  if (total === undefined) return;
  const key = `${requestType}\u0000${region}`;
  const part = mix.get(key) ?? { requestType, region, requests: 0, total: new MergedDigests() };
  mix.set(key, part);
  part.requests += total.requests;
  part.total.add(total.digest);
}

function mergedPart({ total, ...part }: MixedPart): MixPart {
  return { ...part, total: total.merged };
}

function minuteOf(stages: ReadonlyMap<string, readonly StageSummary[]>): VersionMinute {
  const read = emptyMinute();
  for (const [stage, summaries] of stages) {
    const sum = (of: (summary: StageSummary) => number) =>
      summaries.reduce((total, summary) => total + of(summary), 0);
    addStage(read, {
      stage,
      requests: sum(({ requests }) => requests),
      failed: sum(({ errors, timeouts }) => errors + timeouts),
      digest: mergedOf(summaries.map(({ digest }) => digest)),
    });
  }
  return read;
}

function bandsOf(
  minutes: readonly ReadonlyMap<string, readonly StageSummary[]>[],
): Map<string, StageBands> {
  const stages = new Set(minutes.flatMap((minute) => [...minute.keys()]));
  return new Map(
    [...stages].map((stage) => {
      const summaries = minutes.flatMap((minute) => minute.get(stage) ?? []);
      const bands = mergeBands(summaries.map((summary) => summary.bands));
      return [stage, { bands, bandsMs: mergeBands(summaries.map(({ bandsMs }) => bandsMs)) }];
    }),
  );
}
