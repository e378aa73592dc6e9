import { describe, expect, it } from 'vitest';
import { FrameAssembler } from '../../../src/kafka/protocol/frame-assembler.ts';
import { FramePool } from '../../../src/kafka/protocol/frame-pool.ts';
import { SeededRandom } from '../../base/seeded-random.ts';

function frameOf(payload: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(payload.length);
  return Buffer.concat([length, payload]);
}

/** Frames assembled from bytes that are read in parts. */
function assemble(bytes: Buffer, partBytes: () => number): Buffer[] {
  const frames: Buffer[] = [];
  const assembler = new FrameAssembler(new FramePool(), (frame) => frames.push(frame));
  for (let at = 0; at < bytes.length; ) {
    const readTarget = assembler.readTarget();
    const count = bytes.copy(readTarget, 0, at, at + partBytes());
    assembler.received(count);
    at += count;
  }
  return frames;
}

describe('frames of a socket', () => {
  it('are complete and in order, for any reads', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = new SeededRandom(seed);
      const frames = Array.from({ length: random.between(1, 20) }, (_, i) =>
        frameOf(Buffer.alloc(random.between(1, random.chance(0.1) ? 300_000 : 50), i + 1)),
      );
      const most = random.chance(0.2) ? 30 : random.between(1, 100_000);
      const found = assemble(Buffer.concat(frames), () => random.between(1, most));
      expect(found.map((frame) => frame.equals(frames.shift() as Buffer))).toEqual(
        found.map(() => true),
      );
      expect(frames).toEqual([]);
    }
  });

  it('that are invalid are passed on as they come, without allocation', () => {
    const answer = Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect(Buffer.concat(assemble(answer, () => 5)).toString()).toBe(answer.toString());
    const negative = Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
    expect(Buffer.concat(assemble(negative, () => 7))).toEqual(negative);
  });

  it('before an invalid one are still complete', () => {
    const bytes = Buffer.concat([
      frameOf(Buffer.from('good')),
      Buffer.alloc(4),
      Buffer.from('rest'),
    ]);
    const found = assemble(bytes, () => bytes.length);
    expect(found[0]?.toString('latin1')).toBe('\0\0\0\u0004good');
    expect(Buffer.concat(found)).toEqual(bytes);
  });
});
