/**
 * Content codings that a client takes. A weight of 0 refuses one, which `accepts` of Hono would choose; other
 * weights do not matter here.
 */
export function acceptedEncodings(header = ''): ReadonlySet<string> {
  return new Set(
    header
      .split(',')
      .filter((coding) => !/;\s*q=0(\.0+)?\s*$/.test(coding))
      .map((coding) => (coding.split(';')[0] ?? '').trim().toLowerCase()),
  );
}
