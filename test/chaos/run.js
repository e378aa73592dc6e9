// npm run chaos -- [OPTIONS]: builds a copy of the checkout, isolated from later changes, and runs
// test/chaos/main.ts in it. With --record, the output is kept, with machine and commit, in bench/results/.
// See docs/explained/chaos.md.

import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { compile, given, headOf, ownDirectory, pathOf, run } from '../../scripts/recorded-run.js';

const { isRecorded, options } = given();
const kind = ['silence', 'outage', 'pages', 'cluster'].find((each) =>
  options.includes(`--${each}`),
);
const name = kind === undefined ? 'chaos' : `chaos-${kind}`;
const parts = ['src', 'sql', 'test/chaos', 'test/e2e/kit'];
const head = headOf(`${name} ${options.join(' ')}`, parts);

// Laid out like an installed package: bin/ next to dist/, and no src/, so nothing is built a second time.
const copy = ownDirectory('chaos');
mkdirSync(`${copy}/js`);
for (const part of ['bin', 'sql', 'config', 'package.json']) {
  cpSync(pathOf(part), `${copy}/${part}`, { recursive: true });
  symlinkSync(`${copy}/${part}`, `${copy}/js/${part}`);
}
symlinkSync(`${copy}/js/src`, `${copy}/dist`);
compile('chaos', `${copy}/js`);

process.stdout.write(head);
run(`${copy}/js/test/chaos/main.js`, options, isRecorded ? { name, head } : undefined);
