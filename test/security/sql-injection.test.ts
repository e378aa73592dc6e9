import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sqlTextsIn } from './sql-texts.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const below = (folder: string, end: string) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(end))
    .map((path) => `${folder}${path}`)
    .sort();

/**
 * The only texts with something put into them, and why each is safe. Whatever else a statement
 * needs goes along as a query parameter.
 */
const allowed: Readonly<Record<string, string>> = {
  "src/sink/chunks/chunk-store.ts: chunkColumns.join(', ')": 'names in the code',
  'src/local/clickhouse/clickhouse-server.ts: name': 'an escaped name, for the local server only',
  'src/contract/sql.ts: table': 'one of two names in the code; shown, not run',
  "src/contract/sql.ts: conditions.join(' AND ')": 'quoted by quoteSql; shown, not run',
  'src/detect/pipeline/pipeline-event.ts: quoteSql(groupId)': 'quoted by quoteSql; shown, not run',
  'src/cli/demo/explore-text.ts: clickhouse.url': 'shown, not run',
  'src/cli/demo/explore-text.ts: clickhouse.database': 'shown, not run',
  'src/cli/demo/explore-text.ts: plot.model': 'shown, not run: a name in the code',
  'src/sink/migrate/migrate.ts: database': 'shown, not run: letters, digits and _ by its setting',
  'src/sink/migrate/migrate.ts: values': 'shown, not run: names and checksums of our files',
  'src/sink/chunks/chunk-store.ts: structureOf(chunkColumnTypes)':
    'names and types of the columns of a table of ours, as the table function wants them',
};

describe('SQL in the code', () => {
  it('is not built from strings: what is put into it are constants', () => {
    const used = below('src/', '.ts').flatMap((path) =>
      sqlTextsIn(read(path)).flatMap(({ holes }) => holes.map((hole) => `${path}: ${hole}`)),
    );
    expect(used.filter((hole) => !Object.hasOwn(allowed, hole))).toEqual([]);
    expect(Object.keys(allowed).filter((hole) => !used.includes(hole))).toEqual([]);
  });

  it('would be found if it were', () => {
    const holes = (source: string) => sqlTextsIn(source).map((found) => found.holes);
    expect(holes('query: `SELECT x FROM t WHERE a = ${value}`')).toEqual([['value']]);
    expect(holes("q = 'SELECT x FROM t WHERE a = ' + value;")).toEqual([['value;']]);
    expect(holes("q = prefix + 'ALTER TABLE t DELETE'")).toEqual([['x']]);
    expect(holes("q = 'SELECT x ' + 'FROM t'")).toEqual([]);
    expect(holes('// SELECT x FROM ${t}\nconst a = `INSERT INTO t`;')).toEqual([[]]);
    expect(holes('log(`a ${f(`DROP TABLE ${t}`)}`)')).toEqual([['f(`DROP TABLE ${t}`)'], ['t']]);
  });

  it('is given to the client as a text, a file of sql/queries, or a name from this list', () => {
    const names = [
      ...['statement', 'idempotent(statement)', 'readQuery(query)', 'readQuery(name)'],
      // A constant of src/sink/client/query-settings.ts.
      'settingsInForce',
    ];
    const given = below('src/', '.ts').flatMap((path) =>
      [...read(path).matchAll(/^\s+query: (.+?),?$/gm)].map(
        ([, value = '']) => `${path}: ${value}`,
      ),
    );
    const isPlain = (value: string) =>
      /: (['`]|readQuery\('[a-z_]+'\))/.test(value) ||
      /: (TailsQuery|SidesQuery|('[a-z_]+'( \| )?)+|string);?$/.test(value) ||
      names.some((name) => value.endsWith(`: ${name}`));
    expect(given.length).toBeGreaterThan(10);
    expect(given.filter((value) => !isPlain(value))).toEqual([]);
  });
});

describe('SQL in files', () => {
  it.each(below('sql/', '.sql'))('%s takes values as typed parameters only', (path) => {
    const text = read(path).replaceAll(/--[^\n]*/g, '');
    expect(
      [...text.matchAll(/\{[^}]*\}/g)].flat().filter((p) => !/^\{\w+:[A-Z][\w(), ]*\}$/.test(p)),
    ).toEqual([]);
    expect(text).not.toMatch(/\$\{|%s|\?\?/);
  });

  it.each(below('sql/', '.sql'))('%s reaches nothing outside the server', (path) => {
    expect(read(path)).not.toMatch(
      /\b(url|file|remote|remoteSecure|s3|mysql|postgresql|executable)\s*\(/i,
    );
  });
});
