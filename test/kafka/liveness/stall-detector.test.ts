import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PartitionState } from '../../../src/kafka/liveness/stall-detector.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import { fine, partition, Watch } from './stall-watch.ts';

describe('a partition with records to read and no progress', () => {
  const behind = partition({ position: 60, committedOffset: 60, deliveredOffset: 59 });
  const reason = (changes: Partial<PartitionState>, seen: Partial<Watch['seen']> = {}) => {
    const watch = new Watch({ ...behind, ...changes });
    return watch.ends(100, () => seen);
  };
  const text = (why: string) => `t/0 has been at offset 60 for 40 s with a lag of 40: ${why}`;

  it('is reported after 20 s and ends the process after 40 s, with the problem', () => {
    expect(reason({ isInWork: true })).toEqual({
      unready: 20,
      end: 40,
      stalled: text('processing of the current batch has not finished'),
    });
    expect(reason({ isPaused: true })).toEqual({
      unready: 20,
      end: 40,
      stalled: text('the partition is paused'),
    });
    expect(reason({}, { isFetching: false })).toEqual({
      unready: 20,
      end: 40,
      stalled: text('the consumer sends no fetch requests'),
    });
  });

  it('is none where the partition is paused by its handler, and does not hide that of another', () => {
    const paused = { ...behind, isPaused: true, isPausedByHandler: true };
    expect(reason({ isPaused: true, isPausedByHandler: true }).end).toBeUndefined();
    const watch = new Watch(paused, { ...behind, name: 't/1', isInWork: true });
    expect(watch.ends(100, () => ({}))).toMatchObject({ unready: 20, end: 40 });
  });

  it("means that the group refuses the member, with the consumer's error", () => {
    const watch = new Watch(behind);
    const lost = { isMember: false, lastError: 'Unknown error code 129' };
    expect(watch.pass(20, () => lost).problems).toEqual([
      'kafka: not a member of the group for 20 s (Unknown error code 129)',
      'kafka: t/0 has been at offset 60 for 20 s with a lag of 40: ' +
        'the consumer is not a member of its group (Unknown error code 129)',
    ]);
    expect(watch.pass(20).stalled).toBe(
      'not a member of the group for 40 s (Unknown error code 129)',
    );
  });

  it('that is fetched in vain ends the process only once more is written behind it', () => {
    const watch = new Watch(behind);
    const { stalled, problems } = watch.pass(300);
    expect({ stalled, problems }).toEqual({
      stalled: undefined,
      problems: [
        'kafka: t/0 has been at offset 60 for 300 s with a lag of 40: ' +
          'the consumer fetches but receives no records',
      ],
    });
    watch.seen = { ...watch.seen, partitions: [{ ...behind, endOffset: 101 }] };
    expect(watch.pass(1).stalled).toBe(
      't/0 has been at offset 60 for 301 s with a lag of 41: the consumer fetches but receives no records',
    );
  });

  it('continues with one record, and its time restarts', () => {
    const watch = new Watch({ ...behind, isInWork: true });
    watch.pass(39);
    watch.seen = { ...watch.seen, partitions: [{ ...behind, isInWork: true, position: 61 }] };
    expect(watch.pass(1)).toEqual(fine);
    expect(watch.ends()).toMatchObject({ unready: 20, end: 40 });
  });

  it('reads the same records again and again: that is no progress', () => {
    const watch = new Watch(behind);
    const loop = (second: number) => ({
      isMember: second % 5 !== 0,
      joins: 1 + Math.floor(second / 5),
      partitions: [{ ...behind, isInWork: true, position: 40 + (second % 20) }],
    });
    expect(watch.ends(100, loop)).toEqual({
      unready: 20,
      end: 40,
      stalled:
        't/0 has been at offset 40 for 40 s with a lag of 60: the consumer has rejoined its group 8 times meanwhile',
    });
  });

  it('is alone in that: the others progress, and have read everything', () => {
    const watch = new Watch(partition({ name: 't/1' }), { ...behind, isPaused: true });
    let end = 100;
    const each = () => {
      end += 10;
      const other = partition({ name: 't/1', endOffset: end, position: end });
      return { partitions: [other, { ...behind, isPaused: true }] };
    };
    expect(watch.ends(100, each)).toMatchObject({ unready: 20, end: 40 });
  });

  it('waits for its turn behind 63 others that are behind as well: 16 times as long', () => {
    const others = (second: number) =>
      Array.from({ length: 63 }, (_, n) =>
        partition({
          name: `t/${n + 1}`,
          endOffset: 1e6,
          position: 100 + second,
          deliveredOffset: -1,
        }),
      );
    const stuck = { ...behind, isInWork: true };
    const watch = new Watch(...others(0), stuck);
    const each = (second: number) => ({ partitions: [...others(second), stuck] });
    expect(watch.ends(1_000, each)).toMatchObject({ unready: 320, end: 640 });
  });
});

describe('records that are read and not committed', () => {
  const unstored = partition({ committedOffset: 60, deliveredOffset: 95 });

  it('end the process 5 s later than others: chunks are stored as often', () => {
    const watch = new Watch(unstored);
    expect(watch.ends()).toEqual({
      unready: 25,
      end: 45,
      stalled: 'no commit for t/0 for 45 s: the committed offset is 60',
    });
  });

  it('have their time restarted by each commit', () => {
    const watch = new Watch(unstored);
    const each = (second: number) => ({
      partitions: [
        partition({ committedOffset: 60 + Math.floor(second / 40), deliveredOffset: 95 + second }),
      ],
    });
    expect(watch.ends(1_000, each)).toEqual({ unready: 25, end: undefined, stalled: undefined });
  });

  it('are gone once a commit has passed them', () => {
    const watch = new Watch(unstored);
    watch.pass(44);
    const stored = partition({ committedOffset: 96, deliveredOffset: 95 });
    expect(watch.pass(1, () => ({ partitions: [stored] }))).toEqual(fine);
  });

  it('are gone where retention deleted them', () => {
    const watch = new Watch(partition({ committedOffset: 60, deliveredOffset: 80, lowOffset: 81 }));
    expect(watch.pass(300)).toEqual(fine);
  });
});

describe('no reason to end is', () => {
  const behind = partition({ position: 60, committedOffset: 60, deliveredOffset: 59 });

  it('a topic without traffic', () => {
    expect(new Watch(partition()).pass(86_400)).toEqual(fine);
  });

  it('a member without partitions', () => {
    expect(new Watch().pass(86_400)).toEqual(fine);
  });

  it('a partition with unknown bounds', () => {
    const unknown = partition({ endOffset: undefined, position: undefined, deliveredOffset: -1 });
    expect(new Watch(unknown).pass(3_600)).toEqual(fine);
  });

  it('a rebalance that waits 30 s for slow members', () => {
    const watch = new Watch(behind);
    const each = (second: number) => ({ isMember: second > 30 });
    expect(watch.pass(35, each)).toMatchObject({ stalled: undefined });
    const read = partition({ position: 70, committedOffset: 60, deliveredOffset: 60 });
    expect(watch.pass(1, () => ({ partitions: [read] }))).toMatchObject({ problems: [] });
  });

  it('a message of 16 MB that needs 30 s to fetch', () => {
    const watch = new Watch(behind);
    expect(watch.pass(30, () => ({ isFetching: false })).stalled).toBeUndefined();
    expect(watch.pass(1, () => ({ partitions: [partition({ deliveredOffset: -1 })] }))).toEqual(
      fine,
    );
  });

  it('ClickHouse being away for an hour, which is reported elsewhere', () => {
    const waiting = partition({ position: 60, committedOffset: 20, deliveredOffset: 59 });
    const watch = new Watch({ ...waiting, isInWork: true });
    const each = (second: number) => ({
      partitions: [{ ...waiting, isInWork: true, storeWaitMs: second * 1_000 }],
    });
    expect(watch.pass(3_600, each)).toEqual(fine);
  });

  it('another partition that holds up the round while it waits for ClickHouse', () => {
    const waiting = partition({ name: 't/1', position: 60, deliveredOffset: 59 });
    const watch = new Watch({ ...behind }, waiting);
    const each = (second: number) => ({
      partitions: [behind, { ...waiting, isInWork: true, storeWaitMs: second * 1_000 }],
    });
    // The first second: others' short store calls are no reason to wait.
    expect(watch.pass(3_600, each)).toEqual({ ...fine, progressAgeMs: 1_000 });
  });

  it('a machine that slept for a night', () => {
    const watch = new Watch({ ...behind, isInWork: true });
    watch.pass(3);
    watch.elapsedMs += 8 * 3_600_000;
    expect(watch.observe()).toEqual({ ...fine, progressAgeMs: 13_000 });
  });

  it('records that are all filtered: the position passes them', () => {
    const watch = new Watch(partition({ deliveredOffset: -1 }));
    const each = (second: number) => ({
      partitions: [
        partition({
          endOffset: 100 + 50 * second,
          position: 100 + 49 * second,
          deliveredOffset: -1,
          committedOffset: 0,
        }),
      ],
    });
    expect(watch.pass(3_600, each)).toMatchObject({ problems: [], stalled: undefined });
  });

  it('lag that is only control records', () => {
    const rest = partition({ position: 99 });
    expect(new Watch(rest).ends(86_400)).toEqual({
      unready: 20,
      end: undefined,
      stalled: undefined,
    });
  });

  it('a log recreated under the same name, read from its beginning', () => {
    const watch = new Watch(partition());
    const each = (second: number) => ({
      probedMs: watch.elapsedMs,
      partitions: [
        partition({
          endOffset: 90,
          position: second,
          committedOffset: Math.max(0, second - 5),
          deliveredOffset: second - 1,
        }),
      ],
    });
    expect(watch.pass(80, each)).toEqual(fine);
  });
});

describe('a consumer that is fed slowly', () => {
  const behind = (n: number, position = 0) =>
    partition({
      ...{ name: `t/${n}`, endOffset: 1e6, position, lowOffset: 0 },
      ...{ committedOffset: position, deliveredOffset: position - 1 },
    });

  it('does not end while a quota holds it back, and does when it is stuck after that', () => {
    const watch = new Watch(behind(0));
    const each = (second: number) => ({
      ...{ throttledMs: 1_000 * second, isFetching: false },
      partitions: [behind(0, 50 * Math.floor(second / 100))],
    });
    expect(watch.pass(3_600, each)).toEqual(fine);
    expect(watch.ends()).toMatchObject({ unready: 20, end: 40 });
  });

  it('is not ready, and does not end, where a quota lets nothing through', () => {
    const watch = new Watch(behind(0));
    const each = (second: number) => ({ throttledMs: 990 * second });
    expect(watch.pass(179, each).problems).toEqual([]);
    expect(watch.pass(1, () => each(180)).problems).toEqual([
      expect.stringMatching(
        /^kafka: a quota .* let nothing through for 180 s: .* smaller batches$/,
      ),
    ]);
    expect(watch.ends(600, (second) => each(180 + second)).end).toBe(undefined);
    watch.seen = { ...watch.seen, partitions: [behind(0, 10)] };
    expect(watch.pass(1, () => each(781)).problems).toEqual([]);
  });

  it('has its time counted while a quota leaves it some', () => {
    const watch = new Watch({ ...behind(0), isInWork: true });
    const each = (second: number) => ({ throttledMs: 750 * second });
    expect(watch.ends(300, each)).toMatchObject({ unready: 80, end: 160 });
  });

  it('does not end while a response arrives, and does when that stops', () => {
    const watch = new Watch(behind(0));
    const each = () => ({ isReceiving: true, isFetching: false });
    expect(watch.pass(3_600, each)).toEqual(fine);
    watch.seen = { ...watch.seen, isReceiving: false };
    expect(watch.ends()).toMatchObject({ unready: 20, end: 40 });
  });

  it('never ends while it makes progress, however long that takes a partition', () => {
    const run = fc.record({
      partitions: fc.integer({ min: 2, max: 40 }),
      everySeconds: fc.integer({ min: 1, max: 38 }),
      seed: fc.integer(),
    });
    fc.assert(
      fc.property(run, ({ partitions, everySeconds, seed }) => {
        const random = new SeededRandom(seed);
        const positions = new Array<number>(partitions).fill(0);
        let endOffset = 1e6;
        const all = () => positions.map((position, n) => ({ ...behind(n, position), endOffset }));
        const watch = new Watch(...all());
        const { end } = watch.ends(1_000, (second) => {
          endOffset += 10;
          if (second % everySeconds === 0) {
            const chosen = random.between(0, partitions - 1);
            positions[chosen] = (positions[chosen] ?? 0) + 100;
          }
          return { partitions: all() };
        });
        expect(end).toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });

  it('ends where a partition is never read while the others are', () => {
    const run = fc.record({
      partitions: fc.integer({ min: 2, max: 12 }),
      everySeconds: fc.integer({ min: 1, max: 38 }),
      seed: fc.integer(),
    });
    fc.assert(
      fc.property(run, ({ partitions, everySeconds, seed }) => {
        const random = new SeededRandom(seed);
        const positions = new Array<number>(partitions).fill(0);
        const all = () =>
          positions.map((position, n) => ({ ...behind(n, position), isInWork: n === 0 }));
        const watch = new Watch(...all());
        const { end = 0, stalled } = watch.ends(20_000, (second) => {
          if (second % everySeconds === 0) {
            const chosen = random.between(1, partitions - 1);
            positions[chosen] = (positions[chosen] ?? 0) + 100;
          }
          return { partitions: all() };
        });
        expect(stalled).toContain('t/0 has been at offset 0');
        expect(end).toBeLessThanOrEqual(20 * partitions * everySeconds + 40 * partitions);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a member that left and returned between two observations', () => {
  it('does not count as outside', () => {
    const watch = new Watch(partition());
    expect(watch.pass(60, (second) => ({ isMember: false, joins: second }))).toEqual(fine);
    expect(watch.pass(20).problems).toEqual(['kafka: not a member of the group for 20 s']);
  });
});

describe('a partition that goes to another member', () => {
  it('is forgotten, and returns with its time restarted', () => {
    const stuck = partition({ position: 60, deliveredOffset: -1, isInWork: true });
    const watch = new Watch(stuck);
    watch.pass(39);
    watch.pass(1, () => ({ partitions: [] }));
    expect(watch.ends(100, () => ({ partitions: [stuck] }))).toMatchObject({ end: 41 });
  });
});

describe('Kafka being away', () => {
  const stuck = partition({ position: 60, deliveredOffset: -1, isInWork: true });
  const outage = 'no response within 5 s';

  it('is reported after 10 s and never ends the process', () => {
    const watch = new Watch(stuck);
    expect(watch.pass(9, () => ({ outage })).problems).toEqual([]);
    expect(watch.pass(1).problems).toEqual([
      'kafka: no response for 10 s (no response within 5 s)',
    ]);
    expect(watch.pass(86_400)).toMatchObject({ stalled: undefined });
  });

  it("restarts the consumer's time when it is over", () => {
    const watch = new Watch(stuck);
    watch.pass(39);
    watch.pass(60, () => ({ outage, isMember: false }));
    expect(watch.ends(100, () => ({ outage: undefined }))).toMatchObject({ unready: 20, end: 40 });
  });
});
