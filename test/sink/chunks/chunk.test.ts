import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Chunk, chunkToken } from '../../../src/sink/chunks/chunk.ts';

const rows = {
  bytes: Buffer.alloc(0),
  rowCount: 0,
  samples: 0,
  windowMinMs: 0,
  windowMaxMs: 0,
  mark: 1,
  days: { stage: [0], driver: [], exemplar: [] },
};
const chunk: Chunk = {
  groupId: 'g',
  topic: 't',
  partition: 1,
  logId: 'c/t',
  startOffset: 2,
  endOffset: 3,
  firstTimestampMs: 4,
  lastTimestampMs: 5,
  watermarkMs: 6,
  leaderEpoch: 3,
  records: 1,
  consumed: 1,
  aggregated: 1,
  rejected: 0,
  late: 0,
  overflow: 0,
  unmapped: 0,
  weight: 0,
  lateMerged: 0,
  removedEvents: 0,
  removedOffsets: 0,
  rows,
};
/** Parts of a token. Kafka allows any text as a group, and letters, digits, ".", "_", "-" here. */
const named = fc.record({
  groupId: fc.constantFrom('g', 'g/t', 'g/t/1', '/', 'a-b'),
  topic: fc.constantFrom('t', 't-1', '1-2', '1'),
  partition: fc.nat(12),
  logId: fc.constantFrom('', 'c/t', 'c/t#2', 'c/'),
  startOffset: fc.nat(12),
  endOffset: fc.nat(12),
  leaderEpoch: fc.constantFrom(-1, 0, 1, 12),
});

describe('chunkToken', () => {
  it('is the same for the same records, and differs for any others', () => {
    fc.assert(
      fc.property(named, named, (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b);
        expect(chunkToken({ ...chunk, ...a }) === chunkToken({ ...chunk, ...b })).toBe(isSame);
        expect(chunkToken({ ...chunk, ...a })).toBe(chunkToken({ ...chunk, ...a }));
      }),
      { seed: 5, numRuns: 2_000 },
    );
  });

  it.each([
    ['groupId', { groupId: 'h' }],
    ['topic', { topic: 'u' }],
    ['partition', { partition: 2 }],
    ['startOffset', { startOffset: 1 }],
    ['endOffset', { endOffset: 4 }],
    ['logId', { logId: 'c/u' }],
    ['leaderEpoch: an unclean election puts other records in the place', { leaderEpoch: 4 }],
  ])('binds %s', (_, other) => {
    expect(chunkToken({ ...chunk, ...other })).not.toBe(chunkToken(chunk));
  });

  it('does not bind the contents of a chunk: the same records give the same', () => {
    const other = { ...chunk, consumed: 9, rows: { ...rows, rowCount: 7 } };
    expect(chunkToken(other)).toBe(chunkToken(chunk));
  });
});
