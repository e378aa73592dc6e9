import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LineOptions, lineGroups } from '../../src/source/line-groups.ts';

/** The groups of lines, each as its text and its length. */
async function groupsOf(pieces: readonly string[], options: Partial<LineOptions> = {}) {
  async function* stream() {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const groups: [text: string, bytes: number][][] = [];
  for await (const group of lineGroups(stream(), { maxBytes: 1_000, ...options })) {
    groups.push([...group].map((line) => [line.value.toString(), line.originalBytes]));
  }
  return groups;
}

describe('groups of lines', () => {
  it('have the lines that end in a piece, whatever their ends', async () => {
    expect(await groupsOf(['a\nb', 'c\r\n', '\n', 'd\r'])).toEqual([
      [['a', 1]],
      [['bc', 2]],
      [['', 0]],
      [],
      [['d', 1]],
    ]);
  });

  it('do not depend on how a text is cut', async () => {
    const texts = fc.array(fc.constantFrom('', 'a', '\r', 'été', 'x'.repeat(9)), { maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 5 }), async (lines, cut) => {
        const text = lines.map((line) => `${line}\n`).join('');
        const bytes = Buffer.from(text).toString('latin1');
        const pieces = bytes.match(new RegExp(`[^]{1,${cut}}`, 'g')) ?? [];
        async function* stream() {
          for (const piece of pieces) yield Buffer.from(piece, 'latin1');
        }
        const found: string[] = [];
        for await (const group of lineGroups(stream(), { maxBytes: 1_000 })) {
          for (const { value } of group) found.push(value.toString());
        }
        expect(found).toEqual(lines.map((line) => line.replace(/\r$/, '')));
      }),
    );
  });
});

describe('a line that is too long', () => {
  it.each([
    ['in one piece', ['12345678\nb\n']],
    ['in several', ['123', '4567', '8\nb\n']],
  ])('is truncated and says how long it was: %s', async (_, pieces) => {
    const lines = (await groupsOf(pieces, { maxBytes: 5, keptBytes: 3 })).flat();
    expect(lines).toEqual([
      ['123', 8],
      ['b', 1],
    ]);
  });

  it('is one byte longer than the limit; its carriage return does not count', async () => {
    expect(await groupsOf(['12345\r\n', '123456\n'], { maxBytes: 5 })).toEqual([
      [['12345', 5]],
      [['12345', 6]],
    ]);
  });

  it.each([
    ['without an end', ['123456', '789']],
    ['by a byte', ['123456\n']],
  ])('may be refused: %s', async (_, pieces) => {
    const onTooLong = () => {
      throw new RangeError('too long');
    };
    await expect(groupsOf(pieces, { maxBytes: 5, onTooLong })).rejects.toThrow('too long');
  });
});
