import type { DimensionName } from '../../base/dimensions.ts';
import { closestNames } from '../../series/closest-names.ts';
import { matchesPattern } from '../../series/matches-pattern.ts';
import type { Mute } from '../../sink/anomalies/mute-store.ts';

/** Age up to which values are searched, in hours. */
const hours = 24;

export interface SeenValues {
  /** Values of a dimension since a time, the latest first. */
  readonly read: (dimension: DimensionName, fromMs: number) => Promise<readonly string[]>;
  /** Limit of the values: with this many there may be more, so none is said to be unseen. */
  readonly most: number;
}

/**
 * Sentences on what a mute names and no event of the last day has: a typing mistake, or a model that is to
 * come. The mute holds all the same. Where the values cannot be read, that is what the sentence says.
 */
export async function unseenValues(
  { models, dimensions }: Pick<Mute, 'models' | 'dimensions'>,
  nowMs: number,
  { read, most }: SeenValues,
): Promise<string[]> {
  const named: [DimensionName, readonly string[]][] = [];
  if (models.length > 0) named.push(['model', models]);
  for (const [dimension, pattern] of Object.entries(dimensions)) {
    named.push([dimension as DimensionName, [pattern]]);
  }
  const sentences: string[] = [];
  for (const [dimension, patterns] of named) {
    let seen: readonly string[];
    try {
      seen = await read(dimension, nowMs - hours * 3_600_000);
    } catch {
      return ['Whether there are such events is not known: ClickHouse did not say.'];
    }
    if (seen.length >= most) continue;
    const isUnseen = (pattern: string) => !seen.some((value) => matchesPattern(pattern, value));
    for (const pattern of patterns.filter(isUnseen)) {
      const known = seen.length === 0 ? 'no event at all' : closestNames(pattern, seen);
      sentences.push(`No event of ${dimension} ${pattern} in the last ${hours} h; seen: ${known}.`);
    }
  }
  return sentences;
}
