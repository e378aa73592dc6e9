import type { Mutant } from './mutant.ts';

/** Plants the bug in the source; throws unless the replaced text is there exactly once. */
export function applyMutant({ name, file, find, replace }: Mutant, source: string): string {
  const count = source.split(find).length - 1;
  if (count === 1) return source.replace(find, () => replace);
  throw new Error(`mutant ${name}: its text is in ${file} ${count} times, not once: ${find}`);
}
