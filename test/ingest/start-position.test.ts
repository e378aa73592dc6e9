// Covers src/ingest/own-store.ts and src/source/log-id.ts.

import { describe, expect, it } from 'vitest';
import { encodeMetadata, type Intent } from '../../src/ingest/commit-metadata.ts';
import {
  readBefore,
  resolveStartPosition,
  type StartPosition,
} from '../../src/ingest/start-position.ts';
import type { LedgerEnd } from '../../src/sink/chunks/chunk-store.ts';
import { testIntent } from './test-intent.ts';

/** A log of records a second apart, from `low` to `high`. */
interface Found {
  readonly logId?: string;
  readonly committed?: number;
  readonly metadata?: string;
  readonly low: number;
  readonly high: number;
  /** Ends of leader epochs. */
  readonly epochEnds?: Readonly<Record<number, number>>;
  readonly ledger?: readonly LedgerEnd[];
  readonly groupBeginMs?: number;
  readonly startFrom?: 'earliest' | 'latest';
  readonly storeId?: string;
}

function positionOf(given: Found): Promise<StartPosition> {
  const { low, high, startFrom = 'earliest' } = given;
  return resolveStartPosition(
    { topic: 't', partition: 0 },
    {
      logId: given.logId ?? 'c/t',
      committed: { offset: given.committed, metadata: given.metadata ?? '' },
      startOffset: low,
      endOffset: high,
      firstOffsetAt: async (ms) => Math.min(high, Math.max(low, Math.ceil(ms / 1_000))),
      endOfEpoch: async (epoch) => {
        const endOffset = given.epochEnds?.[epoch];
        return endOffset === undefined ? undefined : { leaderEpoch: 1, endOffset };
      },
    },
    {
      groupId: 'g',
      storeId: given.storeId,
      startFrom,
      store: {
        ledgerEnds: async () => [...(given.ledger ?? [])],
        groupBeginMs: async () => given.groupBeginMs,
      },
      nowMs: 3_600_000,
    },
  );
}

const noteOf = (intent?: Intent, logId = 'c/t', leaderEpoch = 3) =>
  encodeMetadata({ logId, leaderEpoch, watermarkMs: 5, intent });
const ledgerAt = (endOffset: number, logId = 'c/t'): LedgerEnd => ({
  logId,
  endOffset,
  watermarkMs: 77,
  leaderEpoch: 2,
});

describe('a file', () => {
  it.each(['earliest', 'latest'] as const)('starts at its first line: %s', async (startFrom) => {
    expect(await positionOf({ logId: '', low: 0, high: 0, startFrom })).toMatchObject({
      reason: 'start_from',
      logId: '',
      startOffset: 0,
      readOffset: 0,
      lostOffsets: 0,
    });
  });
});

describe('a partition with a commit', () => {
  it('starts there', async () => {
    const metadata = noteOf(testIntent(9, 7));
    expect(await positionOf({ committed: 4, metadata, low: 0, high: 20 })).toEqual({
      reason: 'committed',
      logId: 'c/t',
      startOffset: 4,
      readOffset: 4,
      leaderEpoch: 3,
      watermarkMs: 5,
      intent: testIntent(9, 7),
      truncatedAt: undefined,
      lostOffsets: 0,
      removedFrom: 4,
      mustCommit: false,
    });
  });

  it.each([[4], [20]])('at the first or last offset of the log too: %i', async (committed) => {
    expect(await positionOf({ committed, low: 4, high: 20 })).toMatchObject({
      reason: 'committed',
      startOffset: committed,
    });
  });

  it('of another database is refused: what is before it is not here', async () => {
    const metadata = encodeMetadata({ logId: 'c/t', storeId: 'a', leaderEpoch: 3, watermarkMs: 5 });
    const found = { committed: 4, metadata, low: 0, high: 20 };
    expect(await positionOf({ ...found, storeId: 'a' })).toMatchObject({ startOffset: 4 });
    const refusal = {
      code: 'TAILMARK_GROUP_SHARED',
      exitCode: 78,
      message:
        'Cannot ingest as consumer group g must store topic t into one database: its offset 4 of ' +
        'partition 0 says how far another database has come',
    };
    await expect(positionOf({ ...found, storeId: 'b' })).rejects.toMatchObject(refusal);
    // A ledger that is further does not mend the hole before it.
    const ledger = [ledgerAt(9)];
    await expect(positionOf({ ...found, storeId: 'b', ledger })).rejects.toMatchObject(refusal);
  });

  it.each([
    ['by hand', ''],
    ['by a version that named no database', noteOf()],
    ['by one without log ids', '{"v":"tailmark/1","watermarkMs":5}'],
  ])('that was made %s is continued by any database', async (_, metadata) => {
    const found = { committed: 4, metadata, low: 0, high: 20, storeId: 'b' };
    expect(await positionOf(found)).toMatchObject({ reason: 'committed', startOffset: 4 });
  });

  it('has no intent that ends where it begins', async () => {
    const metadata = noteOf(testIntent(4, 7));
    const { intent } = await positionOf({ committed: 4, metadata, low: 0, high: 20 });
    expect(intent).toBeUndefined();
  });

  it('starts where the ledger ends, if that is further: a commit may come late', async () => {
    const metadata = noteOf(testIntent(9, 7));
    const ledger = [ledgerAt(9)];
    expect(await positionOf({ committed: 4, metadata, low: 0, high: 20, ledger })).toMatchObject({
      reason: 'ledger',
      startOffset: 9,
      leaderEpoch: 2,
      watermarkMs: 77,
      intent: undefined,
    });
    expect(await positionOf({ committed: 9, metadata, low: 0, high: 20, ledger })).toMatchObject({
      reason: 'committed',
      startOffset: 9,
    });
  });

  it('that retention has overtaken reads from the beginning of the log: what is before was removed', async () => {
    expect(await positionOf({ committed: 4, low: 10, high: 20 })).toMatchObject({
      reason: 'expired',
      startOffset: 4,
      readOffset: 10,
      lostOffsets: 6,
    });
  });

  it('keeps its pending chunk, to learn whether it is stored', async () => {
    const metadata = noteOf(testIntent(9, 7));
    expect(await positionOf({ committed: 4, metadata, low: 10, high: 20 })).toMatchObject({
      reason: 'expired',
      startOffset: 4,
      readOffset: 10,
      watermarkMs: 5,
      intent: { endOffset: 9 },
      lostOffsets: 1,
    });
  });
});

describe('another log of the same name', () => {
  const log = { low: 0, high: 20 };

  it.each([
    ['shorter than the ledger', 5],
    ['longer', 30],
    ['empty', 0],
  ])('in the same cluster is a recreated topic, read whole: %s', async (_, high) => {
    const position = await positionOf({ low: 0, high, ledger: [ledgerAt(9, 'c/old')] });
    expect(position).toMatchObject({ reason: 'recreated', startOffset: 0, logId: 'c/t' });
  });

  it('takes no commit and no pending chunk of the topic before', async () => {
    const metadata = noteOf(testIntent(9, 7), 'c/old');
    for (const ledger of [[], [ledgerAt(4, 'c/old')]]) {
      expect(await positionOf({ ...log, committed: 4, metadata, ledger })).toMatchObject({
        reason: 'recreated',
        startOffset: 0,
        intent: undefined,
        watermarkMs: undefined,
      });
    }
  });

  it('has its own first chunk built again, though the ledger is of the topic before', async () => {
    const ledger = [ledgerAt(50, 'c/old')];
    const metadata = noteOf(testIntent(16, 7));
    expect(await positionOf({ ...log, committed: 0, metadata, ledger })).toMatchObject({
      reason: 'committed',
      startOffset: 0,
      intent: { endOffset: 16 },
    });
  });

  it('says which log the ledger has, for the operator', async () => {
    const ledger = [{ ...ledgerAt(9, 'c/old'), watermarkMs: 78 }, ledgerAt(50, 'other/t')];
    const recreated = { ...log, storeId: 'b', ledger };
    expect(await positionOf(recreated)).toMatchObject({ logId: 'c/t', knownLogId: 'c/old' });
    const elsewhere = await positionOf({ ...log, ledger: [ledgerAt(50, 'other/t')] });
    expect(elsewhere).toMatchObject({ reason: 'start_from', knownLogId: 'other/t' });
    for (const known of [[], [ledgerAt(4, '')], [...ledger, ledgerAt(4)]]) {
      expect((await positionOf({ ...log, ledger: known })).knownLogId).toBeUndefined();
    }
  });

  it('takes no commit of the topic before from another database either, and does not mind it', async () => {
    const metadata = encodeMetadata({
      logId: 'c/old',
      storeId: 'a',
      leaderEpoch: 3,
      watermarkMs: 5,
    });
    const found = { ...log, committed: 4, metadata, storeId: 'b' };
    expect(await positionOf(found)).toMatchObject({ reason: 'recreated', startOffset: 0 });
  });

  it('in another cluster starts as configured, and knows nothing of the ledger', async () => {
    const ledger = [ledgerAt(9, 'other/t')];
    expect(await positionOf({ ...log, ledger })).toMatchObject({
      reason: 'start_from',
      startOffset: 0,
      watermarkMs: undefined,
    });
    expect(await positionOf({ ...log, ledger, startFrom: 'latest' })).toMatchObject({
      reason: 'start_from',
      startOffset: 20,
    });
  });

  it('starts at an offset that was set or copied, without what was pending elsewhere', async () => {
    const metadata = noteOf(testIntent(9, 7), 'other/t');
    const ledger = [ledgerAt(9, 'other/t')];
    for (const note of ['', metadata]) {
      const found = { ...log, committed: 4, metadata: note, ledger };
      expect(await positionOf(found)).toMatchObject({
        reason: 'committed',
        startOffset: 4,
        intent: undefined,
        watermarkMs: undefined,
      });
    }
    expect(await positionOf({ ...log, low: 8, committed: 4, metadata, ledger })).toMatchObject({
      reason: 'expired',
      startOffset: 4,
      readOffset: 8,
      lostOffsets: 4,
    });
    expect(await positionOf({ ...log, committed: 40, metadata, ledger })).toMatchObject({
      reason: 'truncated',
      startOffset: 20,
    });
  });

  it('starts at a commit of the version that knew no logs, with its watermark', async () => {
    const metadata = '{"v":"tailmark/1","watermarkMs":5}';
    const found = { ...log, committed: 4, metadata, ledger: [ledgerAt(4, '')] };
    expect(await positionOf(found)).toMatchObject({
      reason: 'committed',
      logId: 'c/t',
      startOffset: 4,
      watermarkMs: 5,
    });
  });

  it('is distinguished from its namesake in a cluster that stores to the same ledger', async () => {
    const ledger = [ledgerAt(9, 'other/t'), ledgerAt(4)];
    expect(await positionOf({ ...log, ledger })).toMatchObject({
      reason: 'ledger',
      startOffset: 4,
    });
  });
});

describe('a truncated log', () => {
  it('continues at its end, in its next generation', async () => {
    const found = { committed: 50, metadata: noteOf(), low: 0, high: 20, ledger: [ledgerAt(50)] };
    expect(await positionOf(found)).toMatchObject({
      reason: 'truncated',
      logId: 'c/t#2',
      startOffset: 20,
      leaderEpoch: -1,
      watermarkMs: 5,
    });
  });

  it('that is longer again continues where the records are others', async () => {
    const log = { low: 0, high: 90, epochEnds: { 2: 40, 3: 40 } };
    const truncated = {
      reason: 'truncated',
      logId: 'c/t#2',
      startOffset: 40,
      leaderEpoch: 1,
    };
    expect(await positionOf({ ...log, committed: 50, metadata: noteOf() })).toMatchObject(
      truncated,
    );
    expect(await positionOf({ ...log, ledger: [ledgerAt(50)] })).toMatchObject(truncated);
    expect(await positionOf({ ...log, committed: 40, metadata: noteOf() })).toMatchObject({
      reason: 'committed',
      logId: 'c/t',
      startOffset: 40,
    });
  });

  it('whose records from there on retention has removed as well is read where the log begins', async () => {
    const found = { committed: 50, metadata: noteOf(), low: 30, high: 90, epochEnds: { 3: 20 } };
    expect(await positionOf(found)).toMatchObject({
      reason: 'truncated',
      logId: 'c/t#2',
      startOffset: 20,
      readOffset: 30,
      lostOffsets: 10,
    });
  });

  it('goes on in the generation that it has', async () => {
    const found = {
      low: 0,
      high: 90,
      committed: 60,
      ledger: [ledgerAt(50), ledgerAt(45, 'c/t#2')],
    };
    expect(await positionOf({ ...found, metadata: noteOf(undefined, 'c/t#2') })).toMatchObject({
      reason: 'committed',
      logId: 'c/t#2',
      startOffset: 60,
    });
    // A commit of the generation before is obsolete.
    expect(await positionOf({ ...found, metadata: noteOf() })).toMatchObject({
      reason: 'ledger',
      logId: 'c/t#2',
      startOffset: 45,
    });
  });

  it.each([
    ['within the pending chunk', 44, 40],
    ['before it', 30, 30],
  ])('%s leaves it the records that remain', async (_, remains, readOffset) => {
    const intent = testIntent(50, 7, { leaderEpoch: 3 });
    const found = { low: 0, high: 90, committed: 40, epochEnds: { 3: remains } };
    expect(await positionOf({ ...found, metadata: noteOf(intent) })).toMatchObject({
      reason: 'truncated',
      logId: 'c/t',
      startOffset: 40,
      readOffset,
      intent,
      truncatedAt: { leaderEpoch: 1, endOffset: remains },
    });
  });

  it('looks like a recreated one where the broker has no topic ids: it is read whole', async () => {
    const ledger = [ledgerAt(50, 'c/')];
    const found = { logId: 'c/', low: 0, high: 20 };
    expect(await positionOf({ ...found, ledger })).toMatchObject({
      reason: 'recreated',
      logId: 'c/#2',
      startOffset: 0,
    });
  });
});

describe('a partition without a commit', () => {
  it('starts where its ledger ends: commits expire, and kafkajs wipes them', async () => {
    expect(await positionOf({ low: 3, high: 20, ledger: [ledgerAt(9)] })).toMatchObject({
      reason: 'ledger',
      startOffset: 9,
      watermarkMs: 77,
    });
  });

  it('that retention has overtaken reads from the beginning of the log', async () => {
    expect(await positionOf({ low: 12, high: 20, ledger: [ledgerAt(9)] })).toMatchObject({
      reason: 'expired',
      startOffset: 9,
      readOffset: 12,
      lostOffsets: 3,
    });
  });

  it('and without a ledger starts as configured', async () => {
    expect(await positionOf({ low: 3, high: 20 })).toMatchObject({
      reason: 'start_from',
      startOffset: 3,
      readOffset: 3,
      mustCommit: true,
    });
    expect(await positionOf({ low: 3, high: 20, startFrom: 'latest' })).toMatchObject({
      reason: 'start_from',
      startOffset: 20,
      readOffset: 20,
      mustCommit: true,
    });
    expect(await positionOf({ low: 20, high: 20, startFrom: 'latest' })).toMatchObject({
      startOffset: 20,
      readOffset: 20,
    });
  });

  it('counts nothing as removed that was gone when the group began', async () => {
    expect(await positionOf({ low: 3, high: 20 })).toMatchObject({ removedFrom: 20 });
    expect(await positionOf({ low: 3, high: 20, ledger: [ledgerAt(9)] })).toMatchObject({
      removedFrom: 9,
    });
  });

  it('that was added after its group started is read from its beginning, also with latest', async () => {
    expect(
      await positionOf({ low: 0, high: 20, startFrom: 'latest', groupBeginMs: 7_000 }),
    ).toMatchObject({ reason: 'added', startOffset: 7 });
  });
});

describe('readBefore', () => {
  const log = { low: 0, high: 90, committed: 40 };
  const intent = testIntent(50, 7, { leaderEpoch: 4 });

  it.each([
    ['a commit', { metadata: noteOf() }, { leaderEpoch: 3, endOffset: 40 }],
    ['a pending chunk', { metadata: noteOf(intent) }, { leaderEpoch: 4, endOffset: 50 }],
    [
      'a pending chunk of a truncated log',
      { metadata: noteOf(intent), epochEnds: { 4: 44 } },
      { leaderEpoch: 1, endOffset: 44 },
    ],
    [
      'one of a log that lost both ends',
      { metadata: noteOf(intent), epochEnds: { 4: 44 }, low: 60 },
      { leaderEpoch: 1, endOffset: 44 },
    ],
  ])('is the end of what was read, by %s', async (_, found, end) => {
    expect(readBefore(await positionOf({ ...log, ...found }))).toEqual(end);
  });
});
