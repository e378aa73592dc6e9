import type { Notice } from '../../src/alert/receiver.ts';
import type { AnomalyEvent, Rate } from '../../src/contract/anomaly-event.ts';
import { resolvedEvent, richEvent } from '../alert/receivers/kit/notices.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';

const rateOf = (unit: Rate['unit'], observed: number, baseline: number): Rate => ({
  unit,
  observed,
  baseline,
  ratio: observed / baseline,
  interval: [observed * 0.8, observed * 1.2],
});

const ofTraffic = { observed_ms: 0, interval_ms: [0, 0], baseline_ms: 0, ratio: 1, blame: [] };

/** Fields in which an event of each kind differs from a slow tail. */
const changed: Readonly<Record<AnomalyEvent['kind'], Partial<AnomalyEvent>>> = {
  tail_shift: richEvent,
  slo_burn: {
    stage: 'total',
    rate: rateOf('errors per request', 0.21, 0.001),
    slo: {
      name: 'fast-search',
      objective: 0.999,
      threshold_ms: 200,
      burn_rate: 14.4,
      long_ms: 3_600_000,
      short_ms: 300_000,
    },
    bottleneck: 'unknown',
    summary: '21 % of requests in the last 5 min exceeded 200 ms or failed',
  },
  error_rate: {
    stage: 'total',
    severity: 'warning',
    rate: rateOf('failures per request', 0.032, 0.001),
    bottleneck: 'downstream',
    summary: '3.2 % of ranker requests fail (baseline 0.1 %)',
  },
  cold_starts: {
    stage: 'cold_start',
    severity: 'info',
    rate: rateOf('cold starts per request', 0.4, 0.02),
    bottleneck: 'cold_start',
    summary: '40 % of ranker requests are cold starts (baseline 2 %)',
  },
  throughput_drop: {
    ...ofTraffic,
    interval_ms: [0, 0],
    stage: 'total',
    severity: 'warning',
    rate: rateOf('requests per second', 12, 96),
    bottleneck: 'unknown',
    exemplars: [],
    summary: 'ranker receives 12 requests/s (baseline 96)',
  },
  no_data: {
    ...ofTraffic,
    interval_ms: [0, 0],
    stage: 'total',
    requests: 0,
    rate: rateOf('requests per second', 0, 96),
    bottleneck: 'unknown',
    exemplars: [],
    summary: 'ranker has received no requests for 5 min',
  },
  drift: {
    severity: 'info',
    quantile: 0.95,
    observed_ms: 46.25,
    interval_ms: [44, 48.5],
    baseline_ms: 37,
    ratio: 1.25,
    cold_start: true,
    host: 'pod-7',
    tenant: 'acme & <sons>',
    service: 'search',
    runbook_url: 'https://runbooks.example.com/drift',
    summary: 'p95 of ranker has drifted from 37 ms to 46.3 ms in a week',
  },
  pipeline: {
    ...ofTraffic,
    interval_ms: [0, 0],
    model: '',
    request_type: '',
    region: '',
    stage: 'ingest',
    requests: 0,
    bottleneck: 'unknown',
    exemplars: [],
    sql: '',
    summary: 'no chunk of inference.timings.v1 was stored for 10 min',
  },
};

/** The opening of an episode of each kind. */
function opened(kind: AnomalyEvent['kind']): AnomalyEvent {
  const key = `${kind}/ranker/0011223344556677`;
  return anomalyFixture({ ...changed[kind], kind, dedup_key: key });
}

function resolved(event: AnomalyEvent): AnomalyEvent {
  const { revision, state, emitted_at, resolved_at, ended_at, resolution } = resolvedEvent;
  const end = { revision, state, emitted_at, resolved_at, ended_at, resolution };
  if (event.kind === 'tail_shift') return { ...resolvedEvent, dedup_key: event.dedup_key };
  return { ...event, ...end, summary: `${event.model} recovered: it was ${event.summary}` };
}

export const kinds = Object.keys(changed) as readonly AnomalyEvent['kind'][];

/** The notices of an episode of a kind, in their order. */
export function noticesOf(kind: AnomalyEvent['kind']): readonly Notice[] {
  const first = opened(kind);
  const end = resolved(first);
  const { severity } = first;
  const risen: AnomalyEvent = { ...first, revision: 2, state: 'updated', severity: 'critical' };
  const notice = { severities: [severity], memory: '', isTest: false };
  const both = [...new Set([severity, 'critical' as const])];
  return [
    { ...notice, event: first, change: 'opened' },
    { ...notice, event: { ...risen, severity }, change: 'updated' },
    { ...notice, event: risen, change: 'risen', severities: both },
    { ...notice, event: { ...end, severity: 'critical' }, change: 'resolved', severities: both },
    { ...notice, event: end, change: 'past' },
    { ...notice, event: first, change: 'opened', isTest: true },
  ];
}
