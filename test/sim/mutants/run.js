// npm run sim:mutants [-- --record] | [-- --mutant NAME [--seeds A..B | --seed N]]: plants known bugs, one at
// a time, and runs seeds until some find it. Exits with 1 if a bug survives them all. --seed N with --mutant
// NAME prints every event of the run. --noted runs only the seeds of found-by.json. --record writes the found
// ones there, and the table, with machine and commit, to bench/results/sim-mutants.txt.

import { mkdirSync } from 'node:fs';
import {
  compile,
  given,
  headOf,
  linkBeside,
  ownDirectory,
  run,
} from '../../../scripts/recorded-run.js';

const options = process.argv.slice(2);
const { isRecorded } = given(options);
// Copies with a bug each are written next to the one without.
const base = `${ownDirectory('sim-mutants')}/base`;
mkdirSync(base);
linkBeside(base);
compile('sim', base);
const head = () => headOf(`sim:mutants ${options.join(' ')}`);
const record = isRecorded ? { name: 'sim-mutants', head: head() } : undefined;
// False where it was ended early.
const isWhole = (printed) => printed.includes(' mutants are found');
run(`${base}/test/sim/mutants/cli.js`, options, record, isWhole);
