// npm run sim -- --seed N | --seeds A..B [--record]: builds and runs test/sim/cli.ts.
// A failing seed prints what is wrong; --seed N replays it with every event of the run.
// --record keeps what it prints, with machine and commit, in bench/results/sim.txt.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const options = process.argv.slice(2);
const optionOf = (name) =>
  options.includes(name) ? options[options.indexOf(name) + 1] : undefined;
const seed = optionOf('--seed');
const [from, to] =
  seed === undefined ? (optionOf('--seeds') ?? '1..200').split('..') : [seed, seed];
if (!/^\d+$/.test(from) || !/^\d+$/.test(to ?? '')) {
  process.stderr.write('Usage: npm run sim -- --seed N | --seeds A..B [--record]\n');
  process.exit(64);
}

execFileSync(path('node_modules/.bin/tsc'), ['-p', path('tsconfig.sim.json'), '--noCheck'], {
  stdio: 'inherit',
});
for (const name of ['node_modules', 'package.json', 'sql', 'bin']) {
  if (!existsSync(path(`dist.sim/${name}`))) symlinkSync(path(name), path(`dist.sim/${name}`));
}
const records = options.includes('--record');
const child = spawnSync(
  process.execPath,
  [
    '--enable-source-maps',
    path('dist.sim/test/sim/cli.js'),
    from,
    to,
    ...(seed === undefined ? [] : ['v']),
  ],
  { stdio: ['ignore', records ? 'pipe' : 'inherit', 'inherit'], encoding: 'utf8' },
);
if (records) {
  process.stdout.write(child.stdout);
  const commit = execFileSync('git', ['-C', path('.'), 'rev-parse', '--short', 'HEAD'], {
    encoding: 'utf8',
  }).trim();
  const head = [
    `sim --seeds ${from}..${to}`,
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}`,
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  ];
  writeFileSync(path('bench/results/sim.txt'), [...head, '', child.stdout].join('\n'));
}
process.exitCode = child.status ?? 1;
