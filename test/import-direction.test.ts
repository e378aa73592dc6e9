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
  'contract',
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
  'contract',
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
const pageRoot = fileURLToPath(new URL('../ui/src/', import.meta.url));

interface Source {
  /** Relative to src/, or to ui/src/. */
  readonly path: string;
  readonly layer: string;
  readonly code: string;
  readonly imports: readonly string[];
}

const sources = sourcesIn(root);
const pageSources = sourcesIn(pageRoot);

function sourcesIn(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => {
      const code = withoutComments(readFileSync(join(folder, path), 'utf8'));
      return { path, layer: layerOf(path), code, imports: importsOf(code) };
    });
}

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

/** Files of the same tree that a file imports. */
function targetsOf({ path, imports }: Source): string[] {
  return imports
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(root, join(root, dirname(path), name)));
}

function graphOf(tree: readonly Source[]): Map<string, readonly string[]> {
  return new Map(tree.map((source) => [source.path, targetsOf(source)]));
}

/** The imports of folders: those of their files from other folders. Files beside all folders stand for themselves. */
function foldersOf(importsOfFile: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const folderOf = (path: string) => (path.includes('/') ? dirname(path) : path);
  const folders = new Map<string, string[]>();
  for (const [path, targets] of importsOfFile) {
    const folder = folderOf(path);
    const others = targets.map(folderOf).filter((other) => other !== folder);
    folders.set(folder, [...(folders.get(folder) ?? []), ...others]);
  }
  return folders;
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

  it('finds a circle of folders, where files form none', () => {
    const files = new Map([
      ['config/load-config.ts', ['config/read/read-yaml.ts']],
      ['config/read/read-yaml.ts', ['config/config-error.ts']],
      ['config/config-error.ts', ['base/failure.ts']],
      ['main.ts', ['config/load-config.ts', 'pipeline.ts']],
    ]);
    expect(circlesIn(files)).toEqual([]);
    expect(circlesIn(foldersOf(files))).toEqual(['config -> config/read -> config']);
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
    const wrong = offences((source) =>
      targetsOf(source).filter(
        (target) => !(rank(layerOf(target)) >= 0 && rank(layerOf(target)) <= rank(source.layer)),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    ['src', sources],
    ['ui/src', pageSources],
  ])('of %s form no circle, neither of files nor of folders', (_, tree) => {
    const files = graphOf(tree);
    expect(circlesIn(files)).toEqual([]);
    expect(circlesIn(foldersOf(files))).toEqual([]);
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

describe('the interface', () => {
  it('imports types, and values of pure modules', () => {
    const ui = fileURLToPath(new URL('../ui/src/', import.meta.url));
    const files = readdirSync(ui, { recursive: true, encoding: 'utf8' });
    const shared = files
      .filter((path) => /\.tsx?$/.test(path))
      .flatMap((path) => {
        const code = withoutComments(readFileSync(join(ui, path), 'utf8'));
        const withoutTypes = code.replace(/^(import|export) type\b[^;]*;/gm, '');
        return importsOf(withoutTypes).map((name) => join(ui, dirname(path), name));
      })
      .filter((path) => path.startsWith(root))
      .map((path) => relative(root, path));
    expect([...new Set(shared)].sort()).toEqual([
      'base/dimensions.ts',
      'base/time.ts',
      'config/duration.ts',
      'contract/as-of.ts',
      'contract/blame-split.ts',
      'contract/compared-times.ts',
      'contract/few-requests.ts',
      'contract/format.ts',
      'contract/measure-unit.ts',
      'contract/objectives/objective-text.ts',
      'contract/worst-series.ts',
      'series/attributes.ts',
      'series/value-text.ts',
    ]);
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
    'ingest/open-range.ts',
  ])('are pure too: %s', (path) => {
    const source = sources.find((candidate) => candidate.path === path);
    expect(source?.imports.filter((name) => !name.startsWith('.') && name !== 'zod')).toEqual([]);
    expect(source?.code).not.toMatch(impure);
  });
});
