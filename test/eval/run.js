// Entry of `npm run eval`: builds a copy of the code, isolated from later changes, and runs test/eval/main.ts
// in it, or that of a mode.

import { builtCopy, given, headOf, run } from '../../scripts/recorded-run.js';

const usage = `npm run eval [-- [MODE] [OPTION …]]

Counts false pages where nothing is wrong, and faults that are found, beside an oracle: docs/explained/evaluation.md.

without a mode   false-pages and faults, one after the other: --weeks N, --faulty N and what both take
false-pages      traffic with nothing wrong: --weeks N (4 of each family)
faults           traffic with faults: --faulty N (2 series of each family)
                 both --from N (the first seed, from 1 on), --family NAME …, --jobs N, --json,
                 --keep FILE (each outcome as it ends: with it a run that was ended goes on)
kinds            a fleet in which everything goes wrong: --count N, --calm N, --days N, --jobs N
mechanisms       servers, queues, caches: --weeks N, --faulty N, --from N, --group NAME, --name NAME, --keep FILE
drift            what gets slower by the day: --from N, --count N, --days N, --jobs N
incidents        what comes and goes, and what lasts: --count N
second-faults    a fault at another stage while one is open: --from N, --count N, --pairs N, --jobs N, --keep FILE
llm              servers of language models: --from N, --count N, --rate N, --past HOURS, --calm DAYS, --keep FILE
releases         versions that are slow from their first request, and that are not: --count N, --case NAME
verdict          two versions, and a verdict asked every minute: --count N, --case TEXT
verdict-stages   the same of a language model, whose TTFT and time per token decide too: --count N, --case TEXT
compare          two versions, or two ranges, compared once: --count N
real             recordings of events: --data DIR, --times N
nab              the Numenta Anomaly Benchmark: --data DIR

but real and nab --seeds tuning|reporting, --verbose (each as it ends)
all modes        --record (keep what is printed, with machine and commit, in bench/results/)
`;

const { isRecorded, options } = given();
if (options.includes('--help')) {
  process.stdout.write(usage);
  process.exit();
}
/** Modes and their arguments, by which those with the same script differ. */
const modes = {
  'false-pages': { script: '.', given: ['--faulty', '0'] },
  faults: { script: '.', given: ['--weeks', '0'] },
  ...Object.fromEntries(
    [
      'kinds',
      'mechanisms',
      'drift',
      'incidents',
      'second-faults',
      'llm',
      'releases',
      'verdict',
      'verdict-stages',
      'compare',
      'real',
      'nab',
    ].map((name) => [name, { script: name, given: [] }]),
  ),
};
const mode = Object.keys(modes).find((name) => name === options[0]);
if (isRecorded && mode === undefined) {
  process.stderr.write(`Which mode is to be recorded? ${Object.keys(modes).join(' | ')}\n`);
  process.exit(64);
}
// The path of the data on one machine is left out.
const shown = options.map((option, i) => (options[i - 1] === '--data' ? 'DIR' : option));
// Of the code as it is now: a run may last an hour.
const head = headOf(`eval ${shown.join(' ')}`, ['src', 'test/eval']);
const record = isRecorded ? { name: `eval-${mode}`, head } : undefined;
const { script, given: fixed } = modes[mode] ?? { script: '.', given: [] };
const main = `${builtCopy('eval')}/test/eval/${script}/main.js`;
run(main, [...(mode === undefined ? options : options.slice(1)), ...fixed], record);
