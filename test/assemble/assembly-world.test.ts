import { expect, test } from 'vitest';
import { Random } from '../../src/generate/random.ts';
import { assemblyProblem } from './assembly-world.ts';

const SEEDS = Number(process.env.ASSEMBLE_SEEDS ?? 200);

test(`of ${SEEDS} seeds: each trace is one event, whatever processes and transactions do`, async () => {
  const problems: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const problem = await assemblyProblem(new Random(`assembly ${seed}`));
    if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
  }
  expect(problems).toEqual([]);
});
