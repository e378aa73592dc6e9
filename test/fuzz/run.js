// npm run fuzz -- [--messages N] [--seed S] [--round R] [--record]: builds and runs test/fuzz/fuzz.ts.
// The same seed gives the same messages; --round replays one round of 2,000, as a failure prints it.
// --record keeps what it prints, with machine and commit, in bench/results/fuzz.txt.

import { builtCopy, given, headOf, run } from '../../scripts/recorded-run.js';

const { isRecorded, options } = given();
const record = isRecorded ? { name: 'fuzz', head: headOf(`fuzz ${options.join(' ')}`) } : undefined;
run(`${builtCopy('fuzz')}/test/fuzz/fuzz.js`, options, record);
