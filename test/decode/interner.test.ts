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
      fc.property(steps, fc.integer({ min: 2, max: 60 }), (texts, capacity) => {
        const interner = new Interner(capacity);
        const held = [
          ['', 0],
          ['__other__', 1],
        ] as const;
        const map = new Map<string, number>(held);
        for (const given of texts) {
          if (given === undefined) {
            interner.clear();
            map.clear();
            for (const [string, id] of held) map.set(string, id);
            continue;
          }
          // Within a larger buffer, as in a message.
          const bytes = Buffer.from(`<<${given}>>`);
          const known = map.get(given);
          expect(interner.find(bytes, 2, bytes.length - 2)).toBe(known ?? -1);
          const expected = known ?? (map.size < capacity ? map.size : Interner.otherId);
          expect(interner.intern(bytes, 2, bytes.length - 2)).toBe(expected);
          expect(interner.internText(given)).toBe(expected);
          if (expected === map.size) map.set(given, expected);
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

  it('holds the empty string and __other__, also after clear', () => {
    const interner = new Interner(10);
    const { generation } = interner;
    interner.internText('x');
    interner.clear();
    expect(interner.generation).toBe(generation + 1);
    expect(interner.size).toBe(2);
    expect(['', '__other__', 'y'].map((text) => interner.internText(text))).toEqual([0, 1, 2]);
  });

  it('gives strings beyond its capacity the id of __other__, and still knows what it has', () => {
    const interner = new Interner(4);
    const ids = ['a', 'b', 'c', 'a', ''].map((text) => interner.internText(text));
    expect(ids).toEqual([2, 3, Interner.otherId, 2, 0]);
    expect(interner.size).toBe(4);
  });

  it('keeps every string over several resizes, texts beyond ASCII among them', () => {
    const interner = new Interner(30_000);
    const numbers = Array.from({ length: 19_998 }, (_, i) => i + 2);
    const isKept = (i: number) =>
      interner.internText(`größe-${i}`) === i && interner.text(i) === `größe-${i}`;
    expect(numbers.filter((i) => !isKept(i))).toEqual([]);
    expect(numbers.filter((i) => !isKept(i))).toEqual([]);
    expect(interner.size).toBe(20_000);
  });

  it('copies the bytes, which the caller goes on using', () => {
    const interner = new Interner(10);
    const message = Buffer.from('abc');
    const id = interner.intern(message, 0, 3);
    message.fill('x');
    expect(interner.internText('abc')).toBe(id);
    expect(interner.find(message, 0, 3)).toBe(-1);
  });
});
