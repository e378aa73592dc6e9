import { ownLabels } from '../../../src/contract/format.ts';
import type { Range, Windows } from '../data/answers.ts';
import { shownName } from '../format/name.ts';
import { place } from '../state/place.ts';

interface Stepped {
  readonly range: Range;
  readonly windows: Windows;
  readonly rows: readonly { readonly requests: number }[];
  /** A sentence on a name that the model has never had. */
  readonly unknown?: string | undefined;
}

/**
 * The reason why an answer holds no request: six different sentences; undefined where it holds some.
 *
 * @param stages of a model whose events have no total.
 */
export function noRequests(
  { rows, windows, unknown }: Stepped,
  model: string,
  stages: readonly string[] = [],
): string | undefined {
  if (rows.some(({ requests }) => requests > 0)) return undefined;
  if (unknown !== undefined) return shownName(unknown);
  if (stages.length > 0) {
    return `No event of ${shownName(model)} in this range has a total. Choose one of its stages: ${shownName(stages.join(', '))}.`;
  }
  const { version, region, request_type: type, attributes, start } = place.value.params;
  const own = ownLabels({ attributes });
  const filters = [version, region, type, ...own, start].filter((value) => value !== undefined);
  if (filters.length > 0) {
    return `No request of ${shownName(model)} matches ${shownName(filters.join(', '))} in this range. Clear a filter to see others.`;
  }
  if (windows.final + windows.provisional === 0) return 'Nothing of this range is stored yet.';
  return `${shownName(model)} received no requests in this range.`;
}
