import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// A checkout in small: the real bin/prepare.js, stand-ins for npm and the compiler that write down
// that they ran.

let root: string;
const path = (...names: string[]) => join(root, ...names);
const lock = JSON.stringify({ packages: { '': {}, 'node_modules/a': { version: '1.0.0' } } });
const longAgo = new Date(Date.UTC(2020, 0, 1));

function program(file: string, script: string): void {
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tailmark-prepare-'));
  for (const name of ['src/base', 'ui/src', 'node_modules/.bin', 'tools', 'tmp']) {
    mkdirSync(path(name), { recursive: true });
  }
  const bin = fileURLToPath(new URL('../../bin/', import.meta.url));
  cpSync(join(bin, 'prepare.js'), path('bin', 'prepare.js'));
  writeFileSync(path('package.json'), '{"type":"module"}');
  for (const name of ['tsconfig.json', 'tsconfig.build.json']) writeFileSync(path(name), '{}');
  for (const name of ['src/main.ts', 'src/base/a.ts', 'ui/src/app.tsx']) {
    writeFileSync(path(name), '');
  }
  writeFileSync(path('package-lock.json'), lock);
  writeFileSync(path('node_modules', '.package-lock.json'), lock);
  // "tsc -p tsconfig.build.json --outDir DIR"
  program(
    path('node_modules', '.bin', 'tsc'),
    `echo tsc >> runs; mkdir -p "$4"; echo built > "$4/main.js"`,
  );
  // "vite build ui --outDir DIR"
  program(
    path('node_modules', '.bin', 'vite'),
    'mkdir -p "$4"; echo "$*" > vite; echo page > "$4/index.html"',
  );
  program(
    path('tools', 'npm'),
    'echo "npm $*" >> runs; cp package-lock.json node_modules/.package-lock.json',
  );
  for (const name of ['src/main.ts', 'src/base/a.ts', 'src/base', 'src', 'tsconfig.json']) {
    utimesSync(path(name), longAgo, longAgo);
  }
  for (const name of ['ui/src/app.tsx', 'ui/src', 'ui']) utimesSync(path(name), longAgo, longAgo);
  utimesSync(path('tsconfig.build.json'), longAgo, longAgo);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function prepare(): Promise<{ code: number; out: string; err: string }> {
  const env = { PATH: `${path('tools')}:/usr/bin:/bin`, TMPDIR: path('tmp') };
  const child = spawn(process.execPath, [path('bin', 'prepare.js')], { env });
  let out = '';
  let err = '';
  child.stdout.on('data', (part) => {
    out += part;
  });
  child.stderr.on('data', (part) => {
    err += part;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}

const runs = () => (existsSync(path('runs')) ? readFileSync(path('runs'), 'utf8') : '');

describe('bin/prepare.js', () => {
  it('builds what is not built, once, and keeps standard output for the command', async () => {
    expect(await prepare()).toEqual({ code: 0, out: '', err: 'Building.\n' });
    expect(await prepare()).toEqual({ code: 0, out: '', err: '' });
    expect(runs()).toBe('tsc\n');
    expect(readdirSync(root).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
    expect(readdirSync(path('tmp'))).toEqual([]);
  });

  it.each([
    [
      'a source is saved',
      () => utimesSync(path('src/base/a.ts'), Date.now(), Date.now() / 1000 + 9),
    ],
    ['a source is removed', () => rmSync(path('src/base/a.ts'))],
    ['the interface changes', () => utimesSync(path('ui/src'), 1, Date.now() / 1000 + 9)],
    ['the built interface is gone', () => rmSync(path('dist/ui'), { recursive: true })],
    ['the settings change', () => utimesSync(path('tsconfig.json'), 1, Date.now() / 1000 + 9)],
  ])('builds again when %s', async (_name, change) => {
    await prepare();
    change();
    expect((await prepare()).err).toBe('Building.\n');
    expect(runs()).toBe('tsc\ntsc\n');
  });

  it('builds once when several start at the same moment', async () => {
    const all = await Promise.all([prepare(), prepare(), prepare()]);
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(runs()).toBe('tsc\n');
  });

  it('fails with 70 and keeps the last good build when src/ does not compile', async () => {
    await prepare();
    program(path('node_modules', '.bin', 'tsc'), 'echo "src/main.ts(1,1): error"; exit 2');
    utimesSync(path('src/main.ts'), 1, Date.now() / 1000 + 9);
    const { code, out, err } = await prepare();
    expect([code, out]).toEqual([70, '']);
    expect(err).toContain('src/main.ts(1,1): error\n');
    expect(err).toContain('Cannot start as src/ must compile: the errors are above.');
    expect(readFileSync(path('dist', 'main.js'), 'utf8')).toBe('built\n');
  });

  it('fails with 70 and keeps the last good build when ui/ does not build', async () => {
    await prepare();
    program(path('node_modules', '.bin', 'vite'), 'echo "app.tsx: error"; exit 1');
    utimesSync(path('ui/src'), 1, Date.now() / 1000 + 9);
    const { code, out, err } = await prepare();
    expect([code, out]).toEqual([70, '']);
    expect(err).toContain('app.tsx: error\n');
    expect(err).toContain('Cannot start as ui/ must compile: the errors are above.');
    expect(readFileSync(path('dist', 'ui', 'index.html'), 'utf8')).toBe('page\n');
  });

  it('installs when node_modules/ is missing or another version is wanted', async () => {
    writeFileSync(path('node_modules', '.package-lock.json'), '{"packages":{}}');
    utimesSync(path('node_modules', '.package-lock.json'), longAgo, longAgo);
    expect((await prepare()).err).toMatch(/^Installing dependencies \(npm ci\)/);
    expect(runs()).toBe('npm ci --no-audit\ntsc\n');
  });

  it('does not install when package-lock.json is newer but says the same', async () => {
    utimesSync(path('node_modules', '.package-lock.json'), longAgo, longAgo);
    await prepare();
    expect(runs()).toBe('tsc\n');
  });

  it('fails with 69 when npm ci fails', async () => {
    rmSync(path('node_modules', '.package-lock.json'));
    program(path('tools', 'npm'), 'exit 3');
    const { code, err } = await prepare();
    expect(code).toBe(69);
    expect(err).toContain('Cannot install dependencies as npm ci must succeed: it ended with 3.');
  });

  it('takes over from one that was killed while it prepared', async () => {
    await prepare();
    rmSync(path('dist'), { recursive: true });
    const dead = spawn(process.execPath, ['-e', '0']);
    await once(dead, 'exit');
    // The lock's name depends on the checkout: learn it from one that holds it.
    program(path('node_modules', '.bin', 'tsc'), `ls tmp > held; mkdir "$4"; echo > "$4/main.js"`);
    await prepare();
    const held = readFileSync(path('held'), 'utf8').trim();
    writeFileSync(path('tmp', held), String(dead.pid));
    rmSync(path('dist'), { recursive: true });
    expect(await prepare()).toEqual({ code: 0, out: '', err: 'Building.\n' });
  });

  it('does nothing where there are no sources', async () => {
    rmSync(path('src'), { recursive: true });
    rmSync(path('node_modules'), { recursive: true });
    expect(await prepare()).toEqual({ code: 0, out: '', err: '' });
    expect(runs()).toBe('');
  });
});
