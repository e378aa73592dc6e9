import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { windowSeconds } from '../sink/windows/read-tails.ts';
import type { VersionsAnswer } from './answers/versions.ts';
import { answeredRange, isoTime, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { windowsOf } from './window-states.ts';

/** Versions of one answer. */
const mostRows = 2_000;
/** A version without requests for longer than this is no longer live; rare requests come minutes apart. */
const liveSeconds = 900;

/**
 * Versions with requests in a range, by model, the newest first. A version is live where it had requests in the last
 * 15 minutes of what is stored of the range, or in its last window.
 *
 * @throws UnknownName
 */
export async function versionsView(
  client: ClickHouseClient,
  { range, bounds, filters }: Question,
): Promise<VersionsAnswer> {
  // 10-second windows are ordered by time: a day of them is read for all models.
  const resolution = range.resolution === '10s' ? '1m' : range.resolution;
  type Columns = 'model' | 'version' | 'first_seconds' | 'last_seconds' | 'requests';
  const { rows, sql } = await viewRows<Record<Columns, string>>(client, 'view_versions', {
    model: filters.model,
    table: `latency_${resolution}`,
    firstTable: resolution === '1d' ? 'latency_1d' : 'latency_1h',
    fromSeconds: range.fromSeconds,
    toSeconds: range.toSeconds,
    limit: mostRows,
  });
  if (rows.length === 0) await unknownNames(client, filters);
  const whole = { ...range, stepSeconds: range.toSeconds - range.fromSeconds };
  const windowLength = windowSeconds[resolution];
  const storedTo = Math.min(range.toSeconds, bounds.completeMs / 1000);
  const liveFrom = storedTo - Math.max(liveSeconds, windowLength);
  return {
    range: answeredRange(range, false),
    windows: windowsOf(whole, bounds),
    rows: rows.map(({ first_seconds, last_seconds, requests, ...names }) => {
      const lastSeconds = Number(last_seconds) + windowLength;
      return {
        ...{ model: names.model, version: names.version },
        first_seen: isoTime(Number(first_seconds)),
        last_seen: isoTime(lastSeconds),
        requests: Number(requests),
        is_live: lastSeconds > liveFrom,
      };
    }),
    sql,
  };
}
