// npm run fuzz -- [--of timing|otlp] [--messages N] [--seed S] [--round R] [--record]: builds and runs
// test/fuzz/fuzz.ts.
// The same seed gives the same messages; --round replays one round of 2,000, as a failure prints it.
// --record keeps what it prints, with machine and commit, in bench/results/fuzz.txt,
// or fuzz-otlp.txt.

import { builtCopy, given, headOf, run } from '../../scripts/recorded-run.js';

const { isRecorded, options } = given();
const subject = options[options.indexOf('--of') + 1];
const name = options.includes('--of') && subject !== 'timing' ? `fuzz-${subject}` : 'fuzz';
const record = isRecorded ? { name, head: headOf(`fuzz ${options.join(' ')}`) } : undefined;
run(`${builtCopy('fuzz')}/test/fuzz/fuzz.js`, options, record);
