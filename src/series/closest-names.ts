import { closest } from '../config/closest.ts';

/** Names that a message lists. */
const mostListed = 5;

/**
 * Lists names for somebody who wrote another one: the most similar first, then in the given order. "v2, v1",
 * "a, b, c, d, e and 7 more"; an empty name is "(none)".
 */
export function closestNames(word: string, names: readonly string[]): string {
  const near = closest(word, names);
  const ordered = near === undefined ? names : [near, ...names.filter((name) => name !== near)];
  const listed = ordered.slice(0, mostListed).map((name) => (name === '' ? '(none)' : name));
  const rest = ordered.length - listed.length;
  return rest === 0 ? listed.join(', ') : `${listed.join(', ')} and ${rest} more`;
}
