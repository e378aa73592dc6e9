import { describe, expect, it } from 'vitest';
import { EventRecord } from '../../src/decode/event-record.ts';
import { ExemplarStore } from '../../src/window/exemplar-store.ts';
import { SeededRandom } from '../base/seeded-random.ts';

describe('ExemplarStore', () => {
  it.each([1, 2, 3])(
    'keeps exactly the slowest three of each cell, slowest first: seed %i',
    (seed) => {
      const random = new SeededRandom(seed);
      const store = new ExemplarStore();
      const byCell = new Map<number, number[]>();
      for (let i = 0; i < 3_000; i++) {
        // Few distinct values, so that there are ties; cells far apart, so that the store grows.
        const cell = random.between(0, 20) * 37;
        const totalMs = random.between(0, 400);
        store.offer(cell, recordOf(totalMs), 0);
        byCell.set(cell, [...(byCell.get(cell) ?? []), totalMs]);
      }
      const kept = [...store.all()];
      expect(kept.map(({ cell }) => cell)).toEqual(
        [...kept.map(({ cell }) => cell)].sort(byNumber),
      );
      for (const [cell, totals] of byCell) {
        const slowest = totals.sort((a, b) => b - a).slice(0, 3);
        expect(kept.filter((e) => e.cell === cell).map((e) => e.totalMs)).toEqual(slowest);
      }
    },
  );

  it('copies the record, which the next event overwrites', () => {
    const store = new ExemplarStore();
    const record = recordOf(5);
    record.bytes = Buffer.from('trace-1,id-1');
    record.traceEnd = 7;
    record.idStart = 8;
    record.idEnd = 12;
    record.stageCount = 2;
    record.stageIds.set([4, 9]);
    record.stageMs.set([2, 3]);
    record.status = 2;
    record.tsMs = 77;
    store.offer(3, record, 6);
    record.bytes = Buffer.from('trace-2,id-2');
    record.stageIds.set([0, 0]);
    record.stageMs.set([0, 0]);
    record.totalMs = 4;
    expect([...store.all()]).toEqual([
      {
        cell: 3,
        tsMs: 77,
        status: 2,
        totalMs: 5,
        hostId: 6,
        traceId: 'trace-1',
        requestId: 'id-1',
        stageIds: [4, 9],
        stageMs: [2, 3],
      },
    ]);
  });

  it('keeps the first of equals, and a request of no milliseconds', () => {
    const store = new ExemplarStore();
    for (let hostId = 1; hostId <= 5; hostId++) store.offer(0, recordOf(0), hostId);
    expect([...store.all()].map((exemplar) => exemplar.hostId)).toEqual([1, 2, 3]);
  });

  it('forgets everything on reset', () => {
    const store = new ExemplarStore();
    for (const ms of [9, 8, 7]) store.offer(0, recordOf(ms), 0);
    store.reset();
    expect([...store.all()]).toEqual([]);
    store.offer(0, recordOf(1), 0);
    expect([...store.all()].map(({ totalMs }) => totalMs)).toEqual([1]);
  });
});

function recordOf(totalMs: number): EventRecord {
  const record = new EventRecord();
  record.totalMs = totalMs;
  return record;
}

function byNumber(a: number, b: number): number {
  return a - b;
}
