import { escapedBytes } from '../../contract/sql.ts';

/** Control characters and line breaks: a name with them could forge a line. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
/** Format characters: they show nothing, or turn the direction of the text around them. */
const hidden = /\p{Cf}/gu;
/** Halves of a character, which no encoder accepts. */
const halves = /\p{Cs}/gu;
/** The same as above within a query, where a line break is layout. */
const hiddenInSql = /[\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Cs}]/gu;

/**
 * Cleans a text that comes from events, for people to read: one line, nothing hidden, at most `maxChars`
 * characters (code points). A longer text ends in "…".
 */
export function cleanText(text: string, maxChars: number): string {
  return cutText(
    text.replace(breaking, ' ').replace(hidden, '').replace(halves, '\ufffd'),
    maxChars,
  );
}

/** Cuts a text to `maxChars` characters (code points), the last of them "…". */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const characters = Array.from(text);
  if (characters.length <= maxChars) return text;
  return `${characters.slice(0, Math.max(0, maxChars - 1)).join('')}…`;
}

/** Cuts a text to `maxBytes` bytes of UTF-8, between characters. */
export function cutBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/**
 * Shows what a query hides. Only its string literals can hold such characters, and ClickHouse reads
 * `\xe2` in a literal as that byte: the query stays the same.
 */
export function cleanSql(sql: string): string {
  return sql.replace(hiddenInSql, (character) =>
    character === '\n' ? character : escapedBytes(character),
  );
}
