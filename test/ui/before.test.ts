import { expect, it } from 'vitest';
import { comparedWithBefore } from '../../ui/src/state/before.ts';

const at = (time: string) => Date.parse(`2026-11-28T${time}Z`);
const sides = (from: string, to: string) => {
  const changes = comparedWithBefore({ fromMs: at(from), toMs: at(to) });
  return [changes['a.from'], changes['a.to'], changes['b.from'], changes['b.to']].map((time = '') =>
    new Date(time).toISOString().slice(11, 19),
  );
};

it.each([
  // Two of its minutes are whole; the minute in which it began is on neither side.
  ['22:55:50', '22:58:00', ['22:53:00', '22:55:00', '22:56:00', '22:58:00']],
  ['22:55:00', '22:58:00', ['22:52:00', '22:55:00', '22:55:00', '22:58:00']],
  ['22:55:50', '22:59:20', ['22:52:00', '22:55:00', '22:56:00', '22:59:00']],
  ['22:55:10', '22:55:50', ['22:54:20', '22:55:00', '22:55:10', '22:55:50']],
])('%s to %s is compared by its whole minutes', (from, to, expected) => {
  expect(sides(from, to)).toEqual(expected);
});
