import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { windowSeconds } from '../sink/windows/read-tails.ts';
import type { ReleasesAnswer } from './answers/releases.ts';
import { answeredRange, isoTime, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { windowsOf } from './window-states.ts';

/** Releases of one answer. */
const mostRows = 1_000;

/**
 * Versions whose first request lies in a range: to the minute while minutes are kept, then to the hour or day.
 *
 * @throws UnknownName
 */
export async function releasesView(
  client: ClickHouseClient,
  { range, bounds, filters }: Question,
): Promise<ReleasesAnswer> {
  // 10-second windows are ordered by time: a day of them is read for all models.
  const { model } = filters;
  const resolution = range.resolution === '10s' ? '1m' : range.resolution;
  type Columns = 'model' | 'version' | 'first_seconds' | 'last_seconds' | 'requests';
  const { rows, sql } = await viewRows<Record<Columns, string>>(client, 'view_releases', {
    model,
    table: `latency_${resolution}`,
    fromSeconds: range.fromSeconds,
    toSeconds: range.toSeconds,
    limit: mostRows,
  });
  if (rows.length === 0) await unknownNames(client, filters);
  const whole = { ...range, stepSeconds: range.toSeconds - range.fromSeconds };
  return {
    range: answeredRange(range, false),
    windows: windowsOf(whole, bounds),
    rows: rows.map(({ first_seconds, last_seconds, requests, ...names }) => ({
      model: names.model,
      version: names.version,
      first_seen: isoTime(Number(first_seconds)),
      last_seen: isoTime(Number(last_seconds) + windowSeconds[resolution]),
      requests: Number(requests),
    })),
    sql,
  };
}
