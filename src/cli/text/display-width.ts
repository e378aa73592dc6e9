const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ascii = /^[\x20-\x7e]*$/;
const zeroWidth = /^[\p{Mark}\p{Format}\p{Control}]+$/u;
/** East Asian wide and fullwidth blocks (Unicode Standard Annex #11). */
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3040-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const emoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;

/** Counts the columns of a text on a terminal: 2 for wide characters and emoji, 0 for marks. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of segmenter.segment(text)) columns += graphemeWidth(segment);
  return columns;
}

/** Returns the longest prefix that fits, with … where it is truncated. */
export function truncateToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    width += graphemeWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0;
  return emoji.test(grapheme) || wide.test(grapheme) ? 2 : 1;
}
