import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/**
 * Least share of the files of src/ whose test is found by the file's name. It may only rise. The test is at
 * the same place in test/, or it names the file in a comment that begins with "Covers": one test of several
 * files, such as the variants of one contract, which runs most functions of each.
 */
const LEAST_SHARE = 0.55;

const root = fileURLToPath(new URL('../', import.meta.url));

/** TypeScript files below a folder, relative to the project. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(folder, file))
    .sort();
}

const readText = (file: string) => readFileSync(join(root, file), 'utf8');
const texts = new Map(
  [...filesBelow('src'), ...filesBelow('test')].map((file) => [file, readText(file)]),
);

/** A file that holds types alone is checked by the compiler. */
function hasCode(text: string): boolean {
  const statements = text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .matchAll(/^(?:export )?(?:default )?(?:abstract |async )?(\w+)/gm);
  return [...statements].some(([, word = '']) => !/^(import|type|interface|from)$/.test(word));
}

const sources = [...texts.keys()].filter(
  (file) => file.startsWith('src/') && hasCode(texts.get(file) ?? ''),
);
const tests = [...texts.keys()].filter((file) => file.endsWith('.test.ts'));

/** The files that a test says it covers. */
function coveredBy(text: string): string[] {
  const comments = text.matchAll(/^\/\/ Covers .*(?:\n\/\/ .*)*|^\/\*\* Covers [\s\S]*?\*\//gm);
  return [...comments].flatMap(([comment]) => comment.match(/src\/[\w./-]+\.ts/g) ?? []);
}

/** Everything that a file imports, and what that imports. */
function reachedFrom(file: string, seen = new Set<string>()): Set<string> {
  for (const [, name = ''] of (texts.get(file) ?? '').matchAll(
    /(?:from\s*|import\(\s*|import\s+)'(\.[^']+)'/g,
  )) {
    const target = relative(root, join(root, dirname(file), name));
    if (seen.has(target)) continue;
    seen.add(target);
    reachedFrom(target, seen);
  }
  return seen;
}

const covered = new Map(tests.map((test) => [test, coveredBy(texts.get(test) ?? '')]));
const mirror = (source: string) => source.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts');

describe('a file of src/', () => {
  it(`has a test that is found by its name: ${100 * LEAST_SHARE} % of them`, () => {
    const named = new Set([...covered.values()].flat());
    const without = sources.filter((source) => !texts.has(mirror(source)) && !named.has(source));
    expect(sources.length).toBeGreaterThan(800);
    const found = sources.length - without.length;
    const shown = `${found} of ${sources.length} files; not\n${without.join('\n')}`;
    expect(found / sources.length, shown).toBeGreaterThanOrEqual(LEAST_SHARE);
  });
});

describe('a test that names files', () => {
  it('imports them, or what imports them', () => {
    const wrong = [...covered].flatMap(([test, files]) => {
      const reached = files.length === 0 ? new Set() : reachedFrom(test);
      return files.filter((file) => !reached.has(file)).map((file) => `${test}: ${file}`);
    });
    expect(wrong).toEqual([]);
  });

  it('names none that has a test at its own place', () => {
    const wrong = [...covered].flatMap(([test, files]) =>
      files.filter((file) => texts.has(mirror(file))).map((file) => `${test}: ${file}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the test itself', () => {
  it('reads what a test covers', () => {
    const text = "// Covers src/a.ts, src/b/c.ts\n// and src/d.ts.\nimport 'e';\n// src/f.ts\n";
    expect(coveredBy(text)).toEqual(['src/a.ts', 'src/b/c.ts', 'src/d.ts']);
  });

  it.each([
    ['export interface A {\n  b: string;\n}\nexport type C = A;\n', false],
    ["import type { A } from 'a';\n/** A. */\ntype B =\n  | A;\n", false],
    ['export const a = 1;\n', true],
    ['const port = parentPort;\nport.on();\n', true],
    ['export async function a() {}\n', true],
  ])('knows a file with code: %j', (text, expected) => {
    expect(hasCode(text)).toBe(expected);
  });
});
