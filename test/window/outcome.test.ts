import { expect, it } from 'vitest';
import { rejectReasons } from '../../src/decode/reject-reasons.ts';
import { outcomes } from '../../src/window/outcome.ts';

it('outcomes of uncounted events are reasons of dead letters', () => {
  expect(Object.keys(outcomes)).toEqual([
    'aggregated',
    'overflow',
    'late',
    'future',
    'tooManyWindows',
  ]);
  expect(new Set(Object.values(outcomes)).size).toBe(5);
  expect(rejectReasons).toContain('late');
  expect(rejectReasons).toContain('future');
  expect(rejectReasons).toContain('too_many_windows');
});
