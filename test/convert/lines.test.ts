import { describe, expect, it } from 'vitest';
import { lines } from '../../src/convert/lines.ts';
import { textFile } from './conversion.ts';

async function linesOf(text: string, chunkBytes: number, maxBytes?: number) {
  const found: (string | undefined)[] = [];
  for await (const { text: line } of lines(textFile(text, chunkBytes).open(), maxBytes)) {
    found.push(line);
  }
  return found;
}

describe('lines', () => {
  it.each([1, 2, 3, 5, 100])('are the same in chunks of %i bytes', async (chunkBytes) => {
    const text = '\ufeffa\r\nbé\n\n\r\nc';
    expect(await linesOf(text, chunkBytes)).toEqual(['a', 'bé', '', '', 'c']);
  });

  it('beyond the limit have no text, and the next ones have', async () => {
    expect(await linesOf('12345\n1234\n123456\n1', 2, 4)).toEqual([
      undefined,
      '1234',
      undefined,
      '1',
    ]);
  });

  it('of an empty file are none', async () => {
    expect(await linesOf('', 1)).toEqual([]);
    expect(await linesOf('a\n', 1)).toEqual(['a']);
  });
});
