// npm run eval [-- --seeds tuning|reporting] [--from N] [--weeks N] [--faulty N] [--family NAME …] [--json]
// [--verbose], or npm run eval -- MODE [OPTION …] with a mode of those below: builds a copy of the code,
// which later changes to it do not reach, and runs test/eval/main.ts in it, or that of the mode. See
// docs/detection.md. With --record what it prints is kept, with machine and commit, in
// bench/results/eval.txt, or eval-MODE.txt.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const options = process.argv.slice(2);
const isRecorded = options.includes('--record');
const passed = options.filter((option) => option !== '--record');
const mode = ['nab', 'real', 'incidents', 'kinds', 'drift'].find((name) => name === passed[0]);

const copy = path(`dist.eval.${process.pid}`);
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
mkdirSync(copy);
for (const name of ['node_modules', 'package.json', 'sql', 'bin']) {
  symlinkSync(path(name), `${copy}/${name}`);
}
const compiler = [path('node_modules/.bin/tsc'), '-p', path('tsconfig.eval.json'), '--noCheck'];
execFileSync(process.execPath, [...compiler, '--outDir', copy], { stdio: 'inherit' });

// Of the code as it is now: a run may take an hour.
const ran = head();
const child = spawn(
  process.execPath,
  [
    '--enable-source-maps',
    `${copy}/test/eval/${mode ?? '.'}/main.js`,
    ...passed.slice(mode === undefined ? 0 : 1),
  ],
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
  if (code === 0 && isRecorded)
    writeFileSync(path(`bench/results/${mode ? `eval-${mode}` : 'eval'}.txt`), `${ran}${printed}`);
  process.exitCode = code ?? 1;
});

/** What was run, when, of which code, on what. */
function head() {
  const git = (...args) =>
    execFileSync('git', ['-C', path('.'), ...args], { encoding: 'utf8' }).trim();
  // Where the data lies on one machine is of no interest.
  const shown = passed.map((option, i) => (passed[i - 1] === '--data' ? 'DIR' : option));
  return [
    `eval ${shown.join(' ')}`.trim(),
    `${new Date().toISOString().slice(0, 10)}, commit ${git('rev-parse', '--short', 'HEAD')}`,
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
    '',
    '',
  ].join('\n');
}
