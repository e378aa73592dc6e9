const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ascii = /^[\x20-\x7e]*$/;
const zeroWidth = /^[\p{Mark}\p{Format}\p{Control}]+$/u;
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
  return emoji.test(grapheme) || isWide(grapheme.codePointAt(0) as number) ? 2 : 1;
}

/** East Asian wide and fullwidth blocks (Unicode Standard Annex #11). */
function isWide(codePoint: number): boolean {
  return (
    codePoint >= 0x1100 &&
    (codePoint <= 0x115f ||
      (codePoint >= 0x2e80 && codePoint <= 0xa4cf && codePoint !== 0x303f) ||
      (codePoint >= 0xa960 && codePoint <= 0xa97c) ||
      (codePoint >= 0xac00 && codePoint <= 0xd7a3) ||
      (codePoint >= 0xf900 && codePoint <= 0xfaff) ||
      (codePoint >= 0xfe30 && codePoint <= 0xfe6f) ||
      (codePoint >= 0xff00 && codePoint <= 0xff60) ||
      (codePoint >= 0xffe0 && codePoint <= 0xffe6) ||
      (codePoint >= 0x20000 && codePoint <= 0x3fffd))
  );
}
