import type { ClickHouseClient } from '@clickhouse/client';
import { totalStage } from '../base/dimensions.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { StageBands } from '../baseline/series-reference.ts';
import type { CompareInput } from '../compare/compare-versions.ts';
import { type ComparedMinute, paired, type VersionMinute } from '../compare/compared-minute.ts';
import type { KnownNames } from '../compare/reason/absent-reason.ts';
import type { Config } from '../config/schema.ts';
import type { Bands } from '../series/series-window.ts';
import { decodeState } from '../sketch/clickhouse-state.ts';
import type { TDigest } from '../sketch/t-digest.ts';
import { repeatableSettings } from './query-settings.ts';
import { readRows } from './read-query.ts';
import { readSeenValues } from './read-seen-values.ts';
import { rowBinaryOf } from './row-binary/row-binary-of.ts';
import { RowBinaryReader } from './row-binary/row-binary-reader.ts';
import { readWindowStates } from './windows/read-window-states.ts';

/** Selects what to compare; '' matches any value. */
export interface ComparisonQuery {
  readonly fromMs: number;
  readonly toMs: number;
  readonly model: string;
  /** Version that is judged. */
  readonly candidate: string;
  /** Version that it is compared with. */
  readonly baseline: string;
  readonly region: string;
  readonly requestType: string;
  readonly coldStart: '' | 'true' | 'false';
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** How far back names are looked for, in days. */
const knownDays = 30;

/** Longest range: 1,440 minutes of two versions, some 25 MB with ten stages. */
export const longestComparisonMs = 24 * 60 * minuteMs;

/**
 * Reads the minutes of two versions of a model, and what their requests were made of. Only minutes that are
 * complete by the ledger of `kafka.group_id`: a minute counts once, when no more is to come. The range is
 * widened to a whole minute at its start.
 *
 * @throws OperatorError if the versions are the same, or the range is longer than a day.
 */
export async function readComparison(
  client: ClickHouseClient,
  config: Config,
  asked: ComparisonQuery,
): Promise<CompareInput> {
  const { candidate, baseline, model, region, requestType, coldStart } = asked;
  requireComparable(asked);
  const { fromMs, toMs } = await completeRange(client, config, asked);
  const versions = [candidate, baseline];
  const of = { model, region, requestType, coldStart, versions };
  const inRange = { fromSeconds: fromMs / 1000, toSeconds: toMs / 1000 };
  const parameters = { ...of, ...inRange };
  const bytes = await rowBinaryOf(client, 'comparison', parameters, repeatableSettings);
  const minutes = decodeMinutes(bytes, asked);
  const both = minutes.filter((minute) => paired(minute) !== undefined);
  const [first, last] = [both[0], both.at(-1)];
  if (first === undefined || last === undefined) {
    return { candidate, baseline, minutes, untilMs: toMs, known: await knownNames(client, asked) };
  }
  type Amounts = Readonly<Record<string, number>>;
  const rows = await readRows<{
    version: string;
    stage: string;
    bands: Amounts;
    bands_ms: Amounts;
  }>(client, 'comparison_bands', {
    ...of,
    fromSeconds: first.startMs / 1000,
    toSeconds: (last.startMs + minuteMs) / 1000,
  });
  const bandsOf = (version: string) =>
    new Map<string, StageBands>(
      rows
        .filter((row) => row.version === version)
        .map(({ stage, bands, bands_ms }) => [
          stage,
          { bands: sortedBands(bands), bandsMs: sortedBands(bands_ms) },
        ]),
    );
  const bands = { candidate: bandsOf(candidate), baseline: bandsOf(baseline) };
  return { candidate, baseline, minutes, untilMs: toMs, bands };
}

/** Which names there are, for the reason why there is nothing to compare. */
async function knownNames(
  client: ClickHouseClient,
  { model, toMs }: ComparisonQuery,
): Promise<KnownNames> {
  const fromMs = toMs - knownDays * dayMs;
  const versions = await readSeenValues(client, { dimension: 'version', model, fromMs });
  const isSeen = versions.length > 0;
  const models = isSeen
    ? []
    : await readSeenValues(client, { dimension: 'model', model: '', fromMs });
  return { model, versions, models, days: knownDays };
}

/** @throws OperatorError if the versions are the same, or the range is longer than a day. */
export function requireComparable({
  candidate,
  baseline,
  ...range
}: Pick<ComparisonQuery, 'candidate' | 'baseline' | 'fromMs' | 'toMs'>): void {
  if (candidate === baseline) {
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot compare as the version must differ from its baseline: both are ${JSON.stringify(baseline)}`,
    );
  }
  const rangeMs = range.toMs - wholeMinute(range.fromMs);
  if (rangeMs > longestComparisonMs + minuteMs) {
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot compare as a range must be at most 24h: it is ${Math.ceil(rangeMs / 3_600_000)}h`,
      { hint: 'Begin the range at the release.' },
    );
  }
}

async function completeRange(client: ClickHouseClient, config: Config, asked: ComparisonQuery) {
  const fromMs = wholeMinute(asked.fromMs);
  const range = { fromMs, toMs: asked.toMs, resolution: '1m' } as const;
  const states = await readWindowStates(client, config, range);
  const completeMs =
    states === undefined ? asked.toMs : Date.parse(states.complete_until) - config.windows.grace;
  const toMs = Math.floor(Math.min(asked.toMs, completeMs) / minuteMs) * minuteMs;
  return { fromMs, toMs: Math.max(fromMs, toMs) };
}

function wholeMinute(ms: number): number {
  return Math.floor(Math.max(0, ms) / minuteMs) * minuteMs;
}

/** A minute of one version while its rows are read. */
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

/** Decodes rows of sql/queries/comparison.sql, ordered by minute, version and stage. */
function decodeMinutes(
  bytes: Buffer,
  { candidate, baseline }: Pick<ComparisonQuery, 'candidate' | 'baseline'>,
): ComparedMinute[] {
  const minutes = new Map<number, Map<string, ReadMinute>>();
  const reader = new RowBinaryReader(bytes);
  while (!reader.atEnd) {
    const startMs = reader.uint32() * 1000;
    const version = reader.string();
    const stage = reader.string();
    const requests = reader.uint64();
    const failed = reader.uint64();
    const { digest, next } = decodeState(reader.bytes, reader.at);
    reader.at = next;
    const versions = minutes.get(startMs) ?? new Map<string, ReadMinute>();
    minutes.set(startMs, versions);
    const read = versions.get(version) ?? { requests: 0, failed: 0, stages: new Map() };
    versions.set(version, read);
    addStage(read, { stage, requests, failed, digest });
  }
  return [...minutes].map(([startMs, versions]) => {
    const of = (version: string): VersionMinute | undefined => versions.get(version);
    const [now, before] = [of(candidate), of(baseline)];
    return {
      startMs,
      ...(now === undefined ? {} : { candidate: now }),
      ...(before === undefined ? {} : { baseline: before }),
    };
  });
}

/** Amounts by band as a query returns them, in the order of bands. */
export function sortedBands(amounts: Readonly<Record<string, number>>): Bands {
  const sorted = Object.entries(amounts)
    .map(([band, amount]) => [Number(band), Number(amount)] as const)
    .toSorted(([a], [b]) => a - b);
  return { bands: sorted.map(([band]) => band), amounts: sorted.map(([, amount]) => amount) };
}
