import { quoteSql } from '../contract/sql.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { repeatableSettings } from '../sink/client/query-settings.ts';
import { readQuery, rowsOf } from '../sink/client/read-query.ts';

type Value = string | number | boolean | readonly string[] | readonly number[];
export type ViewParameters = Readonly<Record<string, Value>>;

/**
 * Rows of sql/queries/<name>.sql, and the query with its parameters written in, to copy and run.
 *
 * @param isRepeatable whether quantiles must be the same each time, at the cost of more time.
 */
export async function viewRows<Row>(
  client: ClickHouseClient,
  name: `view_${string}` | 'mutes',
  parameters: ViewParameters,
  { isRepeatable = false } = {},
): Promise<{ rows: Row[]; sql: string }> {
  const { query, used } = listedQuantiles(readQuery(name), parameters);
  const rows = await rowsOf<Row>(client, query, used, isRepeatable ? repeatableSettings : {});
  const settings = isRepeatable ? '\nSETTINGS max_threads = 1' : '';
  return { rows, sql: `${pastedSql(query, used)}${settings}` };
}

/**
 * Writes `{quantiles:Float64}`, which stands for the levels of an aggregate function, as a parameter a level:
 * ClickHouse takes no array there.
 */
function listedQuantiles(query: string, { quantiles, ...others }: ViewParameters) {
  if (!Array.isArray(quantiles)) return { query, used: others };
  const levels = quantiles.map((q, i) => [`q${i}`, Number(q)] as const);
  const list = levels.map(([name]) => `{${name}:Float64}`).join(', ');
  const statement = query.replaceAll('{quantiles:Float64}', list);
  return { query: statement, used: { ...others, ...Object.fromEntries(levels) } };
}

/** A query with its parameters as literals, without its comments, on as few lines as it has. */
export function pastedSql(query: string, parameters: ViewParameters): string {
  return query
    .replaceAll(/^\s*--[^\n]*\n/gm, '')
    .replaceAll(/\{(\w+):([\w()]+)\}/g, (_, name: string, type: string) =>
      literal(parameters[name] ?? '', type),
    )
    .trim();
}

function literal(value: Value, type: string): string {
  if (type === 'Identifier') return String(value);
  if (typeof value === 'string') return quoteSql(value);
  // An empty array has elements of no type, which functions of them refuse.
  if (typeof value === 'object' && value.length === 0) return `CAST([], ${quoteSql(type)})`;
  if (typeof value === 'object') return `[${value.map((one) => literal(one, '')).join(', ')}]`;
  return String(value);
}
