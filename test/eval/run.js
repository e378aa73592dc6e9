// What `npm run eval` does, or says: builds a copy of the code, which later changes to it do not reach, and runs
// test/eval/main.ts in it, or that of a mode.

import { builtCopy, given, headOf, run } from '../../scripts/recorded-run.js';

const usage = `npm run eval [-- [MODE] [OPTION …]]

Counts false pages where nothing is wrong, and faults that are found, beside an oracle: docs/detection.md.

without a mode   --weeks N (4 of each family with nothing wrong), --faulty N (2 with faults), --from N (the
                 first seed, from 1 on), --family NAME …, --jobs N, --json
kinds            a fleet in which everything goes wrong: --count N, --calm N, --days N, --jobs N
drift            what gets slower by the day: --from N, --count N, --days N, --jobs N
incidents        what comes and goes, and what lasts: --count N
real             recordings of events: --data DIR, --times N
nab              the Numenta Anomaly Benchmark: --data DIR

but real and nab --seeds tuning|reporting, --verbose (each as it ends)
all of them      --record (keep what is printed, with machine and commit, in bench/results/)
`;

const { isRecorded, options } = given();
if (options.includes('--help')) {
  process.stdout.write(usage);
  process.exit();
}
const mode = ['nab', 'real', 'incidents', 'kinds', 'drift'].find((name) => name === options[0]);
// Where the data lies on one machine is of no interest.
const shown = options.map((option, i) => (options[i - 1] === '--data' ? 'DIR' : option));
const name = mode === undefined ? 'eval' : `eval-${mode}`;
// Of the code as it is now: a run may take an hour.
const record = isRecorded ? { name, head: headOf(`eval ${shown.join(' ')}`) } : undefined;
const main = `${builtCopy('eval')}/test/eval/${mode ?? '.'}/main.js`;
run(main, mode === undefined ? options : options.slice(1), record);
