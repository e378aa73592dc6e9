import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanSql, cleanText, cutBytes, cutText } from '../../../src/alert/message/clean-text.ts';
import { quoteSql } from '../../../src/contract/sql.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud800', 'a\udc00b', '\u202e', '\u{e0041}x', 'e\u0301'.repeat(40)),
);

describe('cleanText', () => {
  it.each([
    ['a\r\nBcc: x', 'a  Bcc: x'],
    ['a\u2028b\u2029c\u0085d', 'a b c d'],
    ['\u202Eabc\u202C\u2066d\u2069', 'abcd'],
    ['ran\u200Bk\u00ADer\uFEFF', 'ranker'],
    ['a\u0000b\u001b[31mc', 'a b [31mc'],
    ['\u{e0041}tag', 'tag'],
    ['\ud800half', '\ufffdhalf'],
    ['naïve 模型 \u{1f600}', 'naïve 模型 \u{1f600}'],
  ])('of %j is %j', (text, expected) => {
    expect(cleanText(text, 100)).toBe(expected);
  });

  it('cuts between characters, and says so', () => {
    expect(cleanText('\u{1f600}\u{1f600}\u{1f600}', 2)).toBe('\u{1f600}…');
    expect(cleanText('abc', 3)).toBe('abc');
    expect(cleanText('abcd', 3)).toBe('ab…');
    expect(cutText('abcd', 0)).toBe('…');
  });

  it('never leaves a hidden character, a line break or half a character', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, max) => {
        const clean = cleanText(text, max);
        expect(clean).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect([...clean].length).toBeLessThanOrEqual(max);
      }),
    );
  });
});

describe('cutBytes', () => {
  it('keeps whole characters only', () => {
    expect(cutBytes('a\u{1f600}b', 4)).toBe('a');
    expect(cutBytes('a\u{1f600}b', 5)).toBe('a\u{1f600}');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, max) => {
        const cut = cutBytes(text, max);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max);
        expect(text.startsWith(cut)).toBe(true);
      }),
    );
  });
});

describe('cleanSql', () => {
  it('shows what a literal hides, as the bytes that ClickHouse reads', () => {
    const name = "a\u202eb\u0000'c\n";
    expect(cleanSql(`SELECT ${quoteSql(name)}\nFROM t`)).toBe(
      "SELECT 'a\\xe2\\x80\\xaeb\\x00\\'c\\x0a'\nFROM t",
    );
  });

  it('keeps a query of plain names', () => {
    const sql = "SELECT 1\nWHERE model = '模型 \\\\'";
    expect(cleanSql(sql)).toBe(sql);
  });
});
