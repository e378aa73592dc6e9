import type { ClickHouseClient } from '@clickhouse/client';
import { readRows } from './client/read-query.ts';

/** A problem of the ledger, or of a stored chunk, and its location. */
export interface LedgerProblem {
  readonly kind: LedgerProblemKind;
  readonly group_id: string;
  readonly topic: string;
  readonly partition: number;
  /** The log that the offsets are of; '' where rows alone are known. */
  readonly log_id: string;
  /** Start of the affected chunk. */
  readonly start_offset: number;
  /** The affected offsets [from_offset, to_offset). */
  readonly from_offset: number;
  readonly to_offset: number;
  /** Offsets (gap, overlap, counted_twice, removed_unread), events (conservation, removed) or samples (others). */
  readonly amount: number;
  readonly detail: string;
}

/** A problem as the queries in sql/queries/ return it. */
export interface ProblemFacts extends Omit<LedgerProblem, 'detail'> {
  readonly end_offset: number;
  /** The other chunk, or run of chunks, with the same offsets. */
  readonly other_start_offset: number;
  readonly other_end_offset: number;
  readonly other_group_id: string;
  /** Expected and actual amounts, where `amount` is their difference. */
  readonly due: number;
  readonly had: number;
}

const range = (f: Facts) => `[${f.from_offset}, ${f.to_offset})`;
const chunk = (f: Facts) => `[${f.start_offset}, ${f.end_offset})`;
const other = (f: Facts) => `[${f.other_start_offset}, ${f.other_end_offset})`;

type Facts = Omit<ProblemFacts, 'kind'>;

/** Descriptions of problems, by kind. */
const details = {
  gap: (f) =>
    `offsets ${range(f)} are in no chunk: ${chunk(f)} follows what ended at ${f.from_offset}`,
  overlap: (f) => `offsets ${range(f)} are in two chunks: ${other(f)} and ${chunk(f)}`,
  conservation: (f) => `chunk ${chunk(f)}: consumed ${f.due}, accounted for ${f.had}`,
  empty_range: (f) => `chunk ${chunk(f)} holds no offset`,
  loss: (f) => `chunk ${chunk(f)} lacks ${f.amount} of its ${f.due} samples`,
  duplicate: (f) => `chunk ${chunk(f)} has ${f.amount} samples too many`,
  unrecorded: (f) =>
    `the ${f.amount} samples of the chunk at offset ${f.from_offset} are stored, its ledger row is not`,
  abandoned: (f) =>
    `the ${f.amount} samples of the chunk at offset ${f.from_offset} are stored, its ledger row is not, and nobody finishes it: is its log still consumed?`,
  removed: (f) =>
    `offsets ${range(f)}: ${f.amount} of ${f.due} events were removed from Kafka before they were stored`,
  removed_unread: (f) =>
    `offsets ${range(f)}: up to ${f.amount} records were removed from Kafka before they were read`,
  counted_twice: (f) => `offsets ${range(f)} are counted by group ${f.other_group_id} as well`,
} as const satisfies Record<string, (facts: Facts) => string>;

export type LedgerProblemKind = keyof typeof details;

/** Adds the description to a problem. */
export function ledgerProblem(facts: ProblemFacts): LedgerProblem {
  const { kind, group_id, topic, partition, log_id, amount } = facts;
  const { start_offset, from_offset, to_offset } = facts;
  const where = { group_id, topic, partition, log_id, start_offset, from_offset, to_offset };
  return { kind, ...where, amount, detail: details[kind](facts) };
}

/** Events that a chunk had counted, and offsets that nobody had read: one record each, at most. */
export interface Removed {
  readonly events: number;
  readonly offsets: number;
}

/** `12 events and up to 30 records were removed from Kafka before they were stored`. */
export function removedText({ events, offsets }: Removed): string {
  const known = `${events} ${events === 1 ? 'event' : 'events'}`;
  const most = `up to ${offsets} ${offsets === 1 ? 'record' : 'records'}`;
  const amounts = offsets === 0 ? known : events === 0 ? most : `${known} and ${most}`;
  const verb = events + offsets === 1 ? 'was' : 'were';
  return `${amounts} ${verb} removed from Kafka before ${verb === 'was' ? 'it was' : 'they were'} stored`;
}

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

export type ProblemQuery =
  | 'ledger_problems'
  | 'removed_records'
  | 'chunk_problems'
  | 'abandoned_chunks'
  | 'counted_twice';

/** Runs a query for problems. Their number is bounded, so memory does not grow with the ledger. */
export async function readProblems(
  client: ClickHouseClient,
  name: ProblemQuery,
  params: Readonly<Record<string, string | number | boolean>>,
): Promise<FoundProblems> {
  const rows = await readRows<Record<string, string | number>>(client, name, {
    limit: PROBLEMS_OF_A_KIND,
    ...params,
  });
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
      log_id: String(row.log_id ?? ''),
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
