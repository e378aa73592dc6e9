// What `npm run bench`, `chaos`, `eval`, `fuzz` and `sim` have in common: they build the code, run a script
// of it, and with --record keep what it prints, with machine and commit, in bench/results/.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
/** What the code finds relative to itself. */
const beside = ['node_modules', 'package.json', 'sql', 'bin'];

/** Of a path in the checkout. */
export const pathOf = (relative) => fileURLToPath(new URL(relative, root));

/** What was asked for: whether to record, and all else. */
export function given(args = process.argv.slice(2)) {
  return {
    isRecorded: args.includes('--record'),
    options: args.filter((option) => option !== '--record'),
  };
}

/** Compiles tsconfig.NAME.json into a directory. */
export function compile(name, directory) {
  const compiler = [pathOf('node_modules/.bin/tsc'), '-p', pathOf(`tsconfig.${name}.json`)];
  execFileSync(process.execPath, [...compiler, '--noCheck', '--outDir', directory], {
    stdio: 'inherit',
  });
}

/** Puts what the code finds relative to itself beside it. */
export function linkBeside(directory) {
  for (const name of beside) {
    if (!existsSync(`${directory}/${name}`)) symlinkSync(pathOf(name), `${directory}/${name}`);
  }
}

/** An empty directory dist.NAME.PID, which is removed when this process ends. */
export function ownDirectory(name) {
  const directory = pathOf(`dist.${name}.${process.pid}`);
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(directory);
  return directory;
}

/** Builds a copy of the code by tsconfig.NAME.json, which later changes to it do not reach; where it is. */
export function builtCopy(name) {
  const copy = ownDirectory(name);
  linkBeside(copy);
  compile(name, copy);
  return copy;
}

/**
 * What was run, when, of which code, on what.
 *
 * @param parts of the checkout, of which a change that is not committed is said.
 */
export function headOf(title, parts = []) {
  const git = (...args) =>
    execFileSync('git', ['-C', pathOf('.'), ...args], { encoding: 'utf8' }).trim();
  const isChanged = parts.length > 0 && git('status', '--porcelain', '--', ...parts) !== '';
  const commit = `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with local changes' : ''}`;
  return [
    title.trim(),
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}`,
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
    '',
    '',
  ].join('\n');
}

/**
 * Runs a script, with its exit code as that of this process. A terminal's signals go to both: the script ends
 * first.
 *
 * @param record what to keep: `head`, and what is printed, in bench/results/NAME.txt; undefined for nothing.
 * @param isWhole whether what was printed is worth keeping.
 */
export function run(script, options, record, isWhole = (_printed, code) => code === 0) {
  const child = spawn(process.execPath, ['--enable-source-maps', script, ...options], {
    stdio: ['ignore', record === undefined ? 'inherit' : 'pipe', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  let printed = '';
  child.stdout?.on('data', (bytes) => {
    printed += bytes;
    process.stdout.write(bytes);
  });
  child.on('close', (code) => {
    if (record !== undefined && isWhole(printed, code)) {
      writeFileSync(pathOf(`bench/results/${record.name}.txt`), `${record.head}${printed}`);
    }
    process.exitCode = code ?? 1;
  });
}
