import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Interner } from '../../src/decode/interner.ts';

const text = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'ab', 'ranker', 'größe', '模型', '🚀'),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
);

describe('Interner', () => {
  it('is a Map from strings to the order in which they came, up to its capacity', () => {
    const steps = fc.array(fc.oneof({ weight: 50, arbitrary: text }, fc.constant(undefined)), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 60 }), (texts, capacity) => {
        const interner = new Interner(capacity);
        const map = new Map([['', 0]]);
        for (const given of texts) {
          if (given === undefined) {
            interner.clear();
            map.clear();
            map.set('', 0);
            continue;
          }
          // Within a larger buffer, as in a message.
          const bytes = Buffer.from(`<<${given}>>`);
          const known = map.get(given);
          expect(interner.find(bytes, 2, bytes.length - 2)).toBe(known ?? -1);
          const expected = known ?? (map.size < capacity ? map.size : -1);
          expect(interner.intern(bytes, 2, bytes.length - 2)).toBe(expected);
          expect(interner.internText(given)).toBe(expected);
          if (expected >= 0) map.set(given, expected);
        }
        expect(interner.size).toBe(map.size);
        for (const [string, id] of map) {
          expect(interner.text(id)).toBe(string);
          expect(interner.utf8(id)).toEqual(Buffer.from(string));
        }
      }),
      { seed: 3, numRuns: 100 },
    );
  });

  it('gives the empty string the id 0, also after clear', () => {
    const interner = new Interner(10);
    expect(interner.size).toBe(1);
    expect(interner.internText('')).toBe(0);
    expect(interner.text(0)).toBe('');
    interner.internText('x');
    interner.clear();
    expect(interner.size).toBe(1);
    expect(interner.internText('')).toBe(0);
    expect(interner.internText('y')).toBe(1);
  });

  it('answers -1 beyond its capacity, and still knows what it has', () => {
    const interner = new Interner(3);
    expect([interner.internText('a'), interner.internText('b')]).toEqual([1, 2]);
    expect(interner.internText('c')).toBe(-1);
    expect([interner.internText('a'), interner.internText('')]).toEqual([1, 0]);
    expect(interner.size).toBe(3);
  });

  it('keeps every string over several resizes', () => {
    const interner = new Interner(30_000);
    const numbers = Array.from({ length: 19_999 }, (_, i) => i + 1);
    const isKept = (i: number) =>
      interner.internText(`host-${i}`) === i && interner.text(i) === `host-${i}`;
    expect(numbers.filter((i) => !isKept(i))).toEqual([]);
    expect(numbers.filter((i) => !isKept(i))).toEqual([]);
    expect(interner.size).toBe(20_000);
  });

  it('copies the bytes, which the caller goes on using', () => {
    const interner = new Interner(10);
    const message = Buffer.from('abc');
    expect(interner.intern(message, 0, 3)).toBe(1);
    message.fill('x');
    expect(interner.internText('abc')).toBe(1);
    expect(interner.find(message, 0, 3)).toBe(-1);
  });
});
