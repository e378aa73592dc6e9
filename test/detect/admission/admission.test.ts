import { describe, expect, it } from 'vitest';
import { Admission, type Offer } from '../../../src/detect/admission/admission.ts';
import { StateReader } from '../../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../../src/snapshot/archive-writer.ts';

const never = (_key: string) => false;

/** Slots that keys hold, and their changes turn by turn. */
class World {
  readonly admission = new Admission(30);
  readonly held: Set<string>;
  readonly slots: number;
  readonly isFixed: (key: string) => boolean;

  constructor(held: readonly string[], isFixed = never) {
    this.held = new Set(held);
    this.slots = held.length;
    this.isFixed = isFixed;
  }

  /** Offers the keys of the next turn; returns the keys that hold a slot after it, in order. */
  turn(offers: readonly Offer[]): string[] {
    this.admission.countRefused(
      offers.filter(({ key }) => !this.held.has(key)),
      this.slots,
    );
    if (this.admission.isCrowded) {
      for (const offer of offers) if (this.held.has(offer.key)) this.admission.countHolder(offer);
    }
    const turn = this.admission.plan(this.held, this.slots, this.isFixed);
    this.admission.apply(turn, this.slots);
    for (const key of turn.out) this.held.delete(key);
    for (const key of turn.in) this.held.add(key);
    return [...this.held].sort();
  }
}

const offersOf = (amounts: Readonly<Record<string, number>>): Offer[] =>
  Object.entries(amounts).map(([key, amount]) => ({ key, amount }));

describe('Admission', () => {
  it('gives a slot to a key that brings clearly more than its holder, after some minutes', () => {
    const world = new World(['a', 'b']);
    const steady = offersOf({ a: 1_000, b: 100 });
    for (let turn = 0; turn < 30; turn++) world.turn([...steady, ...offersOf({ c: 20 })]);
    const later = [...steady, ...offersOf({ c: 1_000 })];
    // b has a load of 100 / (1 - 0.87) = 773 by then; one and a half times that and 30 is 1,189.
    expect([world.turn(later), world.turn(later)]).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ]);
  });

  it('leaves a slot with its holder until another key brings 1.5 times as much and thirty more', () => {
    for (const [own, other] of [
      [100, 145],
      [2, 5],
    ] as const) {
      const world = new World(['a']);
      for (let turn = 0; turn < 100; turn++) {
        expect(world.turn(offersOf({ a: own, z: other }))).toEqual(['a']);
      }
    }
    const world = new World(['a']);
    const turns = Array.from({ length: 100 }, () => world.turn(offersOf({ a: 100, z: 160 })));
    expect(turns.at(-1)).toEqual(['z']);
    // After one change the holder stays.
    expect(new Set(turns.map(String)).size).toBe(2);
    expect(turns.lastIndexOf(turns[0] as string[])).toBeLessThan(
      turns.findIndex(([key]) => key === 'z'),
    );
  });

  it('leaves the slot of a key that must keep it', () => {
    const world = new World(['a', 'b'], (key) => key === 'a');
    for (let turn = 0; turn < 20; turn++) world.turn(offersOf({ a: 1, b: 500, c: 900, d: 5_000 }));
    expect([...world.held].sort()).toEqual(['a', 'd']);
  });

  it('gives the same slots for any order and any names of keys', () => {
    const amounts = Array.from({ length: 300 }, (_, n) => ({
      n,
      amount: 40 + ((n * 7) % 300) * 10,
    }));
    const endOf = (nameOf: (n: number) => string, order: 1 | -1) => {
      const offers = amounts.map(({ n, amount }) => ({ key: nameOf(n), amount }));
      const world = new World(offers.slice(0, 50).map(({ key }) => key));
      for (let turn = 0; turn < 12; turn++) world.turn(order > 0 ? offers : [...offers].reverse());
      return world.held;
    };
    const name = (n: number) => `series ${n}`;
    expect([...endOf(name, -1)].sort()).toEqual([...endOf(name, 1)].sort());
    const backwards = (n: number) => `series ${1_000 - n}`;
    const [one, other] = [endOf(name, 1), endOf(backwards, 1)];
    expect(amounts.filter(({ n }) => one.has(name(n)) !== other.has(backwards(n)))).toEqual([]);
    // Of 300 series those that bring 2,550 a turn or more hold the slots, within a margin.
    const least = Math.min(
      ...amounts.filter(({ n }) => one.has(name(n))).map(({ amount }) => amount),
    );
    expect(least).toBeGreaterThan(2_550 / 1.6);
  });

  it('breaks ties independently of the alphabet', () => {
    const world = new World(['none']);
    const offers = Array.from({ length: 64 }, (_, n) => ({ key: `key ${100 + n}`, amount: 500 }));
    const [winner] = world.turn(offers);
    expect(offers.map(({ key }) => key)).toContain(winner);
    expect(winner).not.toBe('key 100');
  });

  it('remembers two candidates a slot out of a flood of keys, those that bring the most', () => {
    const world = new World(['a', 'b']);
    for (let turn = 0; turn < 5; turn++) {
      const flood = Array.from({ length: 50_000 }, (_, n) => ({ key: `${turn} ${n}`, amount: 1 }));
      world.turn([...flood, ...offersOf({ a: 90, b: 90, steady: 60 })]);
    }
    const writer = new StateWriter();
    world.admission.serialize(writer);
    expect(writer.drain().length).toBeLessThan(300);
    expect([...world.held].sort()).toEqual(['a', 'b']);
    // When both holders are gone, the steady candidate has more than any key of the flood.
    for (let turn = 0; turn < 12; turn++) world.turn(offersOf({ steady: 60 }));
    expect(world.held.has('steady')).toBe(true);
  });

  it('is idle some time after the last refusal, and then holds no candidates', () => {
    const world = new World(['a']);
    world.turn(offersOf({ a: 100, b: 10 }));
    expect(world.admission.isCrowded).toBe(true);
    let turns = 0;
    for (; world.admission.isCrowded; turns++) world.turn(offersOf({ a: 100 }));
    // Ten requests decay to less than half a request after 21 turns of two minutes.
    expect(turns).toBe(22);
    const writer = new StateWriter();
    world.admission.serialize(writer);
    const empty = new StateWriter();
    new Admission(30).serialize(empty);
    expect(writer.drain()).toEqual(empty.drain());
  });

  it('restored from a snapshot continues like the original', () => {
    const offers = offersOf({ a: 100, b: 50, c: 160, d: 170, e: 80 });
    const one = new World(['a', 'b']);
    const next = new World(['a', 'b']);
    for (let turn = 0; turn < 3; turn++) one.turn(offers);
    const writer = new StateWriter();
    one.admission.serialize(writer);
    const reader = new StateReader(writer.drain());
    next.admission.serialize(reader);
    reader.end();
    next.held.clear();
    for (const key of one.held) next.held.add(key);
    for (let turn = 0; turn < 20; turn++) expect(next.turn(offers)).toEqual(one.turn(offers));
  });
});
