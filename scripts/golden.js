// Compares what users and other versions see with what is recorded in test/golden/recorded/: all of it, also
// what takes minutes. With --record it is recorded anew: `git diff` then shows what has changed. Files of the
// tests may be named, as for vitest.

import { readdirSync, rmSync } from 'node:fs';
import { given, pathOf, run } from './recorded-run.js';

const { isRecorded, options } = given();
const folders = ['test/golden', 'test/scenarios', 'test/e2e/golden'];
const files = options.length > 0 ? options : folders;
const recorded = pathOf('test/golden/recorded');

// What no test writes any more must not stay.
if (isRecorded && options.length === 0) {
  for (const name of readdirSync(recorded)) rmSync(`${recorded}/${name}`, { recursive: true });
}
process.env.TAILMARK_GOLDEN = isRecorded ? 'record' : 'compare';
run(pathOf('node_modules/vitest/vitest.mjs'), ['run', ...files]);
