import type { ClickHouseClient } from '@clickhouse/client';
import type { Dimension } from '../base/dimensions.ts';
import { readRows } from './read-query.ts';

interface SeenQuery {
  readonly dimension: Dimension;
  /** '' for the values of all models. */
  readonly model: string;
  /** Widened to a whole hour. */
  readonly fromMs: number;
}

/** Values read at once. */
const mostSeenValues = 10_000;

const hourSeconds = 3_600;

/** Values of a dimension that stored requests have had since a time, the latest first. */
export async function readSeenValues(
  client: ClickHouseClient,
  { dimension, model, fromMs }: SeenQuery,
): Promise<string[]> {
  const fromSeconds = Math.max(0, Math.floor(fromMs / 1000 / hourSeconds) * hourSeconds);
  const rows = await readRows<{ value: string }>(client, 'seen_values', {
    ...{ dimension, model, fromSeconds, limit: mostSeenValues },
  });
  return rows.map(({ value }) => value);
}

/** Values of all models, and how many are read at most. */
export function seenValuesOf(client: ClickHouseClient) {
  return {
    read: (dimension: Dimension, fromMs: number) =>
      readSeenValues(client, { dimension, model: '', fromMs }),
    most: mostSeenValues,
  };
}
