// npm run mutants [-- --record] | [-- --mutant NAME]: plants known bugs of the detector, one at a time,
// and runs the test files that must find it. Exits with 1 if a bug survives, or if a test fails without
// any. --record keeps the table, with machine and commit, in bench/results/detect-mutants.txt. --jobs N:
// so many at once.

import {
  compile,
  given,
  headOf,
  linkBeside,
  ownDirectory,
  run,
} from '../../scripts/recorded-run.js';

const { isRecorded, options } = given();
const directory = ownDirectory('mutants');
compile('mutants', directory);
linkBeside(directory);
const head = headOf(`mutants ${options.join(' ')}`, ['src', 'test']);
const record = isRecorded ? { name: 'detect-mutants', head } : undefined;
// Not where it was ended before its time.
const isWhole = (printed) => printed.includes(' mutants are found');
run(`${directory}/test/mutants/cli.js`, options, record, isWhole);
