import { describe, expect, it } from 'vitest';
import { restartProblems } from './restart-problems.ts';

describe('restarts of the assembler', () => {
  it('of 500 seeds: what processes that die anywhere commit is what one run gives', () => {
    expect(restartProblems(1, 500)).toEqual([]);
  });
});
