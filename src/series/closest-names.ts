import { closest } from '../config/closest.ts';
import { valueText } from './value-text.ts';

/** Names that a message lists. */
const mostListed = 5;

/** Names for somebody who wrote another one: the most similar first, then in the given order. */
export function closestFirst(word: string, names: readonly string[]): readonly string[] {
  const near = closest(word, names);
  return near === undefined ? names : [near, ...names.filter((name) => name !== near)];
}

/** Lists names as `closestFirst` orders them: "v2, v1", "a, b, c, d, e and 7 more"; an empty name is "(none)". */
export function closestNames(word: string, names: readonly string[]): string {
  const ordered = closestFirst(word, names);
  const listed = ordered.slice(0, mostListed).map(valueText);
  const rest = ordered.length - listed.length;
  return rest === 0 ? listed.join(', ') : `${listed.join(', ')} and ${rest} more`;
}
