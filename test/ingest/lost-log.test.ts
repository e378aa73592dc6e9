import { describe, expect, it } from 'vitest';
import { encodeMetadata, type Intent } from '../../src/ingest/commit-metadata.ts';
import {
  resolveStartPosition,
  type StartPosition,
  type UnstoredLog,
} from '../../src/ingest/start-position.ts';
import type { LedgerEnd } from '../../src/sink/chunks/chunk-store.ts';
import { testIntent } from './test-intent.ts';

interface Found {
  readonly committed?: number;
  readonly metadata?: string;
  readonly ledger?: readonly LedgerEnd[];
  readonly storeId?: string;
  readonly known?: UnstoredLog;
}

/** Where a topic is read from that was deleted and recreated: its log is c/t by now. */
function positionOf({ ledger = [], ...given }: Found): Promise<StartPosition> {
  return resolveStartPosition(
    { topic: 't', partition: 0 },
    {
      logId: 'c/t',
      committed: { offset: given.committed, metadata: given.metadata ?? '' },
      startOffset: 0,
      endOffset: 20,
      firstOffsetAt: async () => 0,
      endOfEpoch: async () => undefined,
    },
    {
      groupId: 'g',
      storeId: given.storeId,
      startFrom: 'latest',
      store: { ledgerEnds: async () => [...ledger], groupBeginMs: async () => undefined },
      known: given.known,
      nowMs: 0,
    },
  );
}

const noteOf = (intent: Intent, logId: string) =>
  encodeMetadata({ logId, leaderEpoch: 3, watermarkMs: 5, intent });
const ledgerAt = (endOffset: number, logId: string): LedgerEnd => ({
  ...{ logId, endOffset, watermarkMs: 77, leaderEpoch: 2 },
});

describe('a topic that was recreated, with what was not stored of the one before', () => {
  const known = { logId: 'c/old', startOffset: 4, endOffset: 30, intent: undefined };

  it('says of a chunk that was begun there what the intent had counted', async () => {
    const metadata = noteOf(testIntent(9, 7), 'c/old');
    const position = await positionOf({ committed: 4, metadata });
    expect(position).toMatchObject({ logId: 'c/t', startOffset: 0, mustCommit: false });
    expect(position.lost).toMatchObject({
      ...{ logId: 'c/old', startOffset: 4, endOffset: 9 },
      intent: { endOffset: 9, counts: { consumed: 10 } },
    });
  });

  it('says what this process knew of, from where the ledger ends on', async () => {
    for (const [ledger, startOffset] of [
      [[], 4],
      [[ledgerAt(12, 'c/old')], 12],
    ] as const) {
      const { lost } = await positionOf({ ledger, known });
      expect(lost).toMatchObject({ logId: 'c/old', startOffset, endOffset: 30 });
      expect(lost?.intent).toBeUndefined();
    }
  });

  it('has the chunk that this process was storing, unless the ledger has it', async () => {
    const storing = { ...known, intent: testIntent(20, 7) };
    const { lost } = await positionOf({ ledger: [ledgerAt(4, 'c/old')], known: storing });
    expect(lost).toMatchObject({ startOffset: 4, endOffset: 30, intent: { endOffset: 20 } });
    const stored = await positionOf({ ledger: [ledgerAt(20, 'c/old')], known: storing });
    expect(stored.lost).toMatchObject({ startOffset: 20, endOffset: 30, intent: undefined });
  });

  it.each([
    ['the ledger has all of it', { ledger: [ledgerAt(30, 'c/old')], known }],
    [
      'the chunk was begun for another database',
      {
        committed: 4,
        metadata: encodeMetadata({
          ...{ logId: 'c/old', storeId: 'a', leaderEpoch: 3, watermarkMs: 5 },
          intent: testIntent(9, 7),
        }),
        storeId: 'b',
      },
    ],
    [
      'this process had the new one already',
      { ledger: [ledgerAt(4, 'c/old')], known: { ...known, logId: 'c/t' } },
    ],
    [
      'it is of another cluster',
      {
        ledger: [ledgerAt(4, 'c/old')],
        known: { ...known, logId: 'other/t' },
      },
    ],
  ])('has nothing to say where %s', async (_, given) => {
    const position = await positionOf({ ...given });
    expect([position.reason, position.lost]).toEqual(['recreated', undefined]);
  });
});
