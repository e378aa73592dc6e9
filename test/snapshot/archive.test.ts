import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type StateArchive, UnreadableState } from '../../src/snapshot/archive.ts';
import { StateReader } from '../../src/snapshot/archive-reader.ts';
import { StateWriter } from '../../src/snapshot/archive-writer.ts';

class Pair {
  one = 0;
  other = 0;

  serialize(state: StateArchive): void {
    this.one = state.number(this.one);
    this.other = state.number(this.other);
  }
}

/** One of everything. */
class Kept {
  number = 0;
  flag = false;
  text = '';
  numbers = new Float64Array(0);
  doubles = new Float64Array(3);
  singles = new Float32Array(2);
  list: string[] = [];
  map = new Map<string, Pair>();
  optional: number | undefined;

  serialize(state: StateArchive, name = 'kept', version = 1): void {
    state.section(name, version, () => {
      this.number = state.number(this.number);
      this.flag = state.flag(this.flag);
      this.text = state.text(this.text);
      this.numbers = Float64Array.from(state.numbers(this.numbers));
      state.fill(this.doubles);
      state.fill(this.singles);
      this.list = state.list(this.list, (item = '') => state.text(item));
      state.map(this.map, () => new Pair());
      this.optional = state.optional(this.optional, (value = 0) => state.number(value));
    });
  }
}

const double = fc.double();
const mapOf = (entries: readonly (readonly [string, number, number])[]) =>
  new Map(entries.map(([key, one, other]) => [key, Object.assign(new Pair(), { one, other })]));
const kept = fc
  .record({
    number: double,
    flag: fc.boolean(),
    text: fc.string({ unit: 'grapheme' }),
    numbers: fc.array(fc.oneof(double, fc.float(), fc.nat())).map((n) => Float64Array.from(n)),
    doubles: fc.array(double, { minLength: 3, maxLength: 3 }).map((n) => Float64Array.from(n)),
    singles: fc.array(fc.float(), { minLength: 2, maxLength: 2 }).map((n) => Float32Array.from(n)),
    list: fc.array(fc.string()),
    map: fc.array(fc.tuple(fc.string(), double, double)).map(mapOf),
    optional: fc.option(double, { nil: undefined }),
  })
  .map((fields) => Object.assign(new Kept(), fields));

function saved(from: Kept): Buffer {
  const writer = new StateWriter(1);
  from.serialize(writer);
  return writer.drain();
}

const full = Object.assign(new Kept(), {
  ...{ number: 1, text: 'text', list: ['a', 'b'], optional: 2 },
  numbers: Float64Array.of(0.1, 0.2),
  map: mapOf([['key', 3, 4]]),
});

describe('a state archive', () => {
  it('refuses another name, another version and another length, by name', () => {
    const read = (name: string, version: number, length = 3) => {
      const into = Object.assign(new Kept(), { doubles: new Float64Array(length) });
      return () => into.serialize(new StateReader(saved(full)), name, version);
    };
    expect(read('other', 1)).toThrow(new UnreadableState('it has "kept" where other should be'));
    expect(read('kept', 2)).toThrow(
      new UnreadableState('its kept is of version 1, this one reads 2'),
    );
    expect(read('kept', 1, 4)).toThrow(
      new UnreadableState('kept has 3 numbers where there are 4 now'),
    );
  });

  it('refuses what is cut off anywhere, and what has more', () => {
    const bytes = saved(full);
    for (let length = 0; length < bytes.length; length++) {
      const cut = new StateReader(bytes.subarray(0, length));
      expect(() => new Kept().serialize(cut)).toThrow(UnreadableState);
    }
    const more = new StateReader(Buffer.concat([bytes, Buffer.of(0)]));
    new Kept().serialize(more);
    expect(() => more.end()).toThrow(new UnreadableState('1 bytes are left after the beginning'));
  });

  it('gives back what it was given, bit for bit', () => {
    fc.assert(
      fc.property(kept, (before) => {
        const after = new Kept();
        const reader = new StateReader(saved(before));
        after.serialize(reader);
        reader.end();
        expect(after).toEqual(before);
        expect([...after.map.keys()]).toEqual([...before.map.keys()]);
        expect(saved(after)).toEqual(saved(before));
      }),
    );
  });

  it('keeps counts in four bytes each, and other numbers in eight', () => {
    const bytesOf = (values: number[]) => {
      const writer = new StateWriter();
      writer.numbers(values);
      return writer.drain().length - 5;
    };
    expect(bytesOf([0, 1, 2 ** 24, 0.5, Number.NaN])).toBe(20);
    expect(bytesOf([0, 1, 2 ** 24 + 1])).toBe(24);
  });
});
