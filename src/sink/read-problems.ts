import type { ClickHouseClient } from '@clickhouse/client';
import { type LedgerProblem, type LedgerProblemKind, ledgerProblem } from './ledger-problem.ts';
import { readQuery } from './read-query.ts';

/** Limit of problems that are read per kind; the others are counted. */
const PROBLEMS_OF_A_KIND = 100;

/** Problems that a query found. */
export interface FoundProblems {
  /** The first ones of each kind, with the earliest server time that a query must include to find them. */
  readonly problems: readonly (LedgerProblem & { readonly oldestMs: number })[];
  /** Count and sum of all problems, by kind. */
  readonly kinds: ReadonlyMap<
    LedgerProblemKind,
    { readonly found: number; readonly total: number }
  >;
}

/** Runs a query for problems. Their number is bounded, so memory does not grow with the ledger. */
export async function readProblems(
  client: ClickHouseClient,
  query: 'ledger_problems' | 'chunk_problems' | 'counted_twice',
  params: Readonly<Record<string, string | number | boolean>>,
): Promise<FoundProblems> {
  const result = await client.query({
    query: readQuery(query),
    query_params: { limit: PROBLEMS_OF_A_KIND, ...params },
    format: 'JSONEachRow',
  });
  const rows = await result.json<Record<string, string | number>>();
  const kinds = new Map<LedgerProblemKind, { found: number; total: number }>();
  const problems = rows.map((row) => {
    const number = (name: string) => Number(row[name] ?? 0);
    const kind = row.kind as LedgerProblemKind;
    kinds.set(kind, { found: number('found'), total: number('total') });
    const problem = ledgerProblem({
      kind,
      group_id: String(row.group_id),
      topic: String(row.topic),
      partition: number('partition'),
      start_offset: number('start_offset'),
      end_offset: number('end_offset'),
      from_offset: number('from_offset'),
      to_offset: number('to_offset'),
      other_start_offset: number('other_start_offset'),
      other_end_offset: number('other_end_offset'),
      other_group_id: String(row.other_group_id ?? ''),
      amount: number('amount'),
      due: number('due'),
      had: number('had'),
    });
    return { ...problem, oldestMs: number('oldest_ms') };
  });
  return { problems, kinds };
}
