// npm run fuzz -- [--of timing|otlp|spans|records|secrets] [--messages N] [--minutes M] [--seed S]
// [--round R] [--record]: builds and runs test/fuzz/fuzz.ts, up to so many messages or minutes.
// `otlp` is spans as events, `spans` those of the assembler, `records` Avro, Protobuf and JSON,
// `secrets` answers of servers that quote one.
// The same seed gives the same messages; --round replays one round of 2,000, as a failure prints it.
// --record keeps what it prints, with machine and commit, in bench/results/fuzz.txt or fuzz-otlp.txt.

import { symlinkSync } from 'node:fs';
import { builtCopy, given, headOf, pathOf, run } from '../../scripts/recorded-run.js';

const { isRecorded, options } = given();
const subject = options[options.indexOf('--of') + 1];
const name = options.includes('--of') && subject !== 'timing' ? `fuzz-${subject}` : 'fuzz';
const record = isRecorded ? { name, head: headOf(`fuzz ${options.join(' ')}`) } : undefined;
const copy = builtCopy('fuzz');
// Recorded messages, and mappings of the docs.
symlinkSync(pathOf('test/fixtures'), `${copy}/test/fixtures`);
symlinkSync(pathOf('docs'), `${copy}/docs`);
run(`${copy}/test/fuzz/fuzz.js`, options, record);
