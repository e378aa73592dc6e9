import { expect, it } from 'vitest';
import { type Letter, placesAfter } from '../../../src/ingest/replay/read-letters.ts';

const letter = (partition: number, offset: number, future: number): Letter => ({
  topic: 't.dlq',
  partition,
  offset,
  origin: undefined,
  suppressed: 0,
  doneOf: new Map([
    ['future', future],
    ['late', 0],
  ]),
});

it('the place of a reason never goes back, where another reason is read from an earlier one', () => {
  const groupIds = new Map([
    ['future', 'g.future'],
    ['late', 'g.late'],
  ] as const);
  const letters = [letter(0, 4, 9), letter(0, 5, 9), letter(1, 7, 2)];
  expect(placesAfter(letters, groupIds)).toEqual(
    new Map([
      ['g.future', [{ topic: 't.dlq', partition: 1, offset: 8 }]],
      [
        'g.late',
        [
          { topic: 't.dlq', partition: 0, offset: 6 },
          { topic: 't.dlq', partition: 1, offset: 8 },
        ],
      ],
    ]),
  );
  expect(placesAfter([letter(0, 8, 9)], new Map([['future', 'g.future']]))).toEqual(new Map());
  expect(placesAfter([letter(0, 9, 9)], new Map([['future', 'g.future']])).size).toBe(1);
});
