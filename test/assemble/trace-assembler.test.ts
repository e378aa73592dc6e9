import { describe, expect, it } from 'vitest';
import { restartProblems } from './restart-problems.ts';

/** Seeds that found a bug. */
const FINDERS = [3836];

// More seeds are in trace-assembler.slow.test.ts.
describe('restarts of the assembler', () => {
  it('of 50 seeds: what processes that die anywhere commit is what one run gives', () => {
    expect(FINDERS.flatMap((seed) => restartProblems(seed, seed))).toEqual([]);
    expect(restartProblems(1, 50)).toEqual([]);
  });
});
