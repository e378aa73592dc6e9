// npm run sim:mutants [-- --record] | [-- --mutant NAME [--seeds A..B | --seed N]]: plants known
// bugs, one at a time, and runs seeds until some find it. Exits with 1 if a bug survives them all.
// --seed N with --mutant NAME prints every event of the run. --noted runs only the seeds that
// found-by.json has. --record notes those that are found there, and keeps the table, with machine
// and commit, in bench/results/sim-mutants.txt.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const options = process.argv.slice(2);
const isRecorded = options.includes('--record');

// A copy, which later changes to the code do not reach.
const directory = path(`dist.sim-mutants.${process.pid}`);
const base = `${directory}/base`;
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
mkdirSync(base, { recursive: true });
for (const name of ['node_modules', 'package.json', 'sql', 'bin']) {
  symlinkSync(path(name), `${base}/${name}`);
}
const compiler = [path('node_modules/.bin/tsc'), '-p', path('tsconfig.sim.json'), '--noCheck'];
execFileSync(process.execPath, [...compiler, '--outDir', base], { stdio: 'inherit' });

const child = spawn(process.execPath, [`${base}/test/sim/mutants/cli.js`, ...options], {
  stdio: ['ignore', isRecorded ? 'pipe' : 'inherit', 'inherit'],
});
// A terminal tells both; the runs end first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
let printed = '';
child.stdout?.on('data', (bytes) => {
  printed += bytes;
  process.stdout.write(bytes);
});
child.on('close', (code) => {
  // Not where it was ended before its time.
  if (isRecorded && printed.includes(' mutants are found')) {
    writeFileSync(path('bench/results/sim-mutants.txt'), `${head()}${printed}`);
  }
  process.exitCode = code ?? 1;
});

/** What was run, when, of which code, on what. */
function head() {
  const commit = execFileSync('git', ['-C', path('.'), 'rev-parse', '--short', 'HEAD'], {
    encoding: 'utf8',
  }).trim();
  return [
    `sim:mutants ${options.join(' ')}`,
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}`,
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
    '',
    '',
  ].join('\n');
}
