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
});
