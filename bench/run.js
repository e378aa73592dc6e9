// npm run bench -- NAME [OPTIONS] [--record]: builds and runs bench/NAME.ts. With --record, what it
// prints is kept, with machine and commit, in bench/results/NAME.txt. Without a name it lists the benches.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const [name, ...given] = process.argv.slice(2);
const isRecorded = given.includes('--record');
const options = given.filter((option) => option !== '--record');
const names = readdirSync(path('bench'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length));

if (name === undefined || !names.includes(name)) {
  process.stderr.write(`Which bench? npm run bench -- ${names.join(' | ')}\n`);
  process.exit(64);
}

execFileSync(path('node_modules/.bin/tsc'), ['-p', path('tsconfig.bench.json'), '--noCheck'], {
  stdio: 'inherit',
});
// What the code finds relative to itself lies beside it here, too.
for (const folder of ['sql', 'bin', 'node_modules', 'package.json']) {
  if (!existsSync(path(`dist.bench/${folder}`)))
    symlinkSync(path(folder), path(`dist.bench/${folder}`));
}

const git = (...args) =>
  execFileSync('git', ['-C', path('.'), ...args], { encoding: 'utf8' }).trim();
const changed =
  git('status', '--porcelain', '--', 'src', 'bench/*.ts') === '' ? '' : ' with local changes';
let kept = [
  `bench ${name} ${options.join(' ')}`.trim(),
  `${new Date().toISOString().slice(0, 10)}, commit ${git('rev-parse', '--short', 'HEAD')}${changed}`,
  `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  '',
  '',
].join('\n');
process.stdout.write(kept);
const child = spawn(
  process.execPath,
  ['--enable-source-maps', path(`dist.bench/bench/${name}.js`), ...options],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
child.stdout.on('data', (bytes) => {
  kept += bytes;
  process.stdout.write(bytes);
});
child.on('close', (code) => {
  if (code === 0 && isRecorded) writeFileSync(path(`bench/results/${name}.txt`), kept);
  process.exitCode = code ?? 1;
});
