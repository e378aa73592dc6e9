import {
  attributePrefix,
  type Dimension,
  type DimensionName,
  dimensions,
} from '../../base/dimensions.ts';
import type { ReceiverMatch } from '../../config/alert.ts';
import { type AnomalyEvent, severities } from '../../contract/anomaly-event.ts';
import { matchesPattern } from '../../series/matches-pattern.ts';
import { dimensionValue } from '../../series/series-key.ts';

/** Dimensions that `match` has patterns for, apart from the model. */
export const matchedDimensions = dimensions.filter(
  (dimension): dimension is Exclude<Dimension, 'model' | 'cold_start'> =>
    dimension !== 'model' && dimension !== 'cold_start',
);

/**
 * The first condition that an anomaly does not meet, as text; undefined where the receiver gets it. Of an
 * anomaly of several series, one that matches suffices.
 */
export function unmetCondition(match: ReceiverMatch, event: AnomalyEvent): string | undefined {
  if (severities.indexOf(event.severity) < severities.indexOf(match.severity)) {
    return `severity ${event.severity} is below ${match.severity}`;
  }
  if (match.kinds !== undefined && !match.kinds.includes(event.kind)) {
    return `kind ${event.kind} is not one of ${match.kinds.join(', ')}`;
  }
  for (const [dimension, wanted] of wantedValues(match)) {
    const values = valuesOf(event, dimension);
    if (isOneOf(wanted, values)) continue;
    return `${dimension} ${values.join(', ') || "''"} is not one of ${wanted.join(', ')}`;
  }
  return undefined;
}

/** Patterns that a receiver has, by the dimension that they are of. */
export function wantedValues(
  match: ReceiverMatch,
): (readonly [dimension: DimensionName, patterns: readonly string[]])[] {
  const own = Object.entries(match.attributes ?? {}).map(
    ([name, patterns]) => [`${attributePrefix}${name}`, patterns] as const,
  );
  const named = matchedDimensions.map((dimension) => [dimension, match[dimension]] as const);
  return [['model', match.models] as const, ...named, ...own].flatMap(([dimension, patterns]) =>
    patterns === undefined ? [] : [[dimension, patterns] as const],
  );
}

/** Values of a dimension in all series that the event names. */
export function valuesOf(event: AnomalyEvent, dimension: DimensionName): string[] {
  const values = new Set([dimensionValue(event, dimension)]);
  for (const member of event.members ?? []) values.add(dimensionValue(member, dimension));
  for (const each of event.scope?.values ?? []) {
    if (each.dimension === dimension) values.add(each.value);
  }
  return [...values];
}

function isOneOf(patterns: readonly string[], values: readonly string[]): boolean {
  return values.some((value) => patterns.some((pattern) => matchesPattern(pattern, value)));
}
