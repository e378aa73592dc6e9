/** `*` matches any text, also none; all else is itself. */
export function matchesPattern(pattern: string, value: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return pattern === value;
  if (!value.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = value.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return value.length - last.length >= at && value.endsWith(last);
}
