import { basename } from 'node:path';
import { pairedFiles, readFileSide } from '../../backtest/file-side.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { CompareInput } from '../../compare/compare-versions.ts';
import { type ComparedMinute, paired } from '../../compare/compared-minute.ts';
import type { SideMix } from '../../compare/like-with-like.ts';
import type { Config } from '../../config/schema.ts';
import type { Series } from '../../series/series-window.ts';
import { findUnknown, type UnknownOne, unknownText } from '../../series/unknown-name.ts';
import type { ClickHouseClient } from '../../sink/clickhouse.ts';
import {
  longestComparisonMs,
  readComparison,
  requireComparable,
} from '../../sink/read-comparison.ts';
import { unknownIn } from '../../sink/read-seen-values.ts';
import { readMixes, readSides } from '../../sink/read-sides.ts';
import { readWindowStates } from '../../sink/windows/read-window-states.ts';
import { readSideBands } from '../../views/comparison/compare.ts';
import { remainingMinutesOf } from '../../views/comparison/compared-blocks.ts';
import type { TimeRange } from '../flag-values.ts';
import type { Io } from '../io.ts';
import { withClickHouse } from '../with-clickhouse.ts';
import type { AskedComparison } from './asked-comparison.ts';

/** Requests that are compared on both sides; '' matches any value. */
export interface ComparedRequests {
  readonly model: string;
  readonly region: string;
  readonly requestType: string;
  readonly cold: boolean;
}

/** What is compared, and the names of both sides in the output. */
export interface Compared {
  readonly input: CompareInput;
  /** What requests both sides consist of; undefined where they have none at the same times. */
  readonly mixes: readonly [a: SideMix, b: SideMix] | undefined;
  readonly model: string;
  readonly version: string;
  readonly baseline: string;
  /** A sentence on a name without a request, where that is why nothing is compared and the reason does not say so. */
  readonly unknown?: string | undefined;
}

type Asked<Kind> = Extract<AskedComparison, { readonly kind: Kind }>;

const minuteMs = 60_000;
const minuteTable = { table: 'latency_1m', blockSeconds: 60 } as const;
const phrases = { candidate: 'B', baseline: 'A' } as const;

/** Reads both sides of a comparison: from ClickHouse, or of files without any server. */
export function readCompared(
  config: Config,
  asked: AskedComparison,
  requests: ComparedRequests,
  io: Io,
): Promise<Compared> {
  if (asked.kind === 'files') return comparedFiles(config, asked, requests, io);
  return asked.kind === 'ranges'
    ? comparedRanges(config, asked, requests)
    : comparedVersions(config, asked, requests);
}

async function comparedVersions(
  config: Config,
  { range, baseline, version }: Asked<'versions'>,
  { cold, ...of }: ComparedRequests,
): Promise<Compared> {
  const coldStart = cold ? 'true' : 'false';
  const query = { ...range, ...of, coldStart, candidate: version, baseline } as const;
  requireComparable(query);
  const read = await withClickHouse(config, 'compare versions', async (client) => {
    const read = await readComparison(client, config, query);
    const input = isOver(range, read.untilMs) ? { ...read, remainingMinutes: 0 } : read;
    const fromSeconds = Math.min(...input.minutes.map(({ startMs }) => startMs)) / 1000;
    const side = (of: string) => ({ version: of, fromSeconds, toSeconds: fromSeconds });
    const sides = { ...of, ...minuteTable, coldStart, a: side(baseline), b: side(version) };
    // The reason names versions and models that are known.
    const unknown = await unknownOf(client, of, input.minutes, []);
    const isSaid = unknown?.thing === 'model';
    const mixes = await readMixes(client, sides, input.minutes);
    return { input, mixes, unknown: isSaid ? undefined : unknown && unknownText(unknown) };
  });
  return { ...read, model: of.model, version, baseline };
}

async function comparedRanges(
  config: Config,
  asked: Asked<'ranges'>,
  { cold, ...of }: ComparedRequests,
): Promise<Compared> {
  const { version, baseline } = asked;
  const read = await withClickHouse(config, 'compare ranges', async (client) => {
    const later = asked.a.toMs > asked.b.toMs ? asked.a : asked.b;
    const states = await readWindowStates(client, config, { ...later, resolution: '1m' });
    const completeMs =
      states === undefined ? later.toMs : Date.parse(states.complete_until) - config.windows.grace;
    const [a, b] = sidesOf(asked, completeMs);
    const query = {
      ...{ ...of, ...minuteTable, coldStart: String(cold) },
      a: { ...a, version: baseline },
      b: { ...b, version },
    };
    const [minutes, bands] = await Promise.all([
      readSides(client, query),
      readSideBands(client, query),
    ]);
    const unknown = await unknownOf(client, of, minutes, [baseline, version]);
    const fromSeconds = [a.fromSeconds, b.fromSeconds];
    return {
      ...{ minutes, bands, unknown: unknown && unknownText(unknown) },
      remainingMinutes: remainingMinutesOf(fromSeconds, askedSeconds(asked), completeMs),
      mixes: await readMixes(client, query, minutes),
    };
  });
  const names = { version: nameOf(version, asked.b), baseline: nameOf(baseline, asked.a) };
  const { mixes, unknown, ...sides } = read;
  const input = { candidate: version, baseline, ...sides, phrases };
  return { input, mixes, unknown, model: of.model, ...names };
}

/** The first name that no stored request has, where no minute has requests of both sides. */
async function unknownOf(
  client: ClickHouseClient,
  { model, region, requestType }: Omit<ComparedRequests, 'cold'>,
  minutes: readonly ComparedMinute[],
  versions: readonly string[],
): Promise<UnknownOne | undefined> {
  if (minutes.some((minute) => paired(minute) !== undefined)) return undefined;
  const of = { model, region, request_type: requestType };
  for (const version of ['', ...versions]) {
    const unknown = await unknownIn(client, { ...of, version });
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

/** Whether a range lies in the past and all of it is complete: its minutes are all that there are. */
function isOver({ toMs }: TimeRange, untilMs = Number.POSITIVE_INFINITY): boolean {
  return toMs < Date.now() - minuteMs && untilMs > toMs - minuteMs;
}

/** Length of the shorter range, complete or not. */
function askedSeconds({ a, b }: Asked<'ranges'>): number {
  return Math.min(...[a, b].map(({ fromMs, toMs }) => toMs - fromMs)) / 1000;
}

/** Both ranges in seconds, from whole minutes on and equally long. */
function sidesOf({ a, b }: Asked<'ranges'>, completeMs: number) {
  const from = ({ fromMs }: TimeRange) => Math.floor(fromMs / minuteMs) * minuteMs;
  const lengths = [a, b].map((range) => Math.min(range.toMs, completeMs) - from(range));
  const lengthMs = Math.floor(Math.max(0, Math.min(...lengths)) / minuteMs) * minuteMs;
  if (lengthMs > longestComparisonMs) {
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot compare as a range must be at most 24h: it is ${Math.ceil(lengthMs / 3_600_000)}h`,
    );
  }
  return [a, b].map((range) => ({
    fromSeconds: from(range) / 1000,
    toSeconds: (from(range) + lengthMs) / 1000,
  })) as [Seconds, Seconds];
}

interface Seconds {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

function nameOf(version: string, { fromMs }: TimeRange): string {
  const from = `from ${new Date(fromMs).toISOString().slice(0, 16)}Z`;
  return version === '' ? from : `${version} ${from}`;
}

async function comparedFiles(
  config: Config,
  { aFile, bFile, baseline, version }: Asked<'files'>,
  { model, region, requestType, cold }: ComparedRequests,
  io: Io,
): Promise<Compared> {
  const read = (path: string, ofSide: string) =>
    readFileSide(
      config,
      { path, stdin: io.stdin },
      (series: Series) =>
        (model === '' || series.model === model) &&
        (ofSide === '' || series.version === ofSide) &&
        (region === '' || series.region === region) &&
        (requestType === '' || series.request_type === requestType) &&
        series.cold_start === cold,
    );
  const before = await read(aFile, baseline);
  const now = await read(bFile, version);
  const models = [...new Set([...before.models, ...now.models])];
  if (model === '' && models.length !== 1) {
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot compare as --model must name one of the ${models.length} models of the files`,
      { hint: `They are ${models.slice(0, 5).map(quoted).join(', ')}.` },
    );
  }
  const input = {
    ...{ candidate: bFile, baseline: aFile, phrases },
    minutes: pairedFiles(before, now),
    remainingMinutes: 0,
    bands: { candidate: now.bands, baseline: before.bands },
  };
  const names = { version: fileName(bFile, aFile), baseline: fileName(aFile, bFile) };
  const mixes = [before.mix, now.mix] as const;
  const unknown = await findUnknown({ model }, async () => models);
  return {
    ...{ input, mixes, ...names },
    model: model === '' ? (models[0] ?? '') : model,
    unknown: unknown && unknownText(unknown, 'is in the files'),
  };
}

const quoted = (text: string) => JSON.stringify(text);

/** The name alone, where it tells both files apart. */
function fileName(path: string, other: string): string {
  return basename(path) === basename(other) ? path : basename(path);
}
