import { describe, expect, it } from 'vitest';
import { dimensions } from '../../src/base/dimensions.ts';
import { DecodedEvent } from '../../src/decode/decoded-event.ts';
import { Interner } from '../../src/decode/interner.ts';
import { ExemplarStore } from '../../src/window/exemplar-store.ts';
import { SeededRandom } from '../base/seeded-random.ts';

const modelIndex = dimensions.indexOf('model');

describe('ExemplarStore', () => {
  it.each([1, 2, 3])(
    'keeps exactly the slowest three of each cell, slowest first: seed %i',
    (seed) => {
      const random = new SeededRandom(seed);
      const store = new ExemplarStore(new Interner(64));
      const byCell = new Map<number, number[]>();
      for (let i = 0; i < 3_000; i++) {
        // Few distinct values, so that there are ties; cells far apart, so that the store grows.
        const cell = random.between(0, 20) * 37;
        const totalMs = random.between(0, 400);
        store.offer(cell, cell, eventOf(totalMs), 0);
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

  it.each([1, 2, 3])(
    'keeps the 1,000 of a window that are slowest for their model, of the slowest three of their cells: seed %i',
    (seed) => {
      const random = new SeededRandom(seed);
      const store = new ExemplarStore(new Interner(64));
      // So long a first request of each model that the means hardly move, of two windows of their own.
      const scale = [0, 1, 1_000];
      for (const model of [1, 2]) {
        for (let i = 0; i < 20_000; i++) {
          store.offer(model, 8, eventOf(scale[model] as number, model), 0);
        }
      }
      const offered = new Map<number, { cell: number; slowness: number }[]>();
      const totals = Array.from({ length: 8_000 }, (_, i) => 0.9 + i / 40_000);
      while (totals.length > 0) {
        const [slowness = 0] = totals.splice(random.between(0, totals.length - 1), 1);
        const [window, model] = [random.between(0, 1), random.between(1, 2)];
        const cell = (random.between(1, 600) * 2 + window) * 4 + model;
        store.offer(cell, window, eventOf(slowness * (scale[model] as number), model), 0);
        offered.set(window, [...(offered.get(window) ?? []), { cell, slowness }]);
      }
      const kept = [...store.all()].filter(({ cell }) => cell > 4);
      for (const [window, all] of offered) {
        const ofCells = new Map<number, number>();
        const expected = all
          .toSorted((a, b) => b.slowness - a.slowness)
          .filter(({ cell }) => {
            const rank = ofCells.get(cell) ?? 0;
            ofCells.set(cell, rank + 1);
            return rank < 3;
          })
          .slice(0, 1_000)
          .map(({ slowness }) => slowness);
        const found = kept
          .filter(({ cell }) => (cell >> 2) % 2 === window)
          .map(({ cell, totalMs }) => totalMs / (scale[cell & 3] as number))
          .sort(byNumber);
        expect(found).toHaveLength(1_000);
        // Means move a little, so requests at the limit may change places.
        const least = expected.at(-1) ?? 0;
        expect(found.filter((slowness) => slowness < least - 0.01)).toEqual([]);
        expect(found.slice(-500).map((x) => x.toFixed(6))).toEqual(
          expected
            .slice(0, 500)
            .sort(byNumber)
            .map((x) => x.toFixed(6)),
        );
      }
    },
  );

  it('copies the event, which the next event overwrites', () => {
    const store = new ExemplarStore(new Interner(64));
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
    store.offer(3, 9, event, 6);
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

  it('keeps the slowest that failed beside the slowest three, however many time-outs there are', () => {
    const store = new ExemplarStore(new Interner(64));
    const offer = (totalMs: number, status: number) =>
      store.offer(5, 5, eventOf(totalMs, 0, status), 0);
    const [ok, error, timeout] = [0, 1, 2];
    for (let i = 0; i < 12; i++) offer(3_000 + i, timeout);
    offer(20, error);
    for (const totalMs of [40, 120, 80, 60]) offer(totalMs, ok);
    expect([...store.all()].map(({ totalMs, status }) => [totalMs, status])).toEqual([
      ...[
        [120, ok],
        [80, ok],
        [60, ok],
        [3_011, timeout],
      ],
    ]);
  });

  it('keeps the first of equals, and a request of no milliseconds', () => {
    const store = new ExemplarStore(new Interner(64));
    for (let hostId = 1; hostId <= 5; hostId++) store.offer(0, 0, eventOf(0), hostId);
    expect([...store.all()].map((exemplar) => exemplar.hostId)).toEqual([1, 2, 3]);
  });

  it('forgets everything on reset', () => {
    const store = new ExemplarStore(new Interner(64));
    for (const ms of [9, 8, 7]) store.offer(0, 0, eventOf(ms), 0);
    store.reset();
    expect([...store.all()]).toEqual([]);
    store.offer(0, 0, eventOf(1), 0);
    expect([...store.all()].map(({ totalMs }) => totalMs)).toEqual([1]);
  });
});

function eventOf(totalMs: number, model = 0, status = 0): DecodedEvent {
  const event = new DecodedEvent();
  event.dimensionIds[modelIndex] = model;
  event.totalMs = totalMs;
  event.status = status;
  return event;
}

function byNumber(a: number, b: number): number {
  return a - b;
}
