import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { bandFromMs } from '../sketch/band.ts';
import type { DensityAnswer } from './answers/density.ts';
import { answeredRange, isoTime, parametersOf, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { stateOf, windowsOf } from './window-states.ts';

/**
 * Requests of a model over time, by the band of their total.
 *
 * @throws UnknownName
 */
export async function densityView(
  client: ClickHouseClient,
  question: Question,
): Promise<DensityAnswer> {
  const { range, bounds, filters } = question;
  type Row = { at_seconds: number; requests: string; bands: Readonly<Record<string, number>> };
  const { rows, sql } = await viewRows<Row>(client, 'view_density', {
    ...parametersOf(question),
    stepSeconds: range.stepSeconds,
  });
  const isEmpty = rows.every(({ requests }) => Number(requests) === 0);
  const unknown = isEmpty ? await unknownNames(client, filters) : {};
  return {
    range: answeredRange(range, true),
    windows: windowsOf(range, bounds),
    rows: rows.map(({ at_seconds, requests, bands }) => ({
      at: isoTime(at_seconds),
      state: stateOf((at_seconds + range.stepSeconds) * 1000, bounds),
      requests: Number(requests),
      bands: Object.entries(bands)
        .map(([band, amount]) => ({ band: Number(band), requests: Math.round(amount) }))
        .toSorted((a, b) => a.band - b.band)
        .map(({ band, ...rest }) => ({ band, from_ms: bandFromMs(band), ...rest })),
    })),
    sql,
    ...unknown,
  };
}
