import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodedParts } from '../../../src/sink/anomalies/decode-parts.ts';
import { RowBinaryWriter } from '../../../src/sink/row-binary/row-binary-writer.ts';

const parts = [
  { name: '["ranker","a"]', bytes: Buffer.alloc(7_000, 'a') },
  { name: 'drift ["ranker"]', bytes: Buffer.alloc(0) },
  { name: 'shared', bytes: Buffer.from([0, 1, 255]) },
  { name: 'model größer', bytes: Buffer.alloc(300, 'b') },
];

function encoded(): Buffer {
  const writer = new RowBinaryWriter();
  for (const { name, bytes } of parts) {
    writer.string(name);
    writer.utf8(bytes);
  }
  return writer.copy();
}

async function decoded(pieces: readonly Buffer[]) {
  const found = [];
  for await (const { name, bytes } of decodedParts(Readable.from(pieces))) {
    found.push({ name, bytes: Buffer.from(bytes) });
  }
  return found;
}

describe('parts of a snapshot', () => {
  it('are the same for any pieces of the response', async () => {
    const bytes = encoded();
    const ends = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(ends, async (given) => {
        const at = [0, ...given.sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        expect(await decoded(pieces)).toEqual(parts);
      }),
      { numRuns: 50, seed: 5 },
    );
  });

  it('come one by one, and no more is read while one is processed', async () => {
    const row = encoded();
    let sent = 0;
    async function* rows() {
      for (; sent < 100; sent++) yield row;
    }
    const sentAt: number[] = [];
    for await (const { name } of decodedParts(Readable.from(rows(), { highWaterMark: 1 }))) {
      if (name === 'shared') sentAt.push(sent);
    }
    expect(sentAt).toHaveLength(100);
    expect(sentAt.every((count, i) => count <= i + 3)).toBe(true);
  });

  it('are refused when the response ends within one', async () => {
    const bytes = encoded();
    await expect(decoded([bytes.subarray(0, -1)])).rejects.toThrow(
      'the response ends within a part, after ',
    );
    expect(await decoded([])).toEqual([]);
  });
});
