import { register } from 'node:module';
import type { FaultKind } from '../fault-kinds.ts';
import type { Finding } from './find-seeds.ts';
import type { MutantHookData } from './mutant-hook.ts';

/** Order of a run of this file, as JSON in its only argument. */
export interface FindOrder {
  readonly seeds: readonly [from: number, to: number] | readonly number[];
  /** True where `seeds` is a range. */
  readonly isRange: boolean;
  /** True to end at the first finding. */
  readonly isFirstEnough: boolean;
  readonly isVerbose: boolean;
  /** Seeds without one of these faults are skipped. */
  readonly needs: readonly FaultKind[];
  /** Most runs. */
  readonly mostRuns: number;
  readonly planted: MutantHookData | undefined;
}

function* seedsOf({ seeds, isRange }: FindOrder): Generator<number> {
  if (!isRange) return yield* seeds;
  const [from = 1, to = from] = seeds;
  for (let seed = from; seed <= to; seed++) yield seed;
}

// Prints a line of JSON for each seed that has problems.
const order: FindOrder = JSON.parse(process.argv[2] ?? '');
if (order.planted !== undefined) {
  register('./mutant-hook.js', import.meta.url, { data: order.planted });
}
const { simulate } = await import('../simulate.ts');
const { FaultPlan } = await import('../fault-plan.ts');
const print = (line: string) => process.stdout.write(`${line}\n`);
let runs = 0;
for (const seed of seedsOf(order)) {
  const faults = FaultPlan.ofSeed(seed);
  if (order.needs.some((kind) => !faults.has(kind))) continue;
  if (runs++ >= order.mostRuns) break;
  let problem: string | undefined;
  print(`seed begins: ${seed}`);
  try {
    const result = await simulate(seed, order.isVerbose ? { trace: print } : {});
    if (order.isVerbose) for (const each of result.problems.slice(1)) print(each);
    [problem] = result.problems;
  } catch (error) {
    problem = `the run broke off: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (problem === undefined) continue;
  const finding: Finding = { seed, problem };
  print(JSON.stringify(finding));
  if (order.isFirstEnough) break;
}
process.exit(0);
