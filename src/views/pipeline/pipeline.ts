import { cleanText } from '../../alert/message/clean-text.ts';
import type { Route } from '../../alert/routing/route.ts';
import { hourMs } from '../../base/time.ts';
import { durationText } from '../../contract/format.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import { readRows } from '../../sink/client/read-query.ts';
import { baseWindowMs } from '../../window/chunk-accumulator.ts';
import type { PipelineAnswer } from '../answers/pipeline.ts';
import { viewRows } from '../view-rows.ts';
import type { WindowBounds } from '../window-states.ts';
import { dueDeliveries } from './due-deliveries.ts';
import { ledgerState } from './ledger-state.ts';

export interface PipelineQuestion {
  readonly nowMs: number;
  /** The consumer group in the ledger, under which windows are evaluated too. */
  readonly groupId: string;
  readonly bounds: WindowBounds;
  /** Messages in Kafka that are not stored, by `topic/partition`; undefined where Kafka does not say. */
  readonly lagMessages: ReadonlyMap<string, number> | undefined;
  /** Events that this process has rejected, by reason: others may have rejected more. */
  readonly rejected: {
    readonly byReason: ReadonlyMap<string, number>;
    /** An hour ago, or the start of the process. */
    readonly sinceMs: number;
  };
  /** Series that this process evaluates; undefined where it stands by. */
  readonly series: { readonly evaluated: number; readonly waiting: number } | undefined;
  readonly routes: readonly Route[];
  /** `alert.give_up_after`. */
  readonly giveUpAfterMs: number;
  /** Problems that /readyz of this process reports. */
  readonly problems: readonly string[];
}

/** Reason of rejected events that other processes have rejected. */
const unknownReason = 'unknown';
const problemChars = 500;

type Counts = 'consumed' | 'aggregated' | 'rejected' | 'late' | 'unmapped';
type PartitionRow = Readonly<
  Record<Counts | 'partition' | 'stored_offset' | 'watermark_ms' | 'stored_ms', string | number>
> & { readonly topic: string };

/** Facts on whether the numbers are current and exact: the rows, the ledger, the detector, the deliveries. */
export async function pipelineView(
  client: ClickHouseClient,
  question: PipelineQuestion,
): Promise<PipelineAnswer> {
  const { nowMs, groupId, bounds, series, problems } = question;
  const sinceMs = Math.max(0, Math.floor(nowMs - hourMs));
  const [stored, [detector], ledger, deliveries] = await Promise.all([
    viewRows<PartitionRow>(client, 'view_pipeline', { groupId, sinceMs }),
    readRows<Record<'evaluated_ms' | 'open_anomalies', string | number>>(client, 'view_detector', {
      detector: groupId,
    }),
    ledgerState(client, nowMs),
    dueDeliveries(client, question),
  ]);
  const newestMs = Math.floor(bounds.completeMs / baseWindowMs) * baseWindowMs;
  const isComplete = Number.isFinite(newestMs) && newestMs > 0;
  const ageSeconds = isComplete ? Math.max(0, nowMs - newestMs) / 1000 : null;
  const [consumed, rejected] = [sumOf(stored.rows, 'consumed'), sumOf(stored.rows, 'rejected')];
  return {
    title: titleOf({
      problems: ledger.problems.length,
      ageSeconds,
      consumed,
      rejectedShare: consumed === 0 ? 0 : rejected / consumed,
      due: deliveries.reduce((sum, each) => sum + each.due, 0),
    }),
    newest_window: isComplete ? new Date(newestMs).toISOString() : null,
    age_seconds: ageSeconds,
    stored_last_hour: {
      consumed,
      aggregated: sumOf(stored.rows, 'aggregated'),
      rejected_events: rejected,
      rejected: byReason(rejected, question.rejected.byReason),
      reasons_since: new Date(question.rejected.sinceMs).toISOString(),
      late: sumOf(stored.rows, 'late'),
      unmapped: sumOf(stored.rows, 'unmapped'),
    },
    ledger,
    partitions: stored.rows.map((row) => partitionOf(row, question)),
    detector: {
      evaluated_until: timeOf(Number(detector?.evaluated_ms ?? 0)),
      open_anomalies: Number(detector?.open_anomalies ?? 0),
      series_evaluated: series?.evaluated ?? null,
      series_waiting: series?.waiting ?? null,
    },
    deliveries,
    problems: problems.map((problem) => cleanText(problem, problemChars)),
    sql: stored.sql,
  };
}

interface TitleFacts {
  /** Contradictions of the ledger. */
  readonly problems: number;
  readonly ageSeconds: number | null;
  /** Events of the last hour. */
  readonly consumed: number;
  /** Of the events of the last hour. */
  readonly rejectedShare: number;
  readonly due: number;
}

/** Share of rejected events from which the title says so. */
const leastRejected = 0.01;

/** "Every event counted once. Stored up to 12 s ago." What is wrong comes first. */
function titleOf({ problems, ageSeconds, consumed, rejectedShare, due }: TitleFacts): string {
  const found = `${problems.toLocaleString('en-US')} ${problems === 1 ? 'problem' : 'problems'}`;
  const isEmpty = ageSeconds === null && consumed === 0;
  const counted =
    problems === 0
      ? 'Every event counted once.'
      : `The ledger has ${found}: not every event counted once.`;
  const rejected = `${Math.round(rejectedShare * 100)} % of the events of the last hour were rejected.`;
  const stored =
    ageSeconds === null
      ? 'No window is complete yet.'
      : `Stored up to ${durationText(ageSeconds * 1000)} ago.`;
  const rejections = rejectedShare < leastRejected ? [] : [rejected];
  const sentences = [
    ...(problems > 0 ? [counted, ...rejections] : isEmpty ? rejections : [...rejections, counted]),
    isEmpty ? 'No event has arrived yet.' : stored,
    ...(due === 0 ? [] : [`${due} ${due === 1 ? 'delivery is' : 'deliveries are'} due.`]),
  ];
  return sentences.join(' ');
}

function sumOf(rows: readonly PartitionRow[], name: Counts): number {
  return rows.reduce((sum, row) => sum + Number(row[name]), 0);
}

/** The ledger's rejected events by reason, as far as this process knows it. The most frequent first. */
function byReason(events: number, known: ReadonlyMap<string, number>) {
  const rows = [...known]
    .map(([reason, n]) => ({ reason, events: n }))
    .filter((row) => row.events > 0)
    .toSorted((a, b) => b.events - a.events);
  const rest = events - rows.reduce((sum, row) => sum + row.events, 0);
  return rest > 0 ? [...rows, { reason: unknownReason, events: rest }] : rows;
}

function partitionOf(
  row: PartitionRow,
  { nowMs, lagMessages }: PipelineQuestion,
): PipelineAnswer['partitions'][number] {
  const { topic } = row;
  const partition = Number(row.partition);
  const lag = lagMessages?.get(`${topic}/${partition}`) ?? null;
  const watermarkMs = Number(row.watermark_ms);
  const behindSeconds = watermarkMs > 0 ? Math.max(0, nowMs - watermarkMs) / 1000 : null;
  return {
    ...{ topic, partition, stored_offset: Number(row.stored_offset), lag_messages: lag },
    watermark: timeOf(watermarkMs),
    stored_at: timeOf(Number(row.stored_ms)),
    // A partition of which all is stored is not behind, however old its last event is.
    behind_seconds: lag === 0 ? 0 : behindSeconds,
  };
}

function timeOf(ms: number): string | null {
  return ms > 0 ? new Date(ms).toISOString() : null;
}
