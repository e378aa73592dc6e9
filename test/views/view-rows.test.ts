import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pastedSql } from '../../src/views/view-rows.ts';

describe('a query to copy', () => {
  it('has its values as literals that end where they end', () => {
    const name = `a'b\\c"\n\u2028<script>\u202e; DROP TABLE x --`;
    expect(pastedSql('SELECT {name:String}', { name })).toBe(
      `SELECT 'a\\'b\\\\c"\\x0a\\xe2\\x80\\xa8<script>\u202e; DROP TABLE x --'`,
    );
  });

  it('has lists, numbers, truth and tables as ClickHouse reads them', () => {
    const query =
      '-- Why.\nSELECT {n:UInt32}, {list:Array(String)}, {is:Bool}\n  -- More.\nFROM {table:Identifier}\n';
    const parameters = { n: 5, list: ["a'", 'b'], is: false, table: 'latency_1m' };
    expect(pastedSql(query, parameters)).toBe("SELECT 5, ['a\\'', 'b'], false\nFROM latency_1m");
  });

  it.each(
    readdirSync(new URL('../../sql/queries/', import.meta.url)).filter((file) =>
      file.startsWith('view_'),
    ),
  )('of %s has no comment within a line, so that none is left in it', (file) => {
    const text = readFileSync(new URL(`../../sql/queries/${file}`, import.meta.url), 'utf8');
    expect(text.split('\n').filter((line) => /\S.*--/.test(line))).toEqual([]);
    expect(pastedSql(text, {})).not.toContain('--');
  });
});
