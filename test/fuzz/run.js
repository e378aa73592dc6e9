// npm run fuzz -- [--messages N] [--seed S] [--round R] [--record]: builds and runs test/fuzz/fuzz.ts.
// The same seed gives the same messages; --round replays one round of 2,000, as a failure prints it.
// --record keeps what it prints, with machine and commit, in bench/results/fuzz.txt.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const options = process.argv.slice(2);
const records = options.includes('--record');

execFileSync(path('node_modules/.bin/tsc'), ['-p', path('tsconfig.fuzz.json'), '--noCheck'], {
  stdio: 'inherit',
});
for (const name of ['node_modules', 'package.json']) {
  if (!existsSync(path(`dist.fuzz/${name}`))) symlinkSync(path(name), path(`dist.fuzz/${name}`));
}
const args = options.filter((option) => option !== '--record');
const child = spawnSync(
  process.execPath,
  ['--enable-source-maps', path('dist.fuzz/test/fuzz/fuzz.js'), ...args],
  { stdio: ['ignore', records ? 'pipe' : 'inherit', 'inherit'], encoding: 'utf8' },
);
if (records) {
  process.stdout.write(child.stdout);
  const commit = execFileSync('git', ['-C', path('.'), 'rev-parse', '--short', 'HEAD'], {
    encoding: 'utf8',
  }).trim();
  const head = [
    `fuzz ${args.join(' ')}`.trim(),
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}`,
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  ];
  if (child.status === 0) {
    writeFileSync(path('bench/results/fuzz.txt'), [...head, '', child.stdout].join('\n'));
  }
}
process.exitCode = child.status ?? 1;
