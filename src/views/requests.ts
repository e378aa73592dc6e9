import { traceLink } from '../alert/message/links.ts';
import { inRequestOrder, type StageKind, tokenSizes } from '../base/dimensions.ts';
import type { StageTable } from '../contract/stage-table.ts';
import type { ClickHouseClient } from '../sink/client/clickhouse.ts';
import { readRows } from '../sink/client/read-query.ts';
import type { RequestRow, RequestsAnswer } from './answers/requests.ts';
import { answeredRange, parametersOf, partParameters, type Question } from './question.ts';
import { unknownNames } from './unknown-name.ts';
import { viewRows } from './view-rows.ts';
import { windowsOf } from './window-states.ts';

export interface RequestsQuestion extends Question {
  /** Most requests that are listed. */
  readonly limit: number;
  /** Stage in whose time the requests are ordered; '' for their total. */
  readonly stage: string;
  readonly traceUrl: string | undefined;
  readonly stages: StageTable;
}

/** Quantiles whose typical requests are shown with the slowest ones. */
const typicalLevels = [0.5, 0.99] as const;

type Text = 'status' | 'version' | 'request_type' | 'region' | 'host' | 'trace_id' | 'request_id';

interface Row extends Readonly<Record<Text, string>> {
  readonly at_ms: string | number;
  readonly total_ms: number;
  readonly stage_ms: number;
  readonly is_failed: number;
  readonly cold_start: boolean;
  readonly stages_ms: Readonly<Record<string, number>>;
}

interface TypicalRow {
  readonly q: number;
  readonly total_ms: number;
  readonly stage_means: readonly (readonly [string, number])[];
}

/**
 * The slowest requests of a range with their stages, by one stage or by their total, and the times of median
 * and p99 requests in them.
 *
 * @throws UnknownName
 */
export async function requestsView(
  client: ClickHouseClient,
  question: RequestsQuestion,
): Promise<RequestsAnswer> {
  const { limit, stage, traceUrl, range, bounds, filters, stages } = question;
  const [slowest, failed, typical] = await Promise.all([
    readSlowest(client, { filters, range, stage, limit, stages }),
    readRows<FailedRow>(client, 'view_failed', parametersOf(question)),
    viewRows<TypicalRow>(client, 'view_typical_requests', {
      ...parametersOf(question),
      levels: typicalLevels,
    }),
  ]);
  const isEmpty = typical.rows.length === 0 || slowest.rows.length === 0;
  const unknown = isEmpty ? await unknownNames(client, filters, stage) : {};
  const whole = { ...range, stepSeconds: range.toSeconds - range.fromSeconds };
  return {
    range: answeredRange(range, false),
    windows: windowsOf(whole, bounds),
    rows: slowest.rows.map((row) => requestOf(row, traceUrl, stages)),
    failed: failedOf(failed),
    typical: typicalLevels.map((q) => {
      const row = typical.rows.find((each) => each.q === q);
      if (row === undefined) return { q, total_ms: null, stages: [], milestones: [] };
      // Groups come in any order.
      const means = row.stage_means.toSorted(([a], [b]) => (a < b ? -1 : 1));
      return { q, total_ms: row.total_ms, ...partedOf(means, stages) };
    }),
    sql: slowest.sql,
    ...unknown,
  };
}

/** The slowest requests that are kept, and then as many of those that failed. */
export function readSlowest(
  client: ClickHouseClient,
  {
    stage,
    limit,
    stages,
    ...of
  }: Pick<RequestsQuestion, 'filters' | 'range' | 'stage' | 'limit' | 'stages'>,
) {
  const { table: _, ...parameters } = parametersOf(of);
  return viewRows<Row>(client, 'view_requests', {
    ...{ ...parameters, stage, limit },
    ...partParameters(stages),
  });
}

interface FailedRow {
  readonly status: string;
  readonly requests: string | number;
}

function failedOf(rows: readonly FailedRow[]): RequestsAnswer['failed'] {
  return rows
    .map(({ status, requests }) => ({ status, requests: Number(requests) }))
    .filter(({ requests }) => requests > 0)
    .toSorted((a, b) => (a.status < b.status ? -1 : 1));
}

function requestOf(row: Row, trace_url: string | undefined, table: StageTable): RequestRow {
  const { at_ms, stages_ms, is_failed: _, ...rest } = row;
  return {
    ...rest,
    at: new Date(Number(at_ms)).toISOString(),
    trace_url: row.trace_id === '' ? null : (traceLink(row.trace_id, { trace_url })?.url ?? null),
    ...partedOf(Object.entries(stages_ms), table),
    input_tokens: stages_ms[tokenSizes.input] ?? null,
    output_tokens: stages_ms[tokenSizes.output] ?? null,
  };
}

/** Parts in the order of the request, and milestones, the first that it reaches first; no measures. */
function partedOf(stages: readonly (readonly [string, number])[], table: StageTable) {
  const of = (kind: StageKind) =>
    stages.filter(([stage]) => table.kindOf(stage) === kind).map(([stage, ms]) => ({ stage, ms }));
  return {
    stages: inRequestOrder(of('part')),
    milestones: of('milestone').toSorted((a, b) => a.ms - b.ms || (a.stage < b.stage ? -1 : 1)),
  };
}
