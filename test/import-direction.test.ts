import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** The flow, left to right: a file imports from its own place or from further left. */
const layers: readonly string[] = [
  'base',
  'config',
  'snapshot',
  'memory',
  'sketch',
  'series',
  'source',
  'kafka',
  'decode',
  'formats',
  'registry',
  'assemble',
  'convert',
  'topics',
  'window',
  'baseline',
  'detect',
  'compare',
  'sink',
  'ingest',
  'alert',
  'backtest',
  'views',
  'workers',
  'roles',
  'generate',
  'local',
  'pipeline.ts',
  'cli',
  'main.ts',
];

/** Folders that are told the time and drawn their numbers, and ask nobody. */
const pureLayers = new Set([
  'memory',
  'snapshot',
  'sketch',
  'series',
  'decode',
  'formats',
  'assemble',
  'window',
  'baseline',
  'detect',
  'compare',
  'generate',
]);
const pureModules = new Set(['node:buffer', 'node:crypto', 'protobufjs', 'zod']);
const impure =
  /\bDate\.now\(|\bMath\.random\(|\bperformance\.now\(|\bnew Date\(\)|\bprocess\.(env|hrtime|argv|cwd|on)\b/;

/** Packages that one folder alone may know, so that it alone changes when they do. */
const keepers: Readonly<Record<string, readonly string[]>> = {
  kafkajs: ['kafka'],
  snappy: ['kafka'],
  'lz4-napi': ['kafka'],
  fzstd: ['kafka'],
  '@clickhouse/client': ['sink'],
  'prom-client': ['base'],
  pino: ['base'],
  undici: ['alert'],
  yaml: ['config'],
  commander: ['cli', 'main.ts'],
  nodemailer: ['alert'],
  'csv-parse': ['convert'],
  saxes: ['convert'],
  protobufjs: ['formats'],
};

const root = fileURLToPath(new URL('../src/', import.meta.url));

interface Source {
  /** Relative to src/. */
  readonly path: string;
  readonly layer: string;
  readonly code: string;
  readonly imports: readonly string[];
}

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .sort()
  .map((path) => {
    const code = withoutComments(readFileSync(join(root, path), 'utf8'));
    return { path, layer: layerOf(path), code, imports: importsOf(code) };
  });

function layerOf(path: string): string {
  return path.split('/')[0] ?? path;
}

/** Comments may name what code may not. Strings that hold "//" lose their ends, which no rule reads. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/[^\n]*/g, '$1');
}

/** Everything a file imports, re-exports or loads later, types included. */
function importsOf(code: string): string[] {
  const found = code.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? '');
}

/** What breaks a rule, one line each. */
function offences(rule: (source: Source) => readonly string[]): string[] {
  return sources.flatMap((source) => rule(source).map((what) => `${source.path}: ${what}`));
}

/** Each circle that a walk along the imports comes back on, as "a -> b -> a". */
function circlesIn(importsOfFile: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (file: string, trail: readonly string[]) => {
    const from = trail.indexOf(file);
    if (from >= 0) found.push([...trail.slice(from), file].join(' -> '));
    if (from >= 0 || done.has(file)) return;
    for (const next of importsOfFile.get(file) ?? []) walk(next, [...trail, file]);
    done.add(file);
  };
  for (const file of importsOfFile.keys()) walk(file, []);
  return found;
}

describe('the test itself', () => {
  it('finds a circle of files', () => {
    const files = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['a']],
    ]);
    expect(circlesIn(files)).toEqual(['a -> b -> c -> a']);
  });

  it('sees imports in every form', () => {
    const code = `
      import a from 'a';
      import type { B } from "b";
      import {
        c,
      } from './c.ts';
      import 'd';
      export { e } from 'e';
      export * from 'f';
      const g = await import('g');
    `;
    expect(importsOf(code)).toEqual(['a', 'b', './c.ts', 'd', 'e', 'f', 'g']);
  });

  it('finds files in every layer, and their imports', () => {
    expect(new Set(sources.map(({ layer }) => layer))).toEqual(new Set(layers));
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(400);
  });
});

describe('imports', () => {
  it('point only leftwards along the flow', () => {
    const rank = (layer: string) => layers.indexOf(layer);
    const wrong = offences(({ path, layer, imports }) =>
      imports
        .filter((name) => name.startsWith('.'))
        .map((name) => relative(root, join(root, dirname(path), name)))
        .filter((target) => !(rank(layerOf(target)) >= 0 && rank(layerOf(target)) <= rank(layer))),
    );
    expect(wrong).toEqual([]);
  });

  it('of files form no circle', () => {
    const importsOfFile = new Map(
      sources.map(({ path, imports }) => [
        path,
        imports
          .filter((name) => name.startsWith('.'))
          .map((name) => relative(root, join(root, dirname(path), name))),
      ]),
    );
    expect(circlesIn(importsOfFile)).toEqual([]);
  });

  it('name their file, with its ending', () => {
    const wrong = offences(({ imports }) =>
      imports.filter((name) => name.startsWith('.') && !/\.(ts|json)$/.test(name)),
    );
    expect(wrong).toEqual([]);
  });

  it('of a package stay with its keeper', () => {
    const wrong = offences(({ layer, imports }) =>
      imports.filter((name) => keepers[name] !== undefined && !keepers[name].includes(layer)),
    );
    expect(wrong).toEqual([]);
  });

  it('of the core reach no file, network, process, timer, Kafka or ClickHouse', () => {
    const wrong = offences(({ layer, imports }) =>
      imports.filter(
        (name) => pureLayers.has(layer) && !name.startsWith('.') && !pureModules.has(name),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the core', () => {
  it('gets the time and its random numbers', () => {
    const wrong = offences(({ layer, code }) =>
      pureLayers.has(layer) ? code.split('\n').filter((line) => impure.test(line)) : [],
    );
    expect(wrong).toEqual([]);
  });
});

describe('the alert’s state and the sink’s encoding', () => {
  it.each([
    'sink/chunks/encode-chunk.ts',
    'sink/chunks/chunk.ts',
    'ingest/commit-metadata.ts',
    'ingest/start-position.ts',
    'ingest/chunk/open-chunk.ts',
  ])('are pure too: %s', (path) => {
    const source = sources.find((candidate) => candidate.path === path);
    expect(source?.imports.filter((name) => !name.startsWith('.') && name !== 'zod')).toEqual([]);
    expect(source?.code).not.toMatch(impure);
  });
});
