import type { ChaosSummary } from './chaos-summary.ts';

type Outcome = Pick<ChaosSummary, 'differences' | 'verify' | 'selfExits'>;

const maxNotes = 40;

/** Renders names and values in two columns, the findings below them, and the verdict. */
export function renderTable(
  rows: readonly (readonly [string, string])[],
  { differences, verify, selfExits }: Outcome,
): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  const notes = [
    ...differences,
    ...verify.problems.map((problem) => `verify: ${problem}`),
    ...selfExits.map(({ ended, lastLine }) => `ended by itself with ${ended}: ${lastLine}`),
  ];
  for (const note of notes.slice(0, maxNotes)) lines.push(`  ${note}`);
  if (notes.length > maxNotes) lines.push(`  and ${notes.length - maxNotes} more`);
  const verdict = differences.length === 0 && verify.ok ? 'it holds' : 'it does NOT hold';
  return `${[...lines, `exactly once: ${verdict}`].join('\n')}\n`;
}
