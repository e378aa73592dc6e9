import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { compareSchema, readMigrations, statementsOf } from '../../../src/sink/migrate/migrate.ts';

describe('statementsOf', () => {
  it.each([
    ['nothing', '', []],
    ['comments alone', '-- a\n-- b;\n', []],
    ['one without an end', 'SELECT 1', ['SELECT 1']],
    ['several', 'SELECT 1;\nSELECT 2;\n', ['SELECT 1', 'SELECT 2']],
    ['spaces after the semicolon', 'SELECT 1; \t\nSELECT 2', ['SELECT 1', 'SELECT 2']],
    ['a semicolon within a line', "SELECT ';' AS a;\n", ["SELECT ';' AS a"]],
    ['empty statements', ';\n;\nSELECT 1;\n;\n', ['SELECT 1']],
    ['many lines', 'SELECT\n  1\n;\n', ['SELECT\n  1']],
  ])('of %s', (_, text, expected) => {
    expect(statementsOf(text)).toEqual(expected);
  });

  it('keeps the comments of a statement with it', () => {
    expect(statementsOf('-- why\nSELECT 1;\n-- the end\n')).toEqual(['-- why\nSELECT 1']);
  });
});

describe('compareSchema', () => {
  const known = [{ name: '0001_a' }, { name: '0002_b' }];
  const compare = (...recorded: [string, string][]) =>
    compareSchema(new Map(recorded), known, 'tailmark');

  it('finds every migration missing in an empty database, and none in a migrated one', () => {
    expect(compare()).toEqual({ missing: ['0001_a', '0002_b'], newer: undefined });
    expect(compare(['0001_a', 'x'], ['0002_b', 'y'])).toEqual({ missing: [], newer: undefined });
  });

  it('takes a migration that was begun and not finished for a missing one', () => {
    expect(compare(['0001_a', 'x'], ['0002_b', ''])).toEqual({
      missing: ['0002_b'],
      newer: undefined,
    });
  });

  it.each([
    ['applied', 'z'],
    ['begun', ''],
  ])(
    'refuses a schema in which a later version has %s a migration, and names both',
    (_, checksum) => {
      const { newer } = compare(['0001_a', 'x'], ['0002_b', 'y'], ['0003_c', checksum]);
      expect(newer).toMatchObject({
        code: 'TAILMARK_SCHEMA_NEWER',
        exitCode: 78,
        message:
          'Cannot use database tailmark as its schema must not be newer than this version of tailmark: ' +
          'it has migration 0003_c, and the last one known here is 0002_b',
      });
    },
  );
});

describe('readMigrations', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tailmark-migrations-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('reads numbered files in order, with the checksum of their text', () => {
    const second = '-- more\nCREATE TABLE b (x Int8) ENGINE = Memory;\n';
    writeFileSync(join(folder, '0002_b.sql'), second);
    writeFileSync(join(folder, '0001_a.sql'), 'SELECT 1;\nSELECT 2;\n');
    writeFileSync(join(folder, 'users.sql'), 'SELECT 3');
    writeFileSync(join(folder, '0003_c.txt'), 'SELECT 4');
    const migrations = readMigrations(pathToFileURL(`${folder}/`));
    expect(migrations).toMatchObject([
      { name: '0001_a', statements: ['SELECT 1', 'SELECT 2'] },
      {
        name: '0002_b',
        checksum: createHash('sha256').update(second).digest('hex'),
        statements: ['-- more\nCREATE TABLE b (x Int8) ENGINE = Memory'],
      },
    ]);
  });

  it('of this version are numbered without a gap, and every statement creates or changes something', () => {
    const migrations = readMigrations();
    expect(migrations.length).toBeGreaterThan(0);
    migrations.forEach(({ name, statements }, i) => {
      expect(Number(name.slice(0, 4)), name).toBe(i + 1);
      for (const statement of statements) {
        expect(statement.replace(/--[^\n]*\n/g, '').trim(), name).toMatch(
          /^(CREATE (OR REPLACE )?(TABLE|VIEW|MATERIALIZED VIEW)|ALTER TABLE|DROP TABLE|DROP VIEW|INSERT INTO) /,
        );
      }
    });
  });

  it("give every table of a chunk's rows a window of tokens", () => {
    const tables = readMigrations()
      .flatMap(({ statements }) => statements)
      .filter((statement) => /ENGINE = (Aggregating)?MergeTree\b/.test(statement));
    expect(tables.length).toBeGreaterThanOrEqual(8);
    for (const table of tables) {
      const window = /non_replicated_deduplication_window = (\d+)/.exec(table)?.[1];
      expect(Number(window), table.slice(0, 200)).toBeGreaterThanOrEqual(100_000);
    }
  });

  it('put every chunk into one partition of the table of landings', () => {
    const url = new URL('../../../sql/0015_landings.sql', import.meta.url);
    const landing = statementsOf(readFileSync(url, 'utf8')).filter((statement) =>
      statement.includes('CREATE TABLE chunk_landings'),
    );
    expect(landing).toHaveLength(1);
    expect(landing[0]).not.toContain('PARTITION BY');
  });
});

describe('the table flushes', () => {
  it('is made once: its id names the store in commits, and groups would be refused with another', () => {
    const remakes =
      /\b(?:CREATE OR REPLACE|DROP|RENAME|EXCHANGE|DETACH)\b[^;]*\bTABLES?\b[^;]*\bflushes\b/;
    const statements = readMigrations().flatMap((migration) => migration.statements);
    const bare = statements.map((statement) => statement.replace(/--[^\n]*/g, ''));
    expect(bare.filter((statement) => /CREATE TABLE flushes\b/.test(statement))).toHaveLength(1);
    expect(bare.filter((statement) => remakes.test(statement))).toEqual([]);
    expect('EXCHANGE TABLES flushes AND flushes_next').toMatch(remakes);
  });
});
