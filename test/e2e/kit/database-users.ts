import type {
  LocalClickHouseUser,
  SettingConstraint,
} from '../../../src/local/clickhouse/clickhouse-config.ts';
import { statementsOf } from '../../../src/sink/migrate/migrate.ts';

/** The users of sql/users.sql with their grants and limits, as the server's own file of users has them. */
export function databaseUsersOf(sql: string): LocalClickHouseUser[] {
  const users = new Map<string, { settings: string; grants: string[] }>();
  for (const statement of statementsOf(sql)) {
    const line = statement
      .replaceAll(/^--.*$/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim();
    const [, name, settings = ''] =
      /^CREATE USER IF NOT EXISTS (\w+) IDENTIFIED WITH \S+ BY '[^']+'(?: SETTINGS (.+))?$/.exec(
        line,
      ) ?? [];
    const [, grant = '', grantee = ''] = /^(GRANT .*) TO (\w+)$/.exec(line) ?? [];
    if (name !== undefined) users.set(name, { settings, grants: [] });
    else users.get(grantee)?.grants.push(grant);
  }
  return [...users].map(([name, { settings, grants }]) => {
    const user = { name, password: `of-${name}`, grants };
    return settings === '' ? user : { ...user, ...settingsOf(settings) };
  });
}

/** `readonly = 2 READONLY, max_threads = 2 MIN 1 MAX 2`, as values and constraints. */
function settingsOf(text: string) {
  const settings: Record<string, string> = {};
  const constraints: Record<string, SettingConstraint> = {};
  for (const part of text.split(', ')) {
    const [, name = '', value = '', min, max] =
      /^(\w+) = (\d+) (?:READONLY|MIN (\d+) MAX (\d+))$/.exec(part) ?? [];
    if (name === '') throw new Error(`sql/users.sql has a setting of another form: ${part}`);
    settings[name] = value;
    constraints[name] = min === undefined || max === undefined ? 'readonly' : { min, max };
  }
  return { settings, constraints };
}
