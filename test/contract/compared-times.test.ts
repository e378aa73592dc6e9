import { describe, expect, it } from 'vitest';
import { comparedWithBefore } from '../../src/contract/compared-times.ts';

const at = (time: string) => Date.parse(`2026-11-28T${time}Z`);
const span = ([from, to]: readonly [string, string]) => ({ fromMs: at(from), toMs: at(to) });
type Span = readonly [string, string];

function sides(of: Span, first?: string, taken: readonly Span[] = []) {
  const compared = comparedWithBefore(span(of), {
    ...(first !== undefined && { firstMs: at(first) }),
    taken: taken.map(span),
  });
  if (compared === undefined) return undefined;
  const { a, b, place } = compared;
  const times = [a.fromMs, a.toMs, b.fromMs, b.toMs].map((ms) =>
    new Date(ms).toISOString().slice(11, 19),
  );
  return [...times, place];
}

describe('a time is compared with before', () => {
  it.each<[Span, string[]]>([
    // Two of its minutes are whole; the minute in which it began is on neither side.
    [
      ['22:55:50', '22:58:00'],
      ['22:53:00', '22:55:00', '22:56:00', '22:58:00'],
    ],
    [
      ['22:55:00', '22:58:00'],
      ['22:52:00', '22:55:00', '22:55:00', '22:58:00'],
    ],
    [
      ['22:55:50', '22:59:20'],
      ['22:52:00', '22:55:00', '22:56:00', '22:59:00'],
    ],
    [
      ['22:55:10', '22:55:50'],
      ['22:54:20', '22:55:00', '22:55:10', '22:55:50'],
    ],
  ])('by its whole minutes: %j', (of, expected) => {
    expect(sides(of)).toEqual([...expected, 'next to it']);
  });

  it('from the first stored minute on, where that is less', () => {
    expect(sides(['12:10:00', '12:20:00'], '12:05:10')).toEqual([
      ...['12:06:00', '12:10:00', '12:10:00', '12:20:00', 'shorter'],
    ]);
    expect(sides(['12:10:00', '12:20:00'], '12:10:00')).toBeUndefined();
    expect(sides(['12:10:00', '12:20:00'], '12:00:00')?.at(-1)).toBe('next to it');
  });

  it('outside of the times of other incidents', () => {
    // Four minutes lie between both: too few for ten, enough for three.
    const first: Span = ['12:00:20', '12:05:40'];
    expect(sides(['12:10:00', '12:20:00'], '11:00:00', [first])).toEqual([
      ...['11:50:00', '12:00:00', '12:10:00', '12:20:00', 'nearest'],
    ]);
    expect(sides(['12:10:00', '12:13:00'], '11:00:00', [first])).toEqual([
      ...['12:07:00', '12:10:00', '12:10:00', '12:13:00', 'next to it'],
    ]);
    // The longest where none is as long.
    expect(sides(['12:10:00', '12:20:00'], '11:57:00', [first])).toEqual([
      ...['12:06:00', '12:10:00', '12:10:00', '12:20:00', 'shorter'],
    ]);
    expect(sides(['12:10:00', '12:20:00'], '11:54:00', [first])).toEqual([
      ...['11:54:00', '12:00:00', '12:10:00', '12:20:00', 'shorter'],
    ]);
  });

  it('before an incident that began earlier and is not over', () => {
    const open: Span = ['12:05:00', '13:00:00'];
    const within: Span = ['12:06:00', '12:07:00'];
    const later: Span = ['12:15:00', '12:16:00'];
    expect(sides(['12:10:00', '12:12:00'], '11:00:00', [within, open, later])).toEqual([
      ...['12:03:00', '12:05:00', '12:10:00', '12:12:00', 'nearest'],
    ]);
    expect(sides(['12:10:00', '12:12:00'], '12:05:00', [open])).toBeUndefined();
  });
});
