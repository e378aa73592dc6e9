import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { applyMutant } from './apply-mutant.ts';
import { mutants } from './mutants.ts';

const path = (relative: string) => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));
const noted: Record<string, readonly number[]> = JSON.parse(
  readFileSync(path('test/sim/mutants/found-by.json'), 'utf8'),
);

// `node test/sim/mutants/run.js --noted` checks in minutes that its seeds find each. `npm run sim:mutants`
// looks for seeds again.
describe('mutants', () => {
  it.each(mutants)('$name: its text is in $file once', (mutant) => {
    const source = readFileSync(path(mutant.file), 'utf8');
    expect(applyMutant(mutant, source)).not.toBe(source);
  });

  it('have unique names, and seeds that find them', () => {
    const names = mutants.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    // Some are not found by any tried seed: docs/explained/simulator.md says so.
    expect(names).toEqual(expect.arrayContaining(Object.keys(noted)));
    expect(Object.keys(noted).length).toBeGreaterThanOrEqual(24);
    for (const seeds of Object.values(noted)) expect(seeds.length).toBeGreaterThan(0);
  });

  it('are all on their page, by name and description', () => {
    const page = readFileSync(path('docs/explained/planted-bugs.md'), 'utf8');
    for (const { name, bug } of mutants) expect(page).toContain(`| \`${name}\` | ${bug} |`);
  });

  it('refuses a text that is missing, or repeated', () => {
    const [mutant] = mutants;
    if (mutant === undefined) throw new Error('there are no mutants');
    expect(() => applyMutant(mutant, '')).toThrow('0 times, not once');
    expect(() => applyMutant(mutant, mutant.find.repeat(2))).toThrow('2 times, not once');
  });
});
