/** A pattern with `*` for any text, as LIKE takes it. */
export function likePattern(pattern: string): string {
  return pattern.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}
