// npm run chaos -- [OPTIONS]: builds a copy of the checkout, which later changes to it do not reach,
// and runs test/chaos/main.ts in it. With --record, what it prints is kept, with machine and commit,
// in bench/results/. See docs/chaos.md.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const options = process.argv.slice(2);
const isRecorded = options.includes('--record');
const passed = options.filter((option) => option !== '--record');
const name = passed.includes('--outage') ? 'chaos-outage' : 'chaos';

const git = (...args) =>
  execFileSync('git', ['-C', path('.'), ...args], { encoding: 'utf8' }).trim();
const changed =
  git('status', '--porcelain', '--', 'src', 'sql', 'test/chaos', 'test/e2e/kit') === ''
    ? ''
    : ' with local changes';
let kept = [
  `${name} ${passed.join(' ')}`.trim(),
  `${new Date().toISOString().slice(0, 10)}, commit ${git('rev-parse', '--short', 'HEAD')}${changed}`,
  `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  '',
  '',
].join('\n');

// As an installed package looks: bin/ beside dist/, and no src/, so nothing is built a second time.
const copy = path(`dist.chaos.${process.pid}`);
const removeCopy = () => rmSync(copy, { recursive: true, force: true });
process.on('exit', removeCopy);
mkdirSync(`${copy}/js`, { recursive: true });
for (const part of ['bin', 'sql', 'config', 'package.json']) {
  cpSync(path(part), `${copy}/${part}`, { recursive: true });
  symlinkSync(`${copy}/${part}`, `${copy}/js/${part}`);
}
symlinkSync(`${copy}/js/src`, `${copy}/dist`);
const compiler = [path('node_modules/.bin/tsc'), '-p', path('tsconfig.chaos.json'), '--noCheck'];
execFileSync(process.execPath, [...compiler, '--outDir', `${copy}/js`], { stdio: 'inherit' });

process.stdout.write(kept);
const child = spawn(
  process.execPath,
  ['--enable-source-maps', `${copy}/js/test/chaos/main.js`, ...passed],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
// A terminal tells both; the run ends its processes, and then itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.stdout.on('data', (bytes) => {
  kept += bytes;
  process.stdout.write(bytes);
});
child.on('close', (code) => {
  if (code === 0 && isRecorded) writeFileSync(path(`bench/results/${name}.txt`), kept);
  process.exitCode = code ?? 1;
});
