import { createHash } from 'node:crypto';
import { totalStage } from '../../base/dimensions.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';
import { anomalyIdOf } from '../../contract/anomaly-identity.ts';
import { quoteSql } from '../../contract/sql.ts';

/**
 * Faults of tailmark's own pipeline. `behind`: records in Kafka are not stored. `kafka`: Kafka does not say
 * which records it has. `event_time`: events of a partition are of another time than their arrival.
 */
export const pipelineCauses = ['behind', 'kafka', 'event_time'] as const;
export type PipelineCause = (typeof pipelineCauses)[number];

/** One cause, as it stands. */
export interface PipelineCondition {
  readonly cause: PipelineCause;
  /** Duration so far; of `event_time`: time by which events are behind. */
  readonly behindMs: number;
  readonly startedMs: number;
  /** Messages that are not stored. */
  readonly lagMessages: number;
  readonly summary: string;
}

export interface PipelineEventOptions {
  /** Whose pipeline it is. */
  readonly groupId: string;
  /** Time that a condition must last before it is emitted. */
  readonly afterMs: number;
  /** Highest evaluated quantile: the field has no meaning here. */
  readonly quantile: number;
  readonly runbookUrl: string | undefined;
}

/** The event that opens it: a warning, as it is about tailmark and not about the models. */
export function pipelineOpened(
  condition: PipelineCondition,
  nowMs: number,
  options: PipelineEventOptions,
): AnomalyEvent {
  const { cause, behindMs, startedMs, lagMessages, summary } = condition;
  const { groupId, afterMs, quantile, runbookUrl } = options;
  const dedupKey = pipelineKey(cause, groupId);
  const iso = (ms: number) => new Date(ms).toISOString();
  const none = { service: '', model: '', version: '', request_type: '', region: '', host: '' };
  return {
    id: anomalyIdOf(dedupKey, startedMs),
    revision: 1,
    dedup_key: dedupKey,
    group_key: `pipeline|${groupId}|${cause}`,
    state: 'opened',
    severity: 'warning',
    kind: 'pipeline',
    ...{ ...none, tenant: '', cold_start: false, stage: '' },
    quantile,
    observed_ms: Math.round(behindMs),
    interval_ms: [Math.round(behindMs), Math.round(behindMs)],
    baseline_ms: afterMs,
    ratio: Math.round((behindMs / afterMs) * 1000) / 1000,
    requests: 0,
    evidence: {
      test: 'arrivals',
      p_value: 0,
      alpha: 0,
      windows: 1,
      exceedances: lagMessages,
      expected: 0,
      dispersion: 1,
      measured_stage: totalStage,
      baseline_windows: 0,
      baseline_from: iso(startedMs),
      baseline_to: iso(nowMs),
    },
    blame: [],
    bottleneck: 'unknown',
    exemplars: [],
    started_at: iso(startedMs),
    detected_at: iso(nowMs),
    emitted_at: iso(nowMs),
    ended_at: null,
    resolved_at: null,
    resolution: null,
    summary,
    sql: progressSql(groupId),
    runbook_url: runbookUrl ?? null,
  };
}

export function pipelineResolved(
  opened: AnomalyEvent,
  nowMs: number,
  summary: string,
): AnomalyEvent {
  const at = new Date(nowMs).toISOString();
  return {
    ...opened,
    revision: opened.revision + 1,
    state: 'resolved',
    emitted_at: at,
    ended_at: at,
    resolved_at: at,
    resolution: 'recovered',
    summary,
  };
}

export function pipelineKey(cause: PipelineCause, groupId: string): string {
  return `pipeline/${cause}/${createHash('sha256').update(groupId).digest('hex').slice(0, 16)}`;
}

/** A query to paste: how far each partition has come. */
function progressSql(groupId: string): string {
  return [
    'SELECT topic, partition, max(end_offset) AS stored_offset, max(watermark) AS event_time,',
    '  max(flushed_at) AS stored_at',
    'FROM flushes',
    `WHERE group_id = ${quoteSql(groupId)}`,
    'GROUP BY topic, partition',
    'ORDER BY stored_at',
  ].join('\n');
}
