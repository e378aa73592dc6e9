import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const folders: readonly string[] = [
  ...['bench', 'bin', 'config', 'deploy', 'docs', 'kernel', 'scripts', 'sql', 'src', 'test', 'ui'],
];

/** Files of other projects that comments quote. */
const foreign = new Set(['packages/core/src/command.ts', 'src/data/CHDatasource.ts']);
/** Migrations that were applied never change, their comments included. */
const applied = /^sql\/\d+_/;

/** Files and folders of the project. */
const paths: readonly string[] = [
  ...readdirSync(root).filter((path) => !path.startsWith('.')),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => !/(^|\/)node_modules(\/|$)/.test(path))
      .map((path) => join(folder, path)),
  ),
];
const known = new Set(paths);
/** Every end of a path, from a folder's name on: "sink/verify.ts" is one of "src/sink/verify.ts". */
const ends = new Set(
  paths.flatMap((path) => path.split('/').map((_, at, parts) => parts.slice(at).join('/'))),
);

/** Comments of code and of SQL; pages as a whole. */
function commentsOf(path: string, text: string): string[] {
  if (path.endsWith('.md')) return [text];
  if (path.endsWith('.sql')) return [...text.matchAll(/--[^\n]*/g)].map(([comment]) => comment);
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g)].map(([comment]) => comment);
}

/** Paths from a folder of the project on, and names of TypeScript and SQL files, which may stand alone. */
const mentions = new RegExp(
  `(?<![\\w./@<*-])(?:(?:${folders.join('|')})/(?:[\\w.-]+/)*(?:[\\w-][\\w.-]*\\.(?:md|json|ya?ml))?|` +
    '(?:[\\w.-]+/)*[\\w-][\\w.-]*\\.(?:tsx?|sql))(?![\\w{*<$-])',
  'g',
);

/** Paths that a text names and the project has not. A name in capitals stands for any. */
function staleIn(path: string, text: string): string[] {
  const named = commentsOf(path, text).flatMap((comment) => comment.match(mentions) ?? []);
  return [...new Set(named)].filter((mention) => {
    const target = normalize(mention).replace(/\/$/, '');
    const isFile = known.has(join(dirname(path), target)) || ends.has(target);
    return !isFile && !foreign.has(mention) && !/\b[A-Z]{2,}\b/.test(mention);
  });
}

describe('paths', () => {
  it('in comments and pages are there', () => {
    const read = paths.filter(
      (path) =>
        /\.(tsx?|js|sql|md)$/.test(path) &&
        !/(^|\/)(results|fixtures|recorded)\//.test(path) &&
        path !== 'test/paths-in-comments.test.ts' &&
        !applied.test(path),
    );
    expect(read.length).toBeGreaterThan(1000);
    const stale = read.flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return staleIn(path, text).map((mention) => `${path}: ${mention}`);
    });
    expect(stale).toEqual([]);
  });

  it.each([
    ['src/a.ts', '/** As src/sink/nowhere.ts says. */', 'src/sink/nowhere.ts'],
    ['src/a.ts', 'run(); // see docs/nowhere/', 'docs/nowhere/'],
    ['src/views/a.ts', '// The query is nowhere.sql.', 'nowhere.sql'],
    ['sql/queries/a.sql', '-- Read by views/nowhere.ts.', 'views/nowhere.ts'],
    ['docs/a.md', 'See `src/nowhere.ts`.', 'src/nowhere.ts'],
  ])('in %s that lead nowhere are found', (path, text, expected) => {
    expect(staleIn(path, text)).toEqual([expected]);
  });

  it.each([
    ['src/a.ts', '/** As src/pipeline.ts and pipeline.ts say, in src/base/. */'],
    ['src/a.ts', "const path = 'src/nowhere.ts';"],
    ['bench/a.ts', '// Recorded in bench/results/NAME.txt by bench/NAME.ts.'],
  ])('in %s that lead somewhere are not: %s', (path, text) => {
    expect(staleIn(path, text)).toEqual([]);
  });
});
