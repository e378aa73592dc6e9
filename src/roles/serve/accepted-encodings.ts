/** Content codings that a client takes. A weight of 0 refuses one; other weights do not matter here. */
export function acceptedEncodings(header: string | string[] | undefined): ReadonlySet<string> {
  return new Set(
    String(header ?? '')
      .split(',')
      .filter((coding) => !/;\s*q=0(\.0+)?\s*$/.test(coding))
      .map((coding) => (coding.split(';')[0] ?? '').trim().toLowerCase()),
  );
}
