import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(read('package.json')) as Manifest;
/** Instructions, each on one line, without comments. */
const instructions = read('deploy/Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line.trim() !== '');
const fromContext = instructions
  .filter((line) => /^COPY (?!--from)/.test(line))
  .flatMap((line) => line.split(/\s+/).slice(1, -1));
const stages = instructions
  .join('\n')
  .split(/^FROM /m)
  .slice(1);
const image = stages.at(-1) ?? '';

describe('deploy/Dockerfile', () => {
  it.each(fromContext)('copies %s, which exists and is let through', (path) => {
    expect(existsSync(new URL(path, root))).toBe(true);
    const rules = read('.dockerignore').split('\n');
    expect(rules).toContain(`!${path.split('/')[0]}`);
    expect(rules).not.toContain(path);
  });

  it('keeps everything else out', () => {
    const rules = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(rules[0]).toBe('*');
    const letThrough = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
    const copied = fromContext.map((path) => path.split('/')[0] ?? '');
    expect(letThrough.toSorted()).toEqual([...new Set(copied)].toSorted());
  });

  it('takes into the image what a package of tailmark holds', () => {
    const targets = [...image.matchAll(/^COPY .* \.\/(\w*)\/?$/gm)].map((match) => match[1]);
    expect(targets).toEqual(expect.arrayContaining([...manifest.files, 'node_modules']));
    expect(image).not.toMatch(/\bsrc\b/);
  });

  it('builds with what compiles, and without the engine', () => {
    const list = /const building = (\[.*?\]);/.exec(stages[1] ?? '')?.[1] ?? '[]';
    const building = JSON.parse(list.replaceAll("'", '"')) as string[];
    expect(building).toEqual(expect.arrayContaining(['typescript', '@types/node', 'vite']));
    expect(building).not.toContain('chdb');
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(building));
    expect(manifest.scripts.build).toMatch(/^tsc -p tsconfig\.build\.json && vite build ui /);
  });

  it('builds with all that the interface imports', () => {
    const imports = readdirSync(new URL('ui/src/', root), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .flatMap((name) => [...read(`ui/src/${name}`).matchAll(/from '((?:@[\w-]+\/)?[\w-]+)/g)])
      .map((match) => match[1] ?? '');
    expect(imports).toContain('preact');
    const missing = imports.filter((name) => !stages[1]?.includes(`'${name}'`));
    expect([...new Set(missing)]).toEqual([]);
  });

  it('does not run as root, and starts what exists', () => {
    expect(image).toMatch(/^USER 1000:1000$/m);
    const json = /^ENTRYPOINT (\[.*\])$/m.exec(image)?.[1] ?? '[]';
    const entrypoint = JSON.parse(json) as string[];
    expect(entrypoint[0]).toBe('node');
    const script = entrypoint.at(-1)?.replace(/^\/app\//, '') ?? '';
    expect(fromContext).toContain(script);
  });

  it('copies every file of bin/ that the entry imports', () => {
    const imports = [...read('bin/tailmark.js').matchAll(/from '\.\/([\w-]+\.js)'/g)];
    const wanted = imports.map((match) => `bin/${match[1]}`);
    expect(wanted.length).toBeGreaterThan(0);
    expect(fromContext).toEqual(expect.arrayContaining(wanted));
  });

  it.for([
    [200, 0],
    [503, 1],
    [null, 1],
  ])('asks for its health: where %s answers it exits with %s', async ([status, exitCode]) => {
    const json = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(image)?.[1] ?? '[]';
    const [, ...args] = JSON.parse(json) as string[];
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(status ?? 500).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (status === null) server.close();
    const env = { ...process.env, TAILMARK_HTTP_LISTEN: `0.0.0.0:${port}` };
    const [code] = await once(spawn(process.execPath, args, { env, stdio: 'ignore' }), 'exit');
    server.close();
    expect(code).toBe(exitCode);
    expect(asked).toEqual(status === null ? [] : ['/healthz']);
  });
});
