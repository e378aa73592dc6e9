import { Random } from '../../src/generate/random.ts';
import { restartProblem } from './restart-world.ts';

/** Problems of restarts of the assembler, of seeds from one to another, both included. */
export function restartProblems(from: number, to: number): string[] {
  const problems: string[] = [];
  for (let seed = from; seed <= to; seed++) {
    const problem = restartProblem(new Random(seed));
    if (problem !== undefined) problems.push(`seed ${seed}: ${problem}`);
  }
  return problems;
}
