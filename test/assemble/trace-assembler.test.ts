import { describe, expect, test } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { restartProblem } from './restart-world.ts';

const SEEDS = Number(process.env.ASSEMBLE_SEEDS ?? 200);

describe('restarts of the assembler', () => {
  test(`of ${SEEDS} seeds: what processes that die anywhere commit is what one run gives`, () => {
    const problems: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const problem = restartProblem(new Random(seed));
      if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
    }
    expect(problems).toEqual([]);
  });
});
