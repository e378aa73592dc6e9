import type { ClickHouseClient } from '@clickhouse/client';
import { attributeKey, type DimensionName, isAttributeName } from '../base/dimensions.ts';
import { hourSeconds } from '../base/time.ts';
import { type AskedNames, findUnknown, type UnknownOne } from '../series/unknown-name.ts';
import { readRows } from './client/read-query.ts';

interface SeenQuery {
  readonly dimension: DimensionName | 'stage';
  /** '' for the values of all models. */
  readonly model: string;
  /** Widened to a whole hour; undefined for all that is stored, by days. */
  readonly fromMs: number | undefined;
}

/** Values read at once. */
const mostSeenValues = 10_000;

/** Values of a dimension that stored requests have had since a time, the latest first. */
export async function readSeenValues(
  client: ClickHouseClient,
  { dimension, model, fromMs }: SeenQuery,
): Promise<string[]> {
  const fromSeconds = Math.max(0, Math.floor((fromMs ?? 0) / 1000 / hourSeconds) * hourSeconds);
  const table = fromMs === undefined ? 'latency_1d' : 'latency_1h';
  const rows = await readRows<{ value: string }>(client, 'seen_values', {
    ...columnOf(dimension),
    ...{ model, table, fromSeconds, limit: mostSeenValues },
  });
  return rows.map(({ value }) => value);
}

/** The column of a dimension, and the name within it of an own one. */
export function columnOf(name: DimensionName | 'stage') {
  return isAttributeName(name)
    ? { dimension: 'attributes', attribute: attributeKey(name) }
    : { dimension: name, attribute: '' };
}

/** Values of all models, and how many are read at most. */
export function seenValuesOf(client: ClickHouseClient) {
  return {
    read: (dimension: DimensionName, fromMs: number) =>
      readSeenValues(client, { dimension, model: '', fromMs }),
    most: mostSeenValues,
  };
}

/** The first name of a question that no stored request has; asked where an answer is empty. */
export function unknownIn(
  client: ClickHouseClient,
  asked: AskedNames,
): Promise<UnknownOne | undefined> {
  return findUnknown(asked, async (dimension, model) => {
    // A model that is there costs one row; the names of all are read for who wrote another one.
    const isModel = dimension === 'model' && asked.model !== undefined;
    if (isModel && (await isKnownModel(client, asked.model))) return undefined;
    const values = await readSeenValues(client, { dimension, model, fromMs: undefined });
    return isModel || values.length < mostSeenValues ? values : undefined;
  });
}

async function isKnownModel(client: ClickHouseClient, model: string): Promise<boolean> {
  return (await readRows(client, 'known_model', { model })).length > 0;
}
