// npm run sim -- --seed N | [--seeds A..B] [--jobs N] [--json] [--record]: builds a copy of the code,
// isolated from later changes, and runs test/sim/main.ts in it. See docs/explained/simulator.md. With
// --record and no bad seed, the output is kept, with machine and commit, in bench/results/sim.txt.

import { builtCopy, given, headOf, run } from '../../scripts/recorded-run.js';

const { isRecorded, options } = given();
if (options.includes('--mutant')) {
  // With a known bug planted.
  await import('./mutants/run.js');
} else {
  const head = () => headOf(`sim ${options.join(' ')}`, ['src', 'sql', 'test/sim']);
  const record = isRecorded ? { name: 'sim', head: head() } : undefined;
  run(`${builtCopy('sim')}/test/sim/main.js`, options, record);
}
