import { describe, expect, it } from 'vitest';
import { clickHouseUsersConfig } from '../../../src/local/clickhouse/clickhouse-config.ts';

describe('clickHouseUsersConfig', () => {
  it('refuses a name that is no XML element', () => {
    expect(() => clickHouseUsersConfig([{ name: 'a b', password: '', grants: [] }])).toThrow(
      "a user's name must be plain; it is a b",
    );
  });

  it('escapes passwords', () => {
    const xml = clickHouseUsersConfig([{ name: 'u', password: '<&">', grants: [] }]);
    expect(xml).toContain('<password>&lt;&amp;&quot;&gt;</password>');
  });

  it('limits what a user may set', () => {
    const xml = clickHouseUsersConfig([
      {
        ...{ name: 'u', password: '', grants: [], settings: { readonly: '2', max_threads: '2' } },
        constraints: { readonly: 'readonly', max_threads: { min: '1', max: '2' } },
      },
    ]);
    expect(xml.replaceAll(/\s+/g, '')).toContain(
      '<u><readonly>2</readonly><max_threads>2</max_threads><constraints><readonly><readonly></readonly></readonly>' +
        '<max_threads><min>1</min><max>2</max></max_threads></constraints></u>',
    );
  });
});
