import { anomalyMessage } from '../../alert/message/anomaly-message.ts';
import { headlineOf } from '../../alert/message/title.ts';
import { type AnomalyEvent, anomalyEventSchema } from '../../contract/anomaly-event.ts';
import { withDayOf } from '../../contract/as-of.ts';
import { ofWorstSeries } from '../../contract/worst-series.ts';
import type { ClickHouseClient } from '../../sink/client/clickhouse.ts';
import type { AnomaliesAnswer, AnomalyRow } from '../answers/anomalies.ts';
import { ImpossibleQuestion } from '../impossible-question.ts';
import { viewRows } from '../view-rows.ts';
import { stateOf, type WindowBounds } from '../window-states.ts';

export interface AnomaliesQuestion {
  /** Anomalies that were open at some time of the range. */
  readonly fromMs: number;
  readonly toMs: number;
  /** '' for all. */
  readonly model: string;
  readonly state: 'open' | 'resolved' | '';
  readonly limit: number;
  /** `next` of the page before; '' for the first page. */
  readonly cursor: string;
  readonly bounds: WindowBounds;
}

interface Row {
  readonly id: string;
  readonly model: string;
  readonly stage: string;
  readonly started_ms: string | number;
  readonly resolved_ms: string | number | null;
  readonly series: string | number;
  readonly accepted_by: readonly string[];
  readonly body: string;
  readonly open_body: string;
}

/**
 * Anomalies of a range, the newest first, page by page. An anomaly that opens meanwhile moves no later page.
 *
 * @throws ImpossibleQuestion
 */
export async function anomaliesView(
  client: ClickHouseClient,
  question: AnomaliesQuestion,
): Promise<AnomaliesAnswer> {
  const { model, state, limit, bounds } = question;
  const fromMs = Math.floor(Math.max(0, question.fromMs));
  const toMs = Math.ceil(Math.max(0, question.toMs));
  const { rows, sql } = await viewRows<Row>(client, 'view_anomalies', {
    ...{ fromMs, toMs, model, state, limit },
    ...before(question.cursor),
  });
  const last = rows.at(-1);
  return {
    range: {
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      step_seconds: null,
    },
    windows: { final: 0, provisional: 0, open: 0, [stateOf(toMs, bounds)]: 1 },
    rows: rows.map(rowOf),
    sql,
    next: last === undefined || rows.length < limit ? null : cursorOf(last),
  };
}

function rowOf(row: Row): AnomalyRow {
  const event = eventIn(row.body);
  const { title, summary } = messageOfEvent(event);
  // An anomaly whose events before its end are gone has its end alone.
  const shown = eventOfHeadline(event, eventIn(row.open_body || row.body));
  return {
    ...{
      id: row.id,
      title,
      headline: headlineOf(shown),
      summary: withDayOf(summary, event),
      model: row.model,
      stage: row.stage,
    },
    models: modelsOf(event),
    ...{ kind: event.kind, severity: event.severity, state: event.state },
    started_at: new Date(Number(row.started_ms)).toISOString(),
    ended_at: event.ended_at,
    resolved_at: row.resolved_ms === null ? null : new Date(Number(row.resolved_ms)).toISOString(),
    series: Number(row.series),
    tail: tailOf(shown),
    accepted_by: [...row.accepted_by],
  };
}

function modelsOf({ model, scope }: AnomalyEvent): string[] {
  const others = scope?.values.filter(({ dimension }) => dimension === 'model') ?? [];
  return [...new Set([model, ...others.map(({ value }) => value)])];
}

/** The numbers that the headline has. */
function tailOf(event: AnomalyEvent): AnomalyRow['tail'] {
  if (event.rate !== undefined || event.kind === 'pipeline') return null;
  const { quantile, observed_ms, baseline_ms, ratio, evidence, ...shown } = ofWorstSeries(event);
  const { measured_at = null, cold_start } = shown;
  const numbers = { quantile, observed_ms, baseline_ms, ratio, measured_at };
  return { stage: evidence.measured_stage, ...numbers, cold_start };
}

function eventIn(body: string): AnomalyEvent {
  return anomalyEventSchema.parse(JSON.parse(body));
}

/** The words that a receiver would get of this event: the same as on a pager. */
export function messageOfEvent(event: AnomalyEvent) {
  const { state: change, severity } = event;
  const notice = { event, change, severities: [severity], memory: '', isTest: false };
  return anomalyMessage(notice, 'full', { dashboard_url: undefined, trace_url: undefined });
}

/**
 * The event for the headline of an anomaly, as it was before its end. Of several series it is the newest
 * event, like all else on its page. The end has their measurements of before and may have more series; only
 * its sentence speaks of the present.
 *
 * @param open its newest event before its end.
 */
export function eventOfHeadline(newest: AnomalyEvent, open: AnomalyEvent): AnomalyEvent {
  const shown = newest.scope === undefined ? open : { ...newest, summary: open.summary };
  return messageOfEvent(shown).event;
}

function cursorOf({ started_ms, id }: Row): string {
  return Buffer.from(`${started_ms} ${id}`).toString('base64url');
}

/** Later than any anomaly: the end of what ClickHouse's times hold. */
const endOfTimeMs = Date.UTC(2261, 0);

/** @throws ImpossibleQuestion for what is no `next` of an answer. */
function before(cursor: string): { readonly beforeMs: number; readonly beforeId: string } {
  if (cursor === '') return { beforeMs: endOfTimeMs, beforeId: '' };
  const [, ms, id] = /^(\d{1,14}) (.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (ms !== undefined && id !== undefined) return { beforeMs: Number(ms), beforeId: id };
  throw new ImpossibleQuestion(
    `cursor must be "next" of an answer; it is ${JSON.stringify(cursor)}.`,
  );
}
