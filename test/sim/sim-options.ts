import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { OperatorError } from '../../src/base/operator-error.ts';
import { countOption } from '../../src/cli/flag-values.ts';

/** Command line of `npm run sim -- …`. */
export interface SimCommand {
  readonly from: number;
  /** The last seed. */
  readonly to: number;
  /** True for one seed, with every event of it. */
  readonly isReplay: boolean;
  /** Concurrent threads. */
  readonly jobs: number;
  /** True for the summary as one line of JSON. */
  readonly isJson: boolean;
}

/** Seeds are drawn from 32 bits. */
const MOST_SEED = 0xffff_ffff;
const MOST_JOBS = 256;

/** @throws {OperatorError} for unknown options and values */
export function simOptions(argv: readonly string[]): SimCommand {
  const { seed, seeds, jobs, json } = parsed(argv);
  if (seed !== undefined && seeds !== undefined) throw usage('--seed must stand without --seeds');
  const isReplay = seed !== undefined;
  const [from, to] = isReplay ? [seedOf(seed), seedOf(seed)] : rangeOf(seeds ?? '1..200');
  return {
    from,
    to,
    isReplay,
    jobs: countOption('--jobs', jobs ?? availableParallelism(), 1, MOST_JOBS),
    isJson: json,
  };
}

function parsed(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        jobs: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw usage(`its options must be known: ${error instanceof Error ? error.message : error}`);
  }
}

function seedOf(given: string): number {
  return countOption('--seed', given, 0, MOST_SEED);
}

function rangeOf(given: string): readonly [number, number] {
  const [, first, last] = /^(\d+)\.\.(\d+)$/.exec(given) ?? [];
  if (first === undefined || last === undefined || Number(first) > Number(last)) {
    throw usage(`--seeds must be a range such as 1..2000: it is ${JSON.stringify(given)}`);
  }
  return [seedOf(first), seedOf(last)];
}

function usage(rule: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot run as ${rule}`, {
    hint: 'npm run sim -- --seed N | [--seeds A..B] [--jobs N] [--json] [--record]',
  });
}
