import { describe, expect, it } from 'vitest';
import { DecodedEvent } from '../../src/decode/decoded-event.ts';
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
        store.offer(cell, eventOf(totalMs), 0);
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

  it('copies the event, which the next event overwrites', () => {
    const store = new ExemplarStore();
    const event = eventOf(5);
    event.bytes = Buffer.from('trace-1,id-1');
    event.traceEnd = 7;
    event.idStart = 8;
    event.idEnd = 12;
    event.stageCount = 2;
    event.stageIds.set([4, 9]);
    event.stageMs.set([2, 3]);
    event.status = 2;
    event.tsMs = 77;
    store.offer(3, event, 6);
    event.bytes = Buffer.from('trace-2,id-2');
    event.stageIds.set([0, 0]);
    event.stageMs.set([0, 0]);
    event.totalMs = 4;
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
    for (let hostId = 1; hostId <= 5; hostId++) store.offer(0, eventOf(0), hostId);
    expect([...store.all()].map((exemplar) => exemplar.hostId)).toEqual([1, 2, 3]);
  });

  it('forgets everything on reset', () => {
    const store = new ExemplarStore();
    for (const ms of [9, 8, 7]) store.offer(0, eventOf(ms), 0);
    store.reset();
    expect([...store.all()]).toEqual([]);
    store.offer(0, eventOf(1), 0);
    expect([...store.all()].map(({ totalMs }) => totalMs)).toEqual([1]);
  });
});

function eventOf(totalMs: number): DecodedEvent {
  const event = new DecodedEvent();
  event.totalMs = totalMs;
  return event;
}

function byNumber(a: number, b: number): number {
  return a - b;
}
