// npm run mutants [-- --record] | [-- --mutant NAME]: plants known bugs of the detector, one at a time,
// and runs the test files that must find it. Exits with 1 if a bug survives, or if a test fails without
// any. --record puts the rows of those that were run into bench/results/detect-mutants.txt, each with its
// commit; those of others stay. --jobs N: so many at once. The checkout is to stay as it is meanwhile.

import {
  compile,
  given,
  headOf,
  linkBeside,
  ownDirectory,
  pathOf,
  run,
} from '../../scripts/recorded-run.js';

const { isRecorded, options } = given();
const directory = ownDirectory('mutants');
compile('mutants', directory);
linkBeside(directory);
const name = 'detect-mutants';
const record = isRecorded ? { name, head: headOf('mutants', ['src', 'test']) } : undefined;
const merge = isRecorded ? ['--merge', pathOf(`bench/results/${name}.txt`)] : [];
// Not where it was ended before its time.
const isWhole = (printed) => printed.includes(' mutants are found');
run(`${directory}/test/mutants/cli.js`, [...options, ...merge], record, isWhole);
