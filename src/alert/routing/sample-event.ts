import { minuteMs } from '../../base/time.ts';
import type { AnomalyEvent } from '../../contract/anomaly-event.ts';

/**
 * An anomaly of no model of anybody's, for tests of receivers.
 *
 * @param key tells one test from another.
 */
export function sampleEvent(key: string, nowMs: number, runbookUrl: string | null): AnomalyEvent {
  const iso = (ms: number) => new Date(ms).toISOString();
  const startedMs = nowMs - minuteMs;
  return {
    id: key.padEnd(32, '0').slice(0, 32),
    revision: 1,
    dedup_key: `test/${key}`,
    group_key: 'tail_shift|tailmark-test|queue',
    state: 'opened',
    severity: 'warning',
    kind: 'tail_shift',
    service: '',
    model: 'tailmark-test',
    version: 'v1',
    request_type: '',
    region: '',
    host: '',
    tenant: '',
    cold_start: false,
    stage: 'queue',
    quantile: 0.99,
    observed_ms: 512,
    interval_ms: [430, 610],
    baseline_ms: 244,
    ratio: 2.098,
    requests: 61_204,
    affected_share: 0.03,
    evidence: {
      test: 'likelihood_ratio',
      p_value: 1e-12,
      alpha: 1e-8,
      windows: 6,
      exceedances: 1_900,
      expected: 612,
      dispersion: 1.6,
      measured_stage: 'total',
      baseline_windows: 360,
      baseline_from: iso(startedMs - 60 * minuteMs),
      baseline_to: iso(startedMs),
    },
    blame: [
      { stage: 'queue', excess_ms: 190, share: 0.71 },
      { stage: 'forward', excess_ms: 60, share: 0.22 },
      { stage: 'egress', excess_ms: 18, share: 0.07 },
    ],
    bottleneck: 'queue',
    exemplars: [],
    started_at: iso(startedMs),
    detected_at: iso(nowMs),
    emitted_at: iso(nowMs),
    ended_at: null,
    resolved_at: null,
    resolution: null,
    summary:
      'p99 of tailmark-test (v1) is 512 ms, 2.1x its baseline of 244 ms; in the slowest 1 % queue rose by 190 ms, the mean by 268 ms',
    sql: 'SELECT 1',
    runbook_url: runbookUrl,
  };
}

/** The same anomaly, resolved. */
export function resolvedSample(event: AnomalyEvent, nowMs: number): AnomalyEvent {
  const at = new Date(nowMs).toISOString();
  return {
    ...event,
    revision: event.revision + 1,
    state: 'resolved',
    emitted_at: at,
    ended_at: at,
    resolved_at: at,
    resolution: 'recovered',
    summary: 'p99 of tailmark-test (v1) recovered: 245 ms (baseline 244 ms)',
  };
}
