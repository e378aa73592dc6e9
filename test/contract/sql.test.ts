import { describe, expect, it } from 'vitest';
import { quoteSql } from '../../src/contract/sql.ts';

describe('quoteSql', () => {
  it.each([
    ['plain', "'plain'"],
    ["o'brien", "'o\\'brien'"],
    ['back\\slash', "'back\\\\slash'"],
    ["\\' OR 1=1 --", "'\\\\\\' OR 1=1 --'"],
    ['', "''"],
    ['line\n-- break\u2028', "'line\\x0a-- break\\xe2\\x80\\xa8'"],
  ])('of %s is %s', (text, expected) => {
    expect(quoteSql(text)).toBe(expected);
  });
});
