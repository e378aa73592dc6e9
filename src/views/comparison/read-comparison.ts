import { OperatorError } from '../../base/operator-error.ts';
import { paired } from '../../compare/compared-minute.ts';
import type { KnownNames } from '../../compare/verdict/absent-reason.ts';
import type { CompareInput } from '../../compare/verdict/compare-versions.ts';
import type { Config } from '../../config/schema.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readSeenValues } from '../../sink/read-seen-values.ts';
import { readWindowStates } from '../../sink/windows/read-window-states.ts';
import { type AskedSide, comparedBlocks } from './compared-blocks.ts';
import { type ComparedFilters, readSides, type Sides, type SidesQuery } from './read-sides.ts';

/** Two versions of a model over one range. */
export interface VersionsQuery extends ComparedFilters {
  readonly fromMs: number;
  readonly toMs: number;
  /** Version that is judged. */
  readonly candidate: string;
  /** Version that it is compared with. */
  readonly baseline: string;
}

/** Two sides of a model, whose minutes are compared. */
export interface MinutesQuery extends ComparedFilters {
  readonly a: AskedSide;
  readonly b: AskedSide;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Days within which names are looked for. */
const knownDays = 30;

/** Longest range: 1,440 minutes of two versions, some 25 MB with ten stages. */
export const longestComparisonMs = dayMs;

/**
 * Reads the minutes of two sides. Only those that are complete by the ledger of `kafka.group_id`: a minute
 * counts once, when no more is to come. Ranges are widened to a whole minute at their start.
 *
 * @throws OperatorError if they are longer than a day.
 */
export async function readMinutes(
  client: ClickHouseClient,
  config: Config,
  { a, b, ...of }: MinutesQuery,
): Promise<Sides & { readonly query: SidesQuery; readonly remainingMinutes: number }> {
  const { fromMs, toMs } = a.toMs > b.toMs ? a : b;
  const states = await readWindowStates(client, config, { fromMs, toMs, resolution: '1m' });
  const completeMs =
    states === undefined ? toMs : Date.parse(states.complete_until) - config.windows.grace;
  const asked = { a, b, completeMs, minutesFromMs: 0, blockSeconds: minuteMs / 1000 };
  const { remainingMinutes, ...blocks } = comparedBlocks(asked);
  const rangeMs = (blocks.a.toSeconds - blocks.a.fromSeconds) * 1000;
  if (rangeMs > longestComparisonMs) throw tooLong(rangeMs);
  const query = { ...of, ...blocks };
  return { ...(await readSides(client, query)), query, remainingMinutes };
}

/**
 * Reads the minutes of two versions.
 *
 * @throws OperatorError if the versions are the same, or the range is longer than a day.
 */
export async function readVersions(
  client: ClickHouseClient,
  config: Config,
  asked: VersionsQuery,
): Promise<CompareInput & { readonly query: SidesQuery }> {
  requireComparable(asked);
  const { candidate, baseline, fromMs, toMs, ...of } = asked;
  const side = (version: string) => ({ version, fromMs, toMs });
  const sides = { a: side(baseline), b: side(candidate) };
  const read = readMinutes(client, config, { ...of, ...sides });
  const { minutes, bands, joined, query } = await read;
  const untilMs = query.b.toSeconds * 1000;
  const input = { candidate, baseline, minutes, bands, joined, untilMs, query };
  const isPaired = minutes.some((minute) => paired(minute) !== undefined);
  return isPaired ? input : { ...input, known: await knownNames(client, asked) };
}

/** Names that there are, for the reason why there is nothing to compare. */
async function knownNames(
  client: ClickHouseClient,
  { model, toMs }: VersionsQuery,
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
}: Pick<VersionsQuery, 'candidate' | 'baseline' | 'fromMs' | 'toMs'>): void {
  if (candidate === baseline) {
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot compare as the version must differ from its baseline: both are ${JSON.stringify(baseline)}`,
    );
  }
  const rangeMs = range.toMs - Math.floor(Math.max(0, range.fromMs) / minuteMs) * minuteMs;
  if (rangeMs > longestComparisonMs + minuteMs) {
    throw tooLong(rangeMs, { hint: 'Begin the range at the release.' });
  }
}

function tooLong(rangeMs: number, more: { readonly hint?: string } = {}): OperatorError {
  const message = `Cannot compare as a range must be at most 24h: it is ${Math.ceil(rangeMs / hourMs)}h`;
  return new OperatorError('TAILMARK_USAGE', message, more);
}
