// npm run sim:mutants [-- --record] | [-- --mutant NAME [--seeds A..B | --seed N]]: plants known
// bugs, one at a time, and runs seeds until some find it. Exits with 1 if a bug survives them all.
// --seed N with --mutant NAME prints every event of the run. --noted runs only the seeds that
// found-by.json has. --record notes those that are found there, and keeps the table, with machine
// and commit, in bench/results/sim-mutants.txt.

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
// Copies with a bug each lie beside the one without.
const base = `${ownDirectory('sim-mutants')}/base`;
mkdirSync(base);
linkBeside(base);
compile('sim', base);
const head = () => headOf(`sim:mutants ${options.join(' ')}`);
const record = isRecorded ? { name: 'sim-mutants', head: head() } : undefined;
// Not where it was ended before its time.
const isWhole = (printed) => printed.includes(' mutants are found');
run(`${base}/test/sim/mutants/cli.js`, options, record, isWhole);
