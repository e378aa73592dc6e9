import { describe, expect, test } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { restartProblem } from './restart-world.ts';

const SEEDS = Number(process.env.ASSEMBLE_SEEDS ?? 200);
/** Seeds beyond them that found a bug. */
const FINDERS = [3836];

describe('restarts of the assembler', () => {
  test(`of ${SEEDS} seeds: what processes that die anywhere commit is what one run gives`, () => {
    const problems: string[] = [];
    const first = Array.from({ length: SEEDS }, (_, index) => index + 1);
    for (const seed of [...FINDERS, ...first]) {
      const problem = restartProblem(new Random(seed));
      if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
    }
    expect(problems).toEqual([]);
  });
});
