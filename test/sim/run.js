// npm run sim -- --seed N | [--seeds A..B] [--jobs N] [--json] [--record]: builds a copy of the code,
// which later changes to it do not reach, and runs test/sim/main.ts in it. See docs/simulator.md.
// With --record, where no seed is bad, what it prints is kept, with machine and commit, in
// bench/results/sim.txt.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const options = process.argv.slice(2);
const isRecorded = options.includes('--record');
const passed = options.filter((option) => option !== '--record');

// With a known bug planted: see test/sim/mutants/run.js.
if (options.includes('--mutant')) {
  const runner = [path('test/sim/mutants/run.js'), ...options];
  process.exit(spawnSync(process.execPath, runner, { stdio: 'inherit' }).status ?? 1);
}

const copy = path(`dist.sim.${process.pid}`);
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
mkdirSync(copy);
// What the code finds relative to itself lies beside it here, too.
for (const name of ['node_modules', 'package.json', 'sql', 'bin']) {
  symlinkSync(path(name), `${copy}/${name}`);
}
const compiler = [path('node_modules/.bin/tsc'), '-p', path('tsconfig.sim.json'), '--noCheck'];
execFileSync(process.execPath, [...compiler, '--outDir', copy], { stdio: 'inherit' });

const child = spawn(
  process.execPath,
  ['--enable-source-maps', `${copy}/test/sim/main.js`, ...passed],
  { stdio: ['ignore', isRecorded ? 'pipe' : 'inherit', 'inherit'] },
);
// A terminal tells both; the run ends first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
let printed = '';
child.stdout?.on('data', (bytes) => {
  printed += bytes;
  process.stdout.write(bytes);
});
child.on('close', (code) => {
  if (code === 0 && isRecorded) writeFileSync(path('bench/results/sim.txt'), `${head()}${printed}`);
  process.exitCode = code ?? 1;
});

/** What was run, when, of which code, on what. */
function head() {
  const git = (...args) =>
    execFileSync('git', ['-C', path('.'), ...args], { encoding: 'utf8' }).trim();
  const changed =
    git('status', '--porcelain', '--', 'src', 'sql', 'test/sim') === ''
      ? ''
      : ' with local changes';
  return [
    `sim ${passed.join(' ')}`.trim(),
    `${new Date().toISOString().slice(0, 10)}, commit ${git('rev-parse', '--short', 'HEAD')}${changed}`,
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
    '',
    '',
  ].join('\n');
}
