import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

/** Nanoseconds of CPU an item over all rounds. */
export interface Spread {
  readonly medianNs: number;
  readonly minNs: number;
  readonly maxNs: number;
}

export interface InTurnOptions {
  /** Items that each run works on. */
  readonly items: number;
  readonly rounds: number;
  /** Rounds before them, which do not count. */
  readonly warmUps: number;
}

/**
 * Measures two ways to the same result in turn, so that a busy neighbour hits both alike.
 *
 * @returns what each costs an item, and how many times as much the second costs: the median over rounds.
 */
export function measureInTurn(
  { items, rounds, warmUps }: InTurnOptions,
  first: () => unknown,
  second: () => unknown,
): { readonly first: Spread; readonly second: Spread; readonly medianRatio: number } {
  const firstNs: number[] = [];
  const secondNs: number[] = [];
  for (let round = -warmUps; round < rounds; round++) {
    const [a, b] = [cpuNs(first) / items, cpuNs(second) / items];
    if (round < 0) continue;
    firstNs.push(a);
    secondNs.push(b);
  }
  const ratios = secondNs.map((ns, i) => ns / (firstNs[i] as number));
  const medianRatio = Number(median(ratios).toFixed(2));
  return { first: spread(firstNs), second: spread(secondNs), medianRatio };
}

/** CPU of this process rather than wall time, which the neighbours on a shared machine bend. */
function cpuNs(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) * 1_000;
}

/** Median of an odd number of values. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) / 2] as number;
}

function spread(taken: readonly number[]): Spread {
  return {
    medianNs: Math.round(median(taken)),
    minNs: Math.round(Math.min(...taken)),
    maxNs: Math.round(Math.max(...taken)),
  };
}

/** Prints one JSON document: the machine, the commit, and what was measured. */
export function printMeasured(measured: Readonly<Record<string, unknown>>): void {
  const git = ['rev-parse', '--short', 'HEAD'];
  const commit = execFileSync('git', git, { encoding: 'utf8' }).trim();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  process.stdout.write(`${JSON.stringify({ machine, commit, ...measured }, null, 2)}\n`);
}
