import { expect, it } from 'vitest';
import type { Series } from '../../../src/series/series-window.ts';
import { InternedNames } from '../../../src/sink/windows/interned-names.ts';

const bytes = Buffer.from('…ranker…ranking…');
const place = (text: string): [from: number, to: number] => {
  const from = bytes.indexOf(text);
  return [from, from + Buffer.byteLength(text)];
};

it('InternedNames reads a series once, and gives the same object for the same bytes anywhere', () => {
  const names = new InternedNames();
  const first = { model: 'ranker' } as Series;
  expect(names.series(bytes, ...place('rank'), () => first)).toBe(first);
  const second = Buffer.from('a rank');
  const unread = () => expect.unreachable('it was read before');
  expect(names.series(second, 2, 6, unread)).toBe(first);
  const other = { model: 'ranking' } as Series;
  expect(names.series(bytes, ...place('ranking'), () => other)).toBe(other);
});

it('InternedNames gives texts as they are in UTF-8, also those that are longer in it', () => {
  const names = new InternedNames();
  for (const text of ['…ranker', 'ranking', '', '…']) {
    expect(names.text(bytes, ...place(text))).toBe(text);
    expect(names.text(bytes, ...place(text))).toBe(text);
  }
});

it('InternedNames forgets its names before they are too many', () => {
  const names = new InternedNames();
  let read = 0;
  const series = (n: number) => {
    const own = Buffer.from(`series ${n}`);
    names.series(own, 0, own.length, () => {
      read += 1;
      return {} as Series;
    });
  };
  for (let n = 0; n < 65_536; n++) series(n);
  series(0);
  expect(read).toBe(65_536);
  series(65_536);
  series(65_536);
  series(0);
  expect(read).toBe(65_538);
});
