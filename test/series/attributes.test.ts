import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attributeOf,
  attributePair,
  attributesOf,
  attributesPattern,
  attributesText,
  hasPairs,
} from '../../src/series/attributes.ts';

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,9}$/);
const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.stringMatching(/^[=,%\\"'a2C\n\0\u0085]{0,12}$/),
);
const values = fc.dictionary(name, value, { maxKeys: 4 });
const present = (given: object) =>
  Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== '');

describe('own dimensions as a text', () => {
  it('is the same in any order, and gives the values back', () => {
    fc.assert(
      fc.property(values, (given) => {
        const entries = Object.entries(given);
        const text = attributesText(entries);
        expect(attributesText(entries.toReversed())).toBe(text);
        expect(new Map(attributesOf(text))).toEqual(new Map(present(given)));
        expect(text).not.toMatch(/\p{Cc}/u);
        expect(text).toMatch(attributesPattern);
        for (const [key, own] of entries) {
          expect(attributeOf(text, `attributes.${key}`)).toBe(own);
        }
      }),
    );
  });

  it.each(['zz', '=x', 'a=b,', ',a=b', 'a=50%', 'a=%2c', '1a=b', 'a=b,c'])(
    'is none where a pair is broken: %j',
    (text) => {
      expect(text).not.toMatch(attributesPattern);
    },
  );

  it('differs for different values, and has the pairs of its values alone', () => {
    fc.assert(
      fc.property(values, values, (one, other) => {
        const [a, b] = [attributesText(Object.entries(one)), attributesText(Object.entries(other))];
        const isSame =
          JSON.stringify(present(one).sort()) === JSON.stringify(present(other).sort());
        expect(a === b).toBe(isSame);
        for (const [key, own] of Object.entries(one)) {
          const has = (Object.hasOwn(other, key) ? other[key] : '') === own;
          expect(attributePair(key, own)).toMatch(attributesPattern);
          expect(hasPairs(b, [attributePair(key, own)])).toBe(has);
        }
      }),
    );
  });

  it('lacks a value where no pair has its name, and not beyond the limit of series', () => {
    const text = 'adapter=a=,gpu=h100';
    expect(hasPairs(text, ['pool='])).toBe(true);
    expect(hasPairs(undefined, ['pool=', 'gpu='])).toBe(true);
    expect(hasPairs(text, ['gpu='])).toBe(false);
    expect(hasPairs(text, ['pool=', 'gpu=h100'])).toBe(true);
    expect(hasPairs(text, ['adapter=a='])).toBe(true);
    expect(hasPairs('__other__', ['gpu='])).toBe(false);
  });

  it('is empty without a value, and is read like this by SQL', () => {
    expect(attributesText([['adapter', '']])).toBe('');
    expect(
      attributesText(
        new Map([
          ['gpu', 'h100'],
          ['adapter', 'a,b=100%'],
        ]),
      ),
    ).toBe('adapter=a%2Cb=100%25,gpu=h100');
  });

  it('of series beyond a limit has that value by every name', () => {
    expect(attributeOf('__other__', 'attributes.adapter')).toBe('__other__');
    expect(attributeOf(undefined, 'attributes.adapter')).toBe('');
  });

  it('is read of any text, as other values are interned beside it', () => {
    for (const text of ['%zz', 'a', 'a=%E0%A4', ',', '=']) {
      expect(() => attributesOf(text)).not.toThrow();
    }
  });
});
