import { describe, expect, it } from 'vitest';
import { encodeMetadata } from '../../src/ingest/commit-metadata.ts';
import { resolveStartPosition, type StartPosition } from '../../src/ingest/start-position.ts';
import type { LedgerEnd } from '../../src/sink/chunks/chunk-store.ts';
import { testIntent } from './test-intent.ts';

/** A log of records a second apart, from `low` to `high`; the record of offset 0 is at `baseMs`. */
interface Found {
  readonly committed?: number;
  readonly metadata?: string;
  readonly low: number;
  readonly high: number;
  readonly baseMs?: number;
  /** Timestamps by offset that replace these. */
  readonly timesMs?: readonly number[];
  readonly ledger?: LedgerEnd;
  readonly groupBeginMs?: number;
  readonly startFrom?: 'earliest' | 'latest';
}

async function positionOf(given: Found): Promise<StartPosition> {
  const { low, high, baseMs = 0, startFrom = 'earliest' } = given;
  const position = await resolveStartPosition(
    { topic: 't', partition: 0 },
    {
      committed: { offset: given.committed, metadata: given.metadata ?? '' },
      startOffset: low,
      endOffset: high,
      firstOffsetAt: async (ms) => {
        if (given.timesMs === undefined)
          return Math.min(high, Math.max(low, Math.ceil((ms - baseMs) / 1_000)));
        const offset = given.timesMs.findIndex((timeMs, i) => i >= low && timeMs >= ms);
        return offset < 0 ? high : offset;
      },
    },
    {
      groupId: 'g',
      startFrom,
      store: {
        ledgerEnd: async () => given.ledger,
        groupBeginMs: async () => given.groupBeginMs,
      },
    },
  );
  return position;
}

const ledgerAt = (endOffset: number, baseMs = 0): LedgerEnd => ({
  endOffset,
  latestTimestampMs: baseMs + (endOffset - 1) * 1_000,
  watermarkMs: 77,
});

describe('a partition with a commit', () => {
  it('starts there', async () => {
    const metadata = encodeMetadata({ watermarkMs: 5, intent: testIntent(9, 7) });
    expect(await positionOf({ committed: 4, metadata, low: 0, high: 20 })).toEqual({
      reason: 'committed',
      startOffset: 4,
      readOffset: 4,
      watermarkMs: 5,
      intent: testIntent(9, 7),
      lostOffsets: 0,
      mustCommit: false,
    });
  });

  it.each([[4], [20]])('at the first or last offset of the log too: %i', async (committed) => {
    expect(await positionOf({ committed, low: 4, high: 20 })).toMatchObject({
      reason: 'committed',
      startOffset: committed,
    });
  });

  it('has no intent that ends where it begins', async () => {
    const metadata = encodeMetadata({ watermarkMs: 5, intent: testIntent(4, 7) });
    const { intent } = await positionOf({ committed: 4, metadata, low: 0, high: 20 });
    expect(intent).toBeUndefined();
  });

  it('starts where the ledger ends, if that is further: a commit may come late', async () => {
    const metadata = encodeMetadata({ watermarkMs: 5, intent: testIntent(9, 7) });
    const ledger = ledgerAt(9);
    expect(await positionOf({ committed: 4, metadata, low: 0, high: 20, ledger })).toMatchObject({
      reason: 'ledger',
      startOffset: 9,
      watermarkMs: 77,
      intent: undefined,
    });
    expect(await positionOf({ committed: 9, metadata, low: 0, high: 20, ledger })).toMatchObject({
      reason: 'committed',
      startOffset: 9,
    });
  });

  it('ignores the commit of a recreated topic that is longer by now', async () => {
    expect(
      await positionOf({ committed: 9, low: 0, high: 20, baseMs: 1e6, ledger: ledgerAt(9) }),
    ).toMatchObject({ reason: 'recreated', startOffset: 0 });
  });

  it('that retention has overtaken starts at the beginning of the log', async () => {
    expect(await positionOf({ committed: 4, low: 10, high: 20 })).toMatchObject({
      reason: 'expired',
      startOffset: 10,
      readOffset: 10,
      lostOffsets: 6,
    });
  });

  it('keeps its pending chunk, to learn whether it is stored', async () => {
    const metadata = encodeMetadata({ watermarkMs: 5, intent: testIntent(9, 7) });
    expect(await positionOf({ committed: 4, metadata, low: 10, high: 20 })).toMatchObject({
      reason: 'expired',
      startOffset: 4,
      readOffset: 10,
      watermarkMs: 5,
      intent: { endOffset: 9 },
      lostOffsets: 1,
    });
  });

  it('beyond the end of a recreated log starts at its beginning', async () => {
    expect(
      await positionOf({ committed: 50, low: 0, high: 20, baseMs: 1e6, ledger: ledgerAt(50) }),
    ).toMatchObject({ reason: 'recreated', startOffset: 0, watermarkMs: undefined });
    expect(await positionOf({ committed: 50, low: 0, high: 20 })).toMatchObject({
      reason: 'recreated',
      startOffset: 0,
    });
  });

  it('whose first chunk is pending from a deleted log starts at the beginning', async () => {
    const counts = { firstTimestampMs: 0, lastTimestampMs: 6_000 };
    const metadata = encodeMetadata({ watermarkMs: 5, intent: testIntent(7, 7, counts) });
    const here = { committed: 0, metadata, low: 0, high: 20 };
    expect(await positionOf({ ...here, baseMs: 7_000 })).toMatchObject({
      reason: 'recreated',
      startOffset: 0,
      intent: undefined,
    });
    // The same log, also where its first record is newer than the chunk's last.
    expect(await positionOf(here)).toMatchObject({ reason: 'committed', intent: { endOffset: 7 } });
    const ahead = { firstTimestampMs: 8_000, lastTimestampMs: 6_000 };
    const aheadNote = encodeMetadata({ watermarkMs: 5, intent: testIntent(7, 7, ahead) });
    expect(await positionOf({ ...here, metadata: aheadNote, baseMs: 8_000 })).toMatchObject({
      reason: 'committed',
      intent: { endOffset: 7 },
    });
  });

  it('in a recreated log keeps its pending first chunk: it may have landed', async () => {
    const counts = { firstTimestampMs: 90_000, lastTimestampMs: 92_000 };
    const intent = testIntent(3, 7, counts);
    const metadata = encodeMetadata({ watermarkMs: 5, intent });
    const ledger = ledgerAt(40);
    expect(
      await positionOf({ committed: 0, metadata, low: 0, high: 15, baseMs: 90_000, ledger }),
    ).toMatchObject({ reason: 'committed', startOffset: 0, watermarkMs: 5, intent });
    // A chunk pending from the log before is gone with it.
    expect(
      await positionOf({ committed: 0, metadata, low: 0, high: 15, baseMs: 99_000, ledger }),
    ).toMatchObject({ reason: 'recreated', startOffset: 0, intent: undefined });
  });

  it('beyond the end of a truncated log continues at its end', async () => {
    expect(
      await positionOf({ committed: 50, low: 0, high: 20, ledger: ledgerAt(50) }),
    ).toMatchObject({
      reason: 'truncated',
      startOffset: 20,
    });
  });
});

describe('a topic that may be recreated', () => {
  /** Commit of a pending chunk of records a second apart that begins at `startMs`. */
  const pending = (startOffset: number, endOffset: number, startMs: number) => ({
    committed: startOffset,
    metadata: encodeMetadata({
      watermarkMs: 5,
      intent: testIntent(endOffset, 7, {
        firstTimestampMs: startMs,
        lastTimestampMs: startMs + (endOffset - startOffset - 1) * 1_000,
      }),
    }),
  });
  const committed = { reason: 'committed', startOffset: 0 };
  const recreated = { reason: 'recreated', startOffset: 0, intent: undefined };

  it('has its first chunk built again, though the ledger is of the topic before', async () => {
    for (const high of [16, 40]) {
      const log = { low: 0, high, baseMs: 1e6 };
      for (const ledger of [ledgerAt(20), ledgerAt(50)]) {
        const position = await positionOf({ ...log, ...pending(0, 16, 1e6), ledger });
        expect(position).toMatchObject({ ...committed, watermarkMs: 5, intent: { endOffset: 16 } });
      }
    }
  });

  it.each([
    ['within the ledger', pending(4, 9, 4_000)],
    ['after the end of the ledger', pending(9, 15, 9_000)],
  ])('builds no chunk of the topic before again: one %s', async (_, commit) => {
    for (const high of [0, 5, 30]) {
      const log = { low: 0, high, baseMs: 1e6 };
      expect(await positionOf({ ...log, ...commit, ledger: ledgerAt(9) })).toMatchObject(recreated);
    }
  });

  it('builds no chunk of the topic before again where nothing was stored', async () => {
    for (const high of [0, 5, 30]) {
      const log = { low: 0, high, baseMs: 1e6 };
      expect(await positionOf({ ...log, ...pending(0, 7, 0) })).toMatchObject(recreated);
    }
    const same = { low: 0, high: 30, baseMs: 0 };
    expect(await positionOf({ ...same, ...pending(0, 7, 0) })).toMatchObject(committed);
    // Earlier records were skipped: they show nothing about the chunk.
    const later = { low: 0, high: 30, timesMs: Array.from({ length: 30 }, () => 1e6) };
    expect(await positionOf({ ...later, ...pending(3, 7, 0) })).toMatchObject({ startOffset: 3 });
  });

  it('is detected also where its first records are gone by now', async () => {
    const log = { low: 21, high: 46, baseMs: 1e6 };
    expect(await positionOf({ ...log, ledger: ledgerAt(28) })).toMatchObject({
      reason: 'recreated',
      startOffset: 21,
    });
    const first = { ...pending(21, 25, 1e6 + 21_000), ledger: ledgerAt(28) };
    expect(await positionOf({ ...log, ...first })).toMatchObject({
      reason: 'committed',
      startOffset: 21,
      intent: { endOffset: 25 },
    });
    expect(await positionOf({ low: 21, high: 46, ledger: ledgerAt(28) })).toMatchObject({
      reason: 'ledger',
      startOffset: 28,
    });
  });

  it('is the same for records in any order of time', async () => {
    // The record that was stored last is older than all others, or all are older than the first.
    for (const timesMs of [
      [50, 60, 70, 0, 80],
      [90, 60, 70, 50, 80],
    ]) {
      const latestTimestampMs = Math.max(...timesMs.slice(0, 4));
      const ledger = { endOffset: 4, latestTimestampMs, watermarkMs: 77 };
      const log = { low: 0, high: 5, timesMs, ledger };
      expect(await positionOf({ ...log, committed: 4 })).toMatchObject({ startOffset: 4 });
      expect(await positionOf(log)).toMatchObject({ reason: 'ledger', startOffset: 4 });
    }
  });

  it('is the same where the first record has a time beyond the range of ledger rows', async () => {
    const ledger = { endOffset: 2, latestTimestampMs: 9_999_999_999_999, watermarkMs: 77 };
    const timesMs = [1e15, 1_000, 2_000];
    expect(await positionOf({ committed: 2, low: 0, high: 3, timesMs, ledger })).toMatchObject({
      reason: 'committed',
      startOffset: 2,
    });
  });
});

describe('a partition without a commit', () => {
  it('starts where its ledger ends: commits expire, and kafkajs wipes them', async () => {
    expect(await positionOf({ low: 3, high: 20, ledger: ledgerAt(9) })).toMatchObject({
      reason: 'ledger',
      startOffset: 9,
      watermarkMs: 77,
    });
  });

  it('that retention has overtaken starts at the beginning of the log', async () => {
    expect(await positionOf({ low: 12, high: 20, ledger: ledgerAt(9) })).toMatchObject({
      reason: 'expired',
      startOffset: 12,
      lostOffsets: 3,
    });
  });

  it.each([
    ['shorter', 5],
    ['longer', 30],
    ['empty', 0],
  ])('whose log was recreated and is %s by now starts at its beginning', async (_, high) => {
    expect(await positionOf({ low: 0, high, baseMs: 1e6, ledger: ledgerAt(9) })).toMatchObject({
      reason: 'recreated',
      startOffset: 0,
    });
  });

  it('and without a ledger starts as configured', async () => {
    expect(await positionOf({ low: 3, high: 20 })).toMatchObject({
      reason: 'start_from',
      startOffset: 3,
      mustCommit: false,
    });
    expect(await positionOf({ low: 3, high: 20, startFrom: 'latest' })).toMatchObject({
      reason: 'start_from',
      startOffset: 20,
      readOffset: 19,
      mustCommit: true,
    });
    expect(await positionOf({ low: 20, high: 20, startFrom: 'latest' })).toMatchObject({
      startOffset: 20,
      readOffset: 20,
    });
  });

  it('that was added after its group started is read from its beginning, also with latest', async () => {
    expect(
      await positionOf({ low: 0, high: 20, startFrom: 'latest', groupBeginMs: 7_000 }),
    ).toMatchObject({ reason: 'added', startOffset: 7 });
    expect(
      await positionOf({ low: 0, high: 20, baseMs: 9e6, startFrom: 'latest', groupBeginMs: 7_000 }),
    ).toMatchObject({ reason: 'added', startOffset: 0 });
  });
});
