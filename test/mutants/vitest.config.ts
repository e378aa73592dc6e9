import { defineConfig } from 'vitest/config';
import { applyMutant } from '../sim/mutants/apply-mutant.ts';
import { mutants } from './mutants.ts';

const root = new URL('../../', import.meta.url);
const name = process.env.TAILMARK_PLANTED_MUTANT;
const planted = mutants.find((mutant) => mutant.name === name);
if (name !== undefined && planted === undefined) throw new Error(`there is no mutant ${name}`);
const path = planted && new URL(planted.file, root).pathname;

/** The unit tests with one mutant planted: its file is changed as it is loaded, and stays as it is on disk. */
export default defineConfig({
  root: root.pathname,
  plugins: [
    {
      name: 'planted-mutant',
      enforce: 'pre',
      transform: (code, id) =>
        planted !== undefined && id === path ? applyMutant(planted, code) : undefined,
    },
  ],
  // What is slow on a busy machine is not found: what spins is ended from outside.
  test: { include: ['test/**/*.test.ts'], testTimeout: 600_000, bail: 1, maxWorkers: 1 },
});
