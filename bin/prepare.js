// Makes a checkout ready to run: dependencies as package-lock.json has them, and dist/ built from
// what is in src/. Does nothing, in a few milliseconds, when both are so, and nothing at all in an
// installed package or a container, which have no src/. `npm test` and the benches run this file;
// bin/tailmark.js imports it. Standard output belongs to the command that follows: all goes to
// standard error.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const at = (...names) => join(root, ...names);
const leastNode = [20, 19];
const lockPollMs = 100;

/** Returns the exit code: 0 when all is ready, else 69 or 70 after saying why. */
export function prepare() {
  if (!isNodeRecentEnough(process.versions.node)) {
    say(
      `Cannot start as Node must be ${leastNode.join('.')} or later: it is ${process.versions.node}. ` +
        'Install Node 24.',
    );
    return 69;
  }
  if (!existsSync(at('src'))) return 0;
  if (areDependenciesInstalled() && isBuilt()) return 0;
  // Others may be at it at this moment: look again when it is our turn.
  return underLock(() => {
    if (!areDependenciesInstalled()) {
      const code = installDependencies();
      if (code !== 0) return code;
    }
    return isBuilt() ? 0 : build();
  });
}

function isNodeRecentEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1]);
}

/** Whether node_modules/ is as package-lock.json says, by npm's own record of what it installed. */
function areDependenciesInstalled() {
  const wanted = at('package-lock.json');
  const installed = at('node_modules', '.package-lock.json');
  const wantedMs = modifiedMs(wanted);
  if (modifiedMs(installed) < 0) return false;
  if (modifiedMs(installed) >= wantedMs) return true;
  // Changing branches touches the file without changing it, and installing takes a minute.
  if (!sameVersions(readPackages(wanted), readPackages(installed))) return false;
  utimesSync(installed, new Date(), new Date());
  return true;
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}

function sameVersions(wanted, installed) {
  const names = Object.keys(wanted).filter((name) => name !== '');
  return (
    names.every((name) => {
      const { version, integrity, optional, devOptional, peer } = wanted[name];
      const found = installed[name];
      if (found === undefined) return Boolean(optional || devOptional || peer);
      return found.version === version && found.integrity === integrity;
    }) && Object.keys(installed).every((name) => Object.hasOwn(wanted, name))
  );
}

function installDependencies() {
  say('Installing dependencies (npm ci); the ClickHouse engine among them is large, once.');
  const { status, error } = spawnSync('npm', ['ci', '--no-audit'], { cwd: root, stdio: toStderr });
  if (status === 0) return 0;
  const why = error === undefined ? `it ended with ${status}` : `it failed with ${error.code}`;
  say(`Cannot install dependencies as npm ci must succeed: ${why}.`);
  return 69;
}

/** Whether dist/ is newer than every source, and than every directory of them: files may go too. */
function isBuilt() {
  const builtMs = modifiedMs(at('dist', 'main.js'));
  const settings = ['tsconfig.json', 'tsconfig.build.json'].map((name) => modifiedMs(at(name)));
  if (builtMs < 0 || settings.some((ms) => ms > builtMs)) return false;
  if (!existsSync(at('dist', 'ui', 'index.html'))) return false;
  return !hasNewer(at('src'), builtMs) && !hasNewer(at('ui'), builtMs);
}

function hasNewer(directory, ms) {
  if (modifiedMs(directory) > ms) return true;
  return readdirSync(directory, { withFileTypes: true }).some((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? hasNewer(path, ms) : modifiedMs(path) > ms;
  });
}

/** Builds beside dist/ and swaps, so that nobody ever imports half of it. */
function build() {
  say('Building.');
  const began = new Date();
  const next = at(`dist.${process.pid}.next`);
  const old = at(`dist.${process.pid}.old`);
  try {
    const problem =
      run('src/', 'tsc', ['-p', 'tsconfig.build.json', '--outDir', next], join(next, 'main.js')) ??
      run('ui/', 'vite', viteArgs(next), join(next, 'ui', 'index.html'));
    if (problem !== undefined) {
      say(problem);
      return 70;
    }
    // As old as the sources it was built from: what is saved during a build is newer than it.
    utimesSync(join(next, 'main.js'), began, began);
    if (existsSync(at('dist'))) renameSync(at('dist'), old);
    renameSync(next, at('dist'));
    return 0;
  } catch (error) {
    say(`Cannot start as dist/ must be writable: ${error.message}.`);
    return 70;
  } finally {
    rmSync(next, { recursive: true, force: true });
    rmSync(old, { recursive: true, force: true });
  }
}

function viteArgs(next) {
  return ['build', 'ui', '--outDir', join(next, 'ui'), '--emptyOutDir', '--logLevel', 'warn'];
}

/** Runs a compiler of `sources`, which must make a file; returns why they cannot be built. */
function run(sources, compiler, args, made) {
  const path = at('node_modules', '.bin', compiler);
  const { status, error } = spawnSync(path, args, { cwd: root, stdio: toStderr });
  if (status === 0 && existsSync(made)) return undefined;
  const why =
    error !== undefined
      ? `${relative(root, path)} failed with ${error.code}`
      : status === 0
        ? `${basename(made)} is missing`
        : 'the errors are above';
  return `Cannot start as ${sources} must compile: ${why}.`;
}

/** Runs `work` in one process at a time for this checkout. */
function underLock(work) {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const path = join(tmpdir(), `tailmark-prepare-${process.getuid?.() ?? 0}-${name}.lock`);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, String(process.pid));
  let isSaid = false;
  try {
    while (!tryLink(draft, path)) {
      const holder = readPid(path);
      if (holder === null) continue; // Released between the two calls.
      if (!isRunning(holder)) {
        rmSync(path, { force: true });
        continue;
      }
      if (!isSaid) say(`Waiting for process ${holder}, which prepares this checkout.`);
      isSaid = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockPollMs);
    }
  } finally {
    unlinkSync(draft);
  }
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readPid(path) {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -1;
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

const toStderr = ['ignore', 2, 2];

if (
  process.argv[1] !== undefined &&
  realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
) {
  process.exitCode = prepare();
}
