import { expect, it } from 'vitest';
import { cutBaseline } from '../../../src/views/anomalies/stored-baseline.ts';

const at = (time: string) => `2026-11-28T${time}:00.000Z`;
const started_at = at('12:10');

it.each([
  ['begins with the first stored minute', ['12:00', '12:09'], '12:03', ['12:03', '12:09']],
  ['is as it was where all of it is stored', ['12:00', '12:09'], '12:00', ['12:00', '12:09']],
  [
    'is as it was where none of it is stored any more',
    ['12:00', '12:09'],
    '12:09',
    ['12:00', '12:09'],
  ],
  ['is as it was where nothing is stored', ['12:00', '12:09'], undefined, ['12:00', '12:09']],
  ['ends where the anomaly begins', ['12:00', '12:14'], '12:00', ['12:00', '12:10']],
  ['that was learnt after the start is empty', ['12:12', '12:14'], '12:00', ['12:12', '12:12']],
] as const)('a baseline %s', (_, [from, to], first, [fromCut, toCut]) => {
  const evidence = { baseline_from: at(from), baseline_to: at(to) };
  const firstMs = first === undefined ? undefined : Date.parse(at(first));
  expect(cutBaseline({ started_at }, evidence, firstMs)).toEqual({
    baseline_from: at(fromCut),
    baseline_to: at(toCut),
  });
});
