import type { Notice } from '../../../../src/alert/receiver.ts';
import type { ReceiverClock } from '../../../../src/alert/receivers/attempt.ts';
import type { AnomalyEvent } from '../../../../src/contract/anomaly-event.ts';
import { anomalyFixture } from '../../../contract/anomaly-fixture.ts';

export const links = {
  dashboard_url: 'https://tailmark.example.com/',
  trace_url: 'https://traces.example.com/?id={trace_id}',
};

const twelve = { affected: 12, total: 12 };

/** A slow tail of 12 series with everything that an event can have. */
export const richEvent: AnomalyEvent = anomalyFixture({
  version: '2026-11-01',
  stage: 'queue',
  observed_ms: 512,
  interval_ms: [430, 610],
  baseline_ms: 244,
  ratio: 512 / 244,
  requests: 61_204,
  affected_share: 0.031,
  blame: [
    { stage: 'queue', excess_ms: 190, share: 0.71 },
    { stage: 'forward', excess_ms: 60, share: 0.22 },
    { stage: 'features', excess_ms: 21, share: 0.079 },
    { stage: 'egress', excess_ms: -3, share: -0.009 },
  ],
  bottleneck: 'queue',
  drivers: [
    {
      facet: 'cache_hit',
      value: 'false',
      share_of_slow: 0.81,
      share_of_all: 0.24,
      baseline_share_of_all: 0.08,
      slow_rate: 0.3,
      slow_rate_of_others: 0.01,
      baseline_slow_rate: 0.3,
      baseline_slow_rate_of_others: 0.01,
    },
  ],
  mix_share: 0.12,
  exemplars: ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'],
  started_at: '2026-11-21T10:17:30.000Z',
  detected_at: '2026-11-21T10:20:39.024Z',
  emitted_at: '2026-11-21T10:20:39.024Z',
  summary:
    '12 of 24 ranker series affected (all on version 2026-11-01), 3 recovered. Most affected: p99 of ranker (2026-11-01, search, eu-west-1) is 512 ms, 2.1x its baseline of 244 ms; in the slowest 1 % queue rose by 190 ms, the mean by 268 ms',
  sql: "SELECT 1\nFROM latency_10s\nWHERE model = 'ranker'",
  runbook_url: 'https://runbooks.example.com/ranker',
  scope: {
    affected: 12,
    unresolved: 9,
    total: 24,
    common: [{ dimension: 'version', value: '2026-11-01' }],
    values: [{ dimension: 'version', value: '2026-11-01', ...twelve }],
  },
  members: ['eu-west-1', 'us-east-1'].map((region, i) => ({
    id: `${i}`,
    service: '',
    model: 'ranker',
    version: '2026-11-01',
    request_type: 'search',
    region,
    host: '',
    tenant: '',
    cold_start: false,
    stage: 'queue',
    severity: 'critical',
    observed_ms: 512 - 100 * i,
    baseline_ms: 244,
    ratio: (512 - 100 * i) / 244,
    started_at: '2026-11-21T10:17:30.000Z',
    resolved_at: i === 0 ? null : '2026-11-21T10:19:00.000Z',
  })),
});

/** The end of the same. */
export const resolvedEvent: AnomalyEvent = {
  ...richEvent,
  revision: 3,
  state: 'resolved',
  emitted_at: '2026-11-21T10:29:39.024Z',
  resolved_at: '2026-11-21T10:29:39.024Z',
  ended_at: '2026-11-21T10:27:30.000Z',
  resolution: 'recovered',
  ...(richEvent.scope && { scope: { ...richEvent.scope, unresolved: 0 } }),
  summary:
    '12 of 24 ranker series were affected (all on version 2026-11-01), all resolved. Last: p99 of ranker (2026-11-01, search, eu-west-1) recovered: 251 ms (baseline 244 ms)',
};

/** A notice of an event; `resolved` and `past` ones of its end. */
export function noticeOf(
  change: Notice['change'],
  { event, ...changed }: Partial<Notice> = {},
): Notice {
  const isEnd = change === 'resolved' || change === 'past';
  return {
    event: event ?? (isEnd ? resolvedEvent : richEvent),
    change,
    severities: change === 'risen' ? ['warning', 'critical'] : ['critical'],
    memory: '',
    isTest: false,
    ...changed,
  };
}

/** A clock that stands, and whose sleeps never end. */
export function clockAt(iso: string): ReceiverClock {
  return { nowMs: () => Date.parse(iso), sleep: () => new Promise(() => undefined) };
}

/** Names as an attacker would choose them. */
export const hostileNames = [
  '<!channel>',
  '<@U012AB3CD>',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'x\r\nBcc: mallory@example.net',
  'x\r\n\r\n.\r\nMAIL FROM:<a@b.c>',
  '](http://evil.example)',
  '<http://evil.example|dashboard>',
  '\u202Egnp.exe\u2066',
  'a\u0000b\u001b[31m',
  '\ud800',
  '&lt;!here&gt;',
  '```\n*bold*',
  `long${'g'.repeat(4096)}`,
  `wide${'\u{1f600}'.repeat(1024)}`,
  "'; DROP TABLE anomalies; --",
] as const;
