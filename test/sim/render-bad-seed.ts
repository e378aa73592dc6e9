import type { SeedReport } from './seed-report.ts';

/** Renders a bad seed on one line, which ends with the command that replays it. */
export function renderBadSeed({ seed, problems, faults }: SeedReport): string {
  const [first = ''] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const problem = first.replaceAll(/\s*\n\s*/g, ' | ');
  return `seed ${seed}: ${problem}${more} [${[...faults.keys()].join(' ')}] npm run sim -- --seed ${seed}`;
}
