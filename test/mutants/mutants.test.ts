import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applyMutant } from '../sim/mutants/apply-mutant.ts';
import { mutants as ingestMutants } from '../sim/mutants/mutants.ts';
import { mutants } from './mutants.ts';

const results = 'bench/results/detect-mutants.txt';
const url = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(url(path), 'utf8');

// That each is found takes minutes: `npm run mutants`.
describe('mutants of the detector', () => {
  it.each(mutants)('$name: its text is in $file once, and its tests are there', (mutant) => {
    const source = read(mutant.file);
    expect(applyMutant(mutant, source)).not.toBe(source);
    expect(mutant.tests.filter((path) => !existsSync(url(path)))).toEqual([]);
    expect(mutant.tests.length).toBeGreaterThan(0);
  });

  it('have names of their own', () => {
    const names = [...mutants, ...ingestMutants].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(mutants.length).toBeGreaterThanOrEqual(25);
  });

  it('are found, as many as are recorded (npm run mutants -- --record, with --mutant NAME for one)', () => {
    const rows = [...read(results).matchAll(/^\| `([\w-]+)` \|.* \| (test\/[^|]*|–) \| \w+ \|$/gm)];
    expect(rows.filter(([, , found]) => found === '–')).toEqual([]);
    expect(read(results)).toContain(`${rows.length} of ${rows.length} mutants are found`);
    const names = mutants.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(rows.map(([, name]) => name)));
    expect(read('docs/explained/mutants.md')).toContain(
      `All ${rows.length} that were run are found`,
    );
  });
});
