import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLines } from '../../../src/generate/replay/read-lines.ts';

async function linesOf(parts: readonly (Buffer | string)[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const group of readLines(Readable.from(parts))) {
    for (const line of group) lines.push(line.toString());
  }
  return lines;
}

describe('readLines', () => {
  it('takes ends of both kinds, empty lines, and a last line without an end', async () => {
    expect(await linesOf([])).toEqual([]);
    expect(await linesOf(['\n'])).toEqual(['']);
    expect(await linesOf(['a\r\n\r\nb\n\nc'])).toEqual(['a', '', 'b', '', 'c']);
    expect(await linesOf(['a\r', '\nb'])).toEqual(['a', 'b']);
  });

  it('gives the same lines however the stream is cut', async () => {
    const texts = fc.array(fc.constantFrom('a', 'ö', '\n', '{"ts":1}'), { maxLength: 30 });
    const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(texts, cuts, async (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(''));
        const parts: Buffer[] = [];
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const size = sizes[n % sizes.length] as number;
          parts.push(bytes.subarray(at, at + size));
          at += size;
        }
        const wanted = bytes.toString().split('\n');
        if (wanted.at(-1) === '') wanted.pop();
        expect(await linesOf(parts)).toEqual(wanted);
      }),
    );
  });

  it('refuses a line beyond 64 MiB instead of filling the memory', async () => {
    const part = Buffer.alloc(1 << 20, 'x');
    let given = 0;
    async function* endless() {
      for (;;) {
        given++;
        yield part;
      }
    }
    const read = async () => {
      for await (const _ of readLines(endless())) expect.unreachable();
    };
    await expect(read()).rejects.toThrow('a line is longer than 64 MiB');
    expect(given).toBe(65);
  });
});
