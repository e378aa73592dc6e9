import { basename } from 'node:path';
import { readFileSide } from '../../backtest/file-side.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { minuteMs } from '../../base/time.ts';
import { type ComparedMinute, paired, pairSides } from '../../compare/compared-minute.ts';
import type { NamedIncident } from '../../compare/comparison.ts';
import type { SideMix } from '../../compare/like-with-like.ts';
import type { CompareInput } from '../../compare/verdict/compare-versions.ts';
import type { Config } from '../../config/schema.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import type { TimeSpan } from '../../contract/compared-times.ts';
import { objectivesOf } from '../../contract/objectives/objective.ts';
import { hasPairs } from '../../series/attributes.ts';
import type { Series } from '../../series/series-window.ts';
import { findUnknown, type UnknownOne, unknownText } from '../../series/unknown-name.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { unknownIn } from '../../sink/read-seen-values.ts';
import { requestsOf } from '../../views/anomalies/incident-requests.ts';
import { incidentTimes } from '../../views/anomalies/incident-times.ts';
import { withStoredBaseline } from '../../views/anomalies/stored-baseline.ts';
import type { ComparedGoodput } from '../../views/answers/compare.ts';
import { comparedGoodput } from '../../views/comparison/compared-goodput.ts';
import { namedIncident } from '../../views/comparison/incident-comparison.ts';
import {
  longestComparisonMs,
  readMinutes,
  readVersions,
  requireComparable,
} from '../../views/comparison/read-comparison.ts';
import { readMixes, type SidesQuery } from '../../views/comparison/read-sides.ts';
import { coldStartOf } from '../../views/question.ts';
import { eventsById } from '../events-by-id.ts';
import type { TimeRange } from '../flag-values.ts';
import type { Io } from '../io.ts';
import { NamesOfFile } from '../names-of-file.ts';
import { withClickHouse } from '../with-clickhouse.ts';
import type { AskedComparison } from './asked-comparison.ts';

/** Requests that are compared on both sides; '' matches any value. */
export interface ComparedRequests {
  readonly model: string;
  readonly region: string;
  readonly requestType: string;
  readonly cold: boolean;
  /** Pairs of own dimensions; none matches any. */
  readonly attributePairs: string[];
}

/** Both sides, and their names in the output. */
export interface Compared {
  readonly input: CompareInput;
  /** The requests that both sides consist of; undefined where they have none at the same times. */
  readonly mixes: readonly [a: SideMix, b: SideMix] | undefined;
  readonly model: string;
  readonly version: string;
  readonly baseline: string;
  /** Goodput of both sides by joint objective; none of files, and where there are no such objectives. */
  readonly goodput?: readonly ComparedGoodput[];
  /** The incident whose test gives the verdict, and what A is; undefined where that of releases does. */
  readonly incident?: { readonly event: AnomalyEvent; readonly named: NamedIncident } | undefined;
  /** A sentence on a name without a request, where nothing is compared for it and the reason does not say so. */
  readonly unknown?: string | undefined;
}

type Asked<Kind> = Extract<AskedComparison, { readonly kind: Kind }>;

const phrases = { candidate: 'B', baseline: 'A' } as const;

/** Reads both sides of a comparison: from ClickHouse, or of files without any server. */
export function readCompared(
  config: Config,
  asked: AskedComparison,
  requests: ComparedRequests,
  io: Io,
): Promise<Compared> {
  if (asked.kind === 'files') return comparedFiles(config, asked, requests, io);
  if (asked.kind === 'incident') return comparedIncident(config, asked, io);
  return asked.kind === 'ranges'
    ? comparedRanges(config, asked, requests, io)
    : comparedVersions(config, asked, requests, io);
}

async function comparedVersions(
  config: Config,
  { range, baseline, version }: Asked<'versions'>,
  { cold, ...of }: ComparedRequests,
  io: Io,
): Promise<Compared> {
  const coldStart = cold ? 'true' : 'false';
  const query = { ...range, ...of, coldStart, candidate: version, baseline } as const;
  requireComparable(query);
  const read = await withClickHouse(config, io, 'compare versions', async (client) => {
    const { query: sides, ...read } = await readVersions(client, config, query);
    const input = isOver(range, read.untilMs) ? { ...read, remainingMinutes: 0 } : read;
    // The reason names versions and models that are known.
    const unknown = await unknownOf(client, of, input.minutes, []);
    const isSaid = unknown?.thing === 'model';
    const mixes = await readMixes(client, sides, input.minutes);
    const goodput = await goodputOf(client, config, sides, input.minutes);
    const said = isSaid ? undefined : unknown && unknownText(unknown);
    return { input, mixes, goodput, unknown: said };
  });
  return { ...read, model: of.model, version, baseline };
}

async function comparedRanges(
  config: Config,
  asked: Asked<'ranges'>,
  { cold, ...of }: ComparedRequests,
  io: Io,
): Promise<Compared> {
  const { version, baseline } = asked;
  const read = await withClickHouse(config, io, 'compare ranges', async (client) => {
    const { query, ...sides } = await readMinutes(client, config, {
      ...{ ...of, coldStart: String(cold) },
      a: { ...asked.a, version: baseline },
      b: { ...asked.b, version },
    });
    const unknown = await unknownOf(client, of, sides.minutes, [baseline, version]);
    const mixes = await readMixes(client, query, sides.minutes);
    const goodput = await goodputOf(client, config, query, sides.minutes);
    return { sides, mixes, goodput, unknown: unknown && unknownText(unknown) };
  });
  const names = { version: nameOf(version, asked.b), baseline: nameOf(baseline, asked.a) };
  const { mixes, goodput, unknown, sides } = read;
  const input = { candidate: version, baseline, ...sides, phrases };
  return { input, mixes, goodput, unknown, model: of.model, ...names };
}

/** An incident's time and the time before it, of the requests that it is about. */
async function comparedIncident(
  config: Config,
  { id }: Asked<'incident'>,
  io: Io,
): Promise<Compared> {
  const nowMs = Date.now();
  return withClickHouse(config, io, 'compare an incident', async (client) => {
    const event = (await eventsById(client, id, 'compare')).at(-1) as AnomalyEvent;
    const { model, version, region, requestType, start, attributePairs = [] } = requestsOf(event);
    if (model === '') throw notCompared(event.id, 'is of no model');
    const { times, takenBy } = await incidentTimes(client, event, nowMs);
    if (times === undefined) throw notCompared(event.id, noTimeBefore(takenBy));
    // A day is as much as one comparison reads.
    const side = ({ fromMs, toMs }: TimeSpan) => ({
      ...{ version, fromMs },
      toMs: Math.min(toMs, fromMs + longestComparisonMs),
    });
    const { query, ...sides } = await readMinutes(client, config, {
      ...{ model, region, requestType, coldStart: coldStartOf(start) },
      attributePairs: [...attributePairs],
      ...{ a: side(times.a), b: side(times.b) },
    });
    return {
      input: { candidate: version, baseline: version, ...sides, phrases },
      mixes: await readMixes(client, query, sides.minutes),
      goodput: await goodputOf(client, config, query, sides.minutes),
      ...{ model, version: nameOf(version, times.b), baseline: nameOf(version, times.a) },
      incident: {
        event: await withStoredBaseline(client, event),
        named: namedIncident(event, times, times.a),
      },
    };
  });
}

function goodputOf(
  client: ClickHouseClient,
  { detect }: Config,
  query: SidesQuery,
  minutes: readonly ComparedMinute[],
): Promise<ComparedGoodput[]> {
  return comparedGoodput(client, objectivesOf(detect.slos), query, minutes);
}

/** Incidents that a message names. */
const mostNamed = 3;

/** "has no time before it that is stored", or in which incidents that lies. */
function noTimeBefore(takenBy: readonly AnomalyEvent[]): string {
  if (takenBy.length === 0) return 'has no time before it that is stored';
  const ids = takenBy.slice(0, mostNamed).map(({ id }) => id);
  const more = takenBy.length - ids.length;
  const incidents = `${takenBy.length === 1 ? 'the incident' : 'the incidents'} ${ids.join(', ')}`;
  return `has no time before it outside ${incidents}${more === 0 ? '' : ` and ${more} more`}`;
}

function notCompared(id: string, why: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot compare the incident ${id}: it ${why}`);
}

/** The first name that no stored request has, where no minute has requests of both sides. */
async function unknownOf(
  client: ClickHouseClient,
  { model, region, requestType, attributePairs }: Omit<ComparedRequests, 'cold'>,
  minutes: readonly ComparedMinute[],
  versions: readonly string[],
): Promise<UnknownOne | undefined> {
  if (minutes.some((minute) => paired(minute) !== undefined)) return undefined;
  const of = { model, region, request_type: requestType, attributePairs };
  for (const version of ['', ...versions]) {
    const unknown = await unknownIn(client, { ...of, version });
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

/** True for a range of the past that is complete: its minutes are all that there are. */
function isOver({ toMs }: TimeRange, untilMs = Number.POSITIVE_INFINITY): boolean {
  return toMs < Date.now() - minuteMs && untilMs > toMs - minuteMs;
}

function nameOf(version: string, { fromMs }: TimeRange): string {
  const from = `from ${new Date(fromMs).toISOString().slice(0, 16)}Z`;
  return version === '' ? from : `${version} ${from}`;
}

async function comparedFiles(
  config: Config,
  { aFile, bFile, baseline, version }: Asked<'files'>,
  { model, region, requestType, cold, attributePairs }: ComparedRequests,
  io: Io,
): Promise<Compared> {
  const names = new NamesOfFile();
  const read = (path: string, ofSide: string) =>
    readFileSide(config, { path, stdin: io.stdin }, (series: Series) => {
      names.add(series);
      return (
        (model === '' || series.model === model) &&
        (ofSide === '' || series.version === ofSide) &&
        (region === '' || series.region === region) &&
        (requestType === '' || series.request_type === requestType) &&
        hasPairs(series.attributes, attributePairs) &&
        series.cold_start === cold
      );
    });
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
    minutes: pairSides(before.minutes, now.minutes, (n) => now.startMs + n * minuteMs),
    remainingMinutes: 0,
    bands: { candidate: now.bands, baseline: before.bands },
  };
  const shown = { version: fileName(bFile, aFile), baseline: fileName(aFile, bFile) };
  const mixes = [before.mix, now.mix] as const;
  const isEmpty = before.minutes.size === 0 || now.minutes.size === 0;
  const of = { model, region, request_type: requestType, attributePairs };
  const unknown = isEmpty ? await findUnknown(of, names.valuesOf) : undefined;
  return {
    ...{ input, mixes, ...shown },
    model: model === '' ? (models[0] ?? '') : model,
    unknown: unknown && unknownText(unknown, 'is in the files'),
  };
}

const quoted = (text: string) => JSON.stringify(text);

/** The name alone, where it tells both files apart. */
function fileName(path: string, other: string): string {
  return basename(path) === basename(other) ? path : basename(path);
}
