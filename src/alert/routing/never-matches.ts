import type { ReceiverMatch } from '../../config/alert.ts';
import type { Config } from '../../config/schema.ts';
import { matchedDimensions, matchesPattern } from './matches.ts';

/** Why a receiver can never get anything with this configuration; undefined where it can. */
export function neverMatches(
  match: ReceiverMatch,
  { windows, detect }: Pick<Config, 'windows' | 'detect'>,
): string | undefined {
  for (const dimension of matchedDimensions) {
    const wanted = match[dimension];
    if (wanted === undefined || windows.dimensions.includes(dimension)) continue;
    // Of a dimension that is not kept, every value is empty.
    if (wanted.some((pattern) => matchesPattern(pattern, ''))) continue;
    return `${dimension} is not one of windows.dimensions, so no series has a value of it`;
  }
  const kinds = match.kinds ?? [];
  const isOnly = (kind: (typeof kinds)[number]) =>
    kinds.length > 0 && kinds.every((each) => each === kind);
  if (isOnly('slo_burn') && detect.slos.length === 0) {
    return 'kind slo_burn needs detect.slos, which has none';
  }
  const models = match.models ?? ['*'];
  if (isOnly('pipeline') && !models.some((pattern) => matchesPattern(pattern, ''))) {
    return 'kind pipeline is of no model, and models names some';
  }
  return undefined;
}
