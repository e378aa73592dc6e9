import { type AttributeName, attributeKey, overflowValue } from '../base/dimensions.ts';

/**
 * Own dimensions of a series as one text, the same for the same values: `adapter=lora-7,gpu=h100`, by name.
 * A value that is absent or empty has no pair; without any pair the text is ''. In values `%`, `,` and
 * control characters are percent-encoded: the text is unambiguous, and SQL has `decodeURLComponent` for it.
 *
 * @param values by name, without the prefix `attributes.`.
 */
export function attributesText(values: Iterable<readonly [name: string, value: string]>): string {
  return [...values]
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => attributePair(name, value))
    .join(',');
}

/** One pair of the text, by which SQL finds series: `adapter=lora-7`; `adapter=` finds those without an adapter. */
export function attributePair(name: string, value: string): string {
  return `${name}=${value.replaceAll(/[%,\p{Cc}]/gu, encodeURIComponent)}`;
}

/** Pairs with commas between them, as `attributePair` writes them, in any order. */
export const attributesPattern = manyOf('[A-Za-z][A-Za-z0-9_.-]{0,63}=(?:[^,%]|%[0-9A-F]{2})*');

function manyOf(pair: string): RegExp {
  return new RegExp(`^(?:${pair}(?:,${pair})*)?$`);
}

/** Values by name, as they were sent. Inverse of `attributesText`; of series beyond a limit there are none. */
export function attributesOf(text: string): Map<string, string> {
  const pairs = text === '' || text === overflowValue ? [] : text.split(',');
  return new Map(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1).replaceAll(/(?:%[0-9A-F]{2})+/g, decoded)];
    }),
  );
}

/** Reports whether the text of some own dimensions has all of these pairs; of `adapter=` whether it has no adapter. */
export function hasPairs(text = '', pairs: readonly string[] = []): boolean {
  const own = text.split(',');
  return pairs.every((pair) =>
    pair.indexOf('=') < pair.length - 1
      ? own.includes(pair)
      : text !== overflowValue && !own.some((one) => one.startsWith(pair)),
  );
}

/** Value of an own dimension; '' where there is none, and `__other__` beyond the limit of series. */
export function attributeOf(text: string | undefined, name: AttributeName): string {
  if (text === undefined || text === overflowValue) return text ?? '';
  return attributesOf(text).get(attributeKey(name)) ?? '';
}

/** Unlike `decodeURIComponent` it throws at no text. */
function decoded(encoded: string): string {
  const bytes = encoded
    .slice(1)
    .split('%')
    .map((byte) => Number.parseInt(byte, 16));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}
