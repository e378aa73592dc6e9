import { failedProbe, type ProbeFinding } from '../base/probe-finding.ts';
import type { Config } from '../config/schema.ts';
import { type ClickHouseClient, clickHouseError, openClickHouse } from './clickhouse.ts';
import { pendingMigrations } from './migrate.ts';
import { readQuery } from './read-query.ts';

/** Whether ClickHouse answers, lets us in, and has this version's tables: a finding each. */
export async function probeClickHouse(config: Config): Promise<ProbeFinding[]> {
  const { clickhouse } = config;
  const server = openClickHouse(clickhouse, { useDatabase: false });
  try {
    const result = await server.query({
      query: 'SELECT version() AS version',
      format: 'JSONEachRow',
    });
    const version = (await result.json<{ version: string }>())[0]?.version ?? '';
    const findings: ProbeFinding[] = [
      { ok: true, what: 'ClickHouse', detail: `${version} at ${clickhouse.url}` },
    ];
    findings.push(await probeSchema(clickhouse));
    return findings;
  } catch (error) {
    return [failedProbe('ClickHouse', clickHouseError(error, 'reach ClickHouse', clickhouse))];
  } finally {
    await server.close();
  }
}

/** Tables whose deduplication is off or remembers little, with what they remember. */
async function forgetfulTables(client: ClickHouseClient): Promise<string[]> {
  const result = await client.query({
    query: readQuery('short_token_windows'),
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ table_name: string; tokens_kept: string | number }>();
  return rows.map((row) => `${row.table_name} (${row.tokens_kept})`);
}

async function probeSchema(config: Config['clickhouse']): Promise<ProbeFinding> {
  const what = `database ${config.database}`;
  const client = openClickHouse(config);
  try {
    const pending = await pendingMigrations(client);
    if (pending.length > 0) {
      return {
        ok: false,
        what,
        detail: `${pending.length} migration(s) not applied: ${pending.join(', ')}`,
        hint: 'Run `tailmark migrate`.',
      };
    }
    const forgetful = await forgetfulTables(client);
    if (forgetful.length === 0) return { ok: true, what, detail: 'every migration is applied' };
    return {
      ok: false,
      what,
      detail: `remembers too few tokens to drop a chunk that is sent again: ${forgetful.join(', ')}`,
      hint: 'ALTER TABLE … MODIFY SETTING non_replicated_deduplication_window = 100000 on each.',
    };
  } catch (error) {
    return failedProbe(what, clickHouseError(error, 'read the schema', config));
  } finally {
    await client.close();
  }
}
