// npm run eval [-- --seeds tuning|reporting] [--from N] [--weeks N] [--faulty N] [--family NAME …] [--json]
// [--verbose], or npm run eval -- MODE [OPTION …] with a mode of those below: builds a copy of the code,
// which later changes to it do not reach, and runs test/eval/main.ts in it, or that of the mode. See
// docs/detection.md. With --record what it prints is kept, with machine and commit, in
// bench/results/eval.txt, or eval-MODE.txt.

import { builtCopy, given, headOf, run } from '../../scripts/recorded-run.js';

const { isRecorded, options } = given();
const mode = ['nab', 'real', 'incidents', 'kinds', 'drift'].find((name) => name === options[0]);
// Where the data lies on one machine is of no interest.
const shown = options.map((option, i) => (options[i - 1] === '--data' ? 'DIR' : option));
const name = mode === undefined ? 'eval' : `eval-${mode}`;
// Of the code as it is now: a run may take an hour.
const record = isRecorded ? { name, head: headOf(`eval ${shown.join(' ')}`) } : undefined;
const main = `${builtCopy('eval')}/test/eval/${mode ?? '.'}/main.js`;
run(main, mode === undefined ? options : options.slice(1), record);
