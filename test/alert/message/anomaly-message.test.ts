import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anomalyMessage } from '../../../src/alert/message/anomaly-message.ts';
import { messageText } from '../../../src/alert/message/message-text.ts';
import type { Form, Notice } from '../../../src/alert/receiver.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { anyNotice } from '../receivers/kit/any-notice.ts';
import { links, noticeOf, resolvedEvent, richEvent } from '../receivers/kit/notices.ts';

const textOf = (notice: Notice, form: Form = 'full') =>
  messageText(anomalyMessage(notice, form, links));
const titleOf = (notice: Notice) => anomalyMessage(notice, 'full', links).title;

describe('the message', () => {
  it('of an opened incident says what, since when, how far, why and where to look', () => {
    expect(textOf(noticeOf('opened'))).toMatchInlineSnapshot(`
      "CRITICAL ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series

      What: 12 of 24 ranker series affected (all on version 2026-11-01), 3 recovered. Most affected: p99 of ranker (2026-11-01, search, eu-west-1) is 512 ms, 2.1x its baseline of 244 ms; in the slowest 1 % queue rose by 190 ms, the mean by 268 ms
      Since: 2026-11-21 10:17:30 UTC
      Most affected: ranker (2026-11-01, search, eu-west-1): p99 of total 512 ms (430 to 610 ms), baseline 244 ms, 2.1x; 61,204 requests
      How far: 12 of 24 series, 3 recovered; all have version 2026-11-01; 3.1 % of all requests
      Other series: ranker (2026-11-01, search, us-east-1) was 412 ms, 1.69x, recovered; 10 more
      Blame: most affected series, slowest 1 %: mean +268 ms; queue +190 ms (70 %), forward +60 ms (22 %), features +21 ms (8 %)
      Slow requests: 81 % have cache hit false (24 % of all requests, baseline 8 %)
      Mix: 12 % of the rise in slow requests comes from more large ones
      Look first: queue depth, concurrency and replicas of the model server
      Traces: 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7
      dashboard: https://tailmark.example.com/incidents/0123456789abcdef0123456789abcdef
      trace: https://traces.example.com/?id=4bf92f3577b34da6a3ce929d0e0e4736
      runbook: https://runbooks.example.com/ranker

      SELECT 1
      FROM latency_10s
      WHERE model = 'ranker'"
    `);
  });

  it.each(['tail_shift', 'error_rate'] as const)(
    'of %s says once since when the history is known, where it is short',
    (kind) => {
      const says = 'known since 2026-11-21 09:14 UTC only: the history before was not read';
      const { evidence } = richEvent;
      const unit = 'failures per request' as const;
      const interval: [number, number] = [0.04, 0.06];
      const rate = { unit, observed: 0.05, baseline: 0.001, ratio: 50, interval };
      const event = anomalyFixture({
        kind,
        ...(kind === 'error_rate' && { rate }),
        evidence: { ...evidence, history_from: '2026-11-21T09:14:00.000Z' },
        summary: `5 % of requests fail; ${says}`,
      });
      const text = textOf({ ...noticeOf('opened'), event });
      expect(text.split(says)).toHaveLength(2);
    },
  );

  it('of a rise says from what', () => {
    expect(textOf(noticeOf('risen'))).toMatchInlineSnapshot(`
      "CRITICAL (was warning) ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series

      Severity: rose from warning to critical
      What: 12 of 24 ranker series affected (all on version 2026-11-01), 3 recovered. Most affected: p99 of ranker (2026-11-01, search, eu-west-1) is 512 ms, 2.1x its baseline of 244 ms; in the slowest 1 % queue rose by 190 ms, the mean by 268 ms
      Since: 2026-11-21 10:17:30 UTC
      Most affected: ranker (2026-11-01, search, eu-west-1): p99 of total 512 ms (430 to 610 ms), baseline 244 ms, 2.1x; 61,204 requests
      How far: 12 of 24 series, 3 recovered; all have version 2026-11-01; 3.1 % of all requests
      Other series: ranker (2026-11-01, search, us-east-1) was 412 ms, 1.69x, recovered; 10 more
      Blame: most affected series, slowest 1 %: mean +268 ms; queue +190 ms (70 %), forward +60 ms (22 %), features +21 ms (8 %)
      Slow requests: 81 % have cache hit false (24 % of all requests, baseline 8 %)
      Mix: 12 % of the rise in slow requests comes from more large ones
      Look first: queue depth, concurrency and replicas of the model server
      Traces: 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7
      dashboard: https://tailmark.example.com/incidents/0123456789abcdef0123456789abcdef
      trace: https://traces.example.com/?id=4bf92f3577b34da6a3ce929d0e0e4736
      runbook: https://runbooks.example.com/ranker

      SELECT 1
      FROM latency_10s
      WHERE model = 'ranker'"
    `);
  });

  it('of an end says how long it lasted, how it ended, and the present value', () => {
    expect(textOf(noticeOf('resolved'))).toMatchInlineSnapshot(`
      "RESOLVED ranker p99 back at its baseline; 10:17 to 10:27 UTC (10 min); 12 of 24 series

      Lasted: 2026-11-21 10:17:30 to 10:27:30 UTC, 10 min
      Resolved: 2026-11-21 10:29:39 UTC
      End: p99 back at its baseline
      Now: 12 of 24 ranker series were affected (all on version 2026-11-01), all resolved. Last: p99 of ranker (2026-11-01, search, eu-west-1) recovered: 251 ms (baseline 244 ms)
      Severity: was critical
      Most affected: ranker (2026-11-01, search, eu-west-1): p99 of total 512 ms (430 to 610 ms), baseline 244 ms, 2.1x; 61,204 requests
      How far: 12 of 24 series, all recovered; all have version 2026-11-01; 3.1 % of all requests
      Other series: ranker (2026-11-01, search, us-east-1) was 412 ms, 1.69x, recovered; 10 more
      Blame: most affected series, slowest 1 %: mean +268 ms; queue +190 ms (70 %), forward +60 ms (22 %), features +21 ms (8 %)
      Slow requests: 81 % have cache hit false (24 % of all requests, baseline 8 %)
      Mix: 12 % of the rise in slow requests comes from more large ones
      Traces: 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7
      dashboard: https://tailmark.example.com/incidents/0123456789abcdef0123456789abcdef
      trace: https://traces.example.com/?id=4bf92f3577b34da6a3ce929d0e0e4736
      runbook: https://runbooks.example.com/ranker

      SELECT 1
      FROM latency_10s
      WHERE model = 'ranker'"
    `);
  });

  it('of what was over before it could be delivered says so', () => {
    expect(textOf(noticeOf('past'))).toMatchInlineSnapshot(`
      "ENDED ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; 10:17 to 10:27 UTC (10 min); 12 of 24 series

      Late: it was over before this could be delivered
      Lasted: 2026-11-21 10:17:30 to 10:27:30 UTC, 10 min
      Resolved: 2026-11-21 10:29:39 UTC
      End: p99 back at its baseline
      Now: 12 of 24 ranker series were affected (all on version 2026-11-01), all resolved. Last: p99 of ranker (2026-11-01, search, eu-west-1) recovered: 251 ms (baseline 244 ms)
      Severity: was critical
      Most affected: ranker (2026-11-01, search, eu-west-1): p99 of total 512 ms (430 to 610 ms), baseline 244 ms, 2.1x; 61,204 requests
      How far: 12 of 24 series, all recovered; all have version 2026-11-01; 3.1 % of all requests
      Other series: ranker (2026-11-01, search, us-east-1) was 412 ms, 1.69x, recovered; 10 more
      Blame: most affected series, slowest 1 %: mean +268 ms; queue +190 ms (70 %), forward +60 ms (22 %), features +21 ms (8 %)
      Slow requests: 81 % have cache hit false (24 % of all requests, baseline 8 %)
      Mix: 12 % of the rise in slow requests comes from more large ones
      Look first: queue depth, concurrency and replicas of the model server
      Traces: 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7
      dashboard: https://tailmark.example.com/incidents/0123456789abcdef0123456789abcdef
      trace: https://traces.example.com/?id=4bf92f3577b34da6a3ce929d0e0e4736
      runbook: https://runbooks.example.com/ranker

      SELECT 1
      FROM latency_10s
      WHERE model = 'ranker'"
    `);
  });

  it('in its minimal form is summary, times and one link', () => {
    expect(textOf(noticeOf('opened'), 'minimal')).toMatchInlineSnapshot(`
      "CRITICAL ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series

      Since: 2026-11-21 10:17:30 UTC
      Summary: 12 of 24 ranker series affected (all on version 2026-11-01), 3 recovered. Most affected: p99 of ranker (2026-11-01, search, eu-west-1) is 512 ms, 2.1x its baseline of 244 ms; in the slowest 1 % queue rose by 190 ms, the mean by 268 ms
      dashboard: https://tailmark.example.com/incidents/0123456789abcdef0123456789abcdef"
    `);
    expect(textOf(noticeOf('past'), 'minimal')).toMatchInlineSnapshot(`
      "ENDED ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; 10:17 to 10:27 UTC (10 min); 12 of 24 series

      Late: it was over before this could be delivered
      Lasted: 2026-11-21 10:17:30 to 10:27:30 UTC, 10 min
      Resolved: 2026-11-21 10:29:39 UTC
      End: p99 back at its baseline
      Summary: 12 of 24 ranker series were affected (all on version 2026-11-01), all resolved. Last: p99 of ranker (2026-11-01, search, eu-west-1) recovered: 251 ms (baseline 244 ms)
      dashboard: https://tailmark.example.com/incidents/0123456789abcdef0123456789abcdef"
    `);
  });

  it('of a test says so, first and again', () => {
    const text = textOf(noticeOf('opened', { isTest: true }));
    expect(text).toMatch(/^TEST CRITICAL ranker, most affected: p99 /);
    expect(text).toContain('\nTest: sent by `tailmark alert test`; nothing is wrong\n');
  });

  it('of a rise whose first severity the receiver does not match names the new one only', () => {
    const notice = noticeOf('risen', { severities: ['critical'] });
    expect(titleOf(notice)).toMatch(/^CRITICAL ranker, /);
    expect(textOf(notice)).not.toContain('rose from');
  });
});

const rate = (changed: Partial<NonNullable<AnomalyEvent['rate']>>) => ({
  unit: 'failures per request' as const,
  observed: 0.048,
  baseline: 0.004,
  ratio: 12,
  interval: [0.041, 0.056] as [number, number],
  ...changed,
});
const perSecond = rate({
  unit: 'requests per second',
  observed: 12,
  baseline: 51,
  ratio: 0.235,
  interval: [10, 14],
});
const of = (kind: AnomalyEvent['kind'], changed: Partial<AnomalyEvent> = {}) =>
  anomalyFixture({
    kind,
    blame: [],
    bottleneck: 'unknown',
    stage: 'total',
    emitted_at: '2026-11-01T12:00:22.000Z',
    ...changed,
  });
const withoutLatency = { observed_ms: 0, baseline_ms: 0, interval_ms: [0, 0] as [number, number] };

interface Worded {
  readonly event: AnomalyEvent;
  readonly title: string;
  readonly facts: readonly string[];
  readonly ended: string;
}

const worded: Readonly<Record<AnomalyEvent['kind'], Worded>> = {
  tail_shift: {
    event: anomalyFixture(),
    title:
      'CRITICAL ranker (eu-west-1) p99 412 ms, 3.4x its baseline, blame features; since 12:00 UTC',
    facts: [
      'What: p99 of total 412 ms (371 to 460 ms), baseline 121 ms, 3.4x; 1,200 requests',
      'Series: ranker; request type search, region eu-west-1',
      'Blame: slowest 1 %: mean +291 ms; features +253 ms (87 %), queue +38 ms (13 %)',
      'Look first: the feature store: its latency, timeouts and cache hits',
    ],
    ended: 'RESOLVED ranker (eu-west-1) p99 back at its baseline; since 12:00, resolved 12:10 UTC',
  },
  drift: {
    event: of('drift', { severity: 'info', blame: anomalyFixture().blame }),
    title:
      'INFO ranker (eu-west-1) p99 412 ms, 3.4x a week before, blame features; since 12:00 UTC',
    facts: [
      'What: p99 of total over a day 412 ms (371 to 460 ms), same hours a week before 121 ms, 3.4x; 1,200 requests',
      'Blame: requests of a day: mean +291 ms; features +253 ms (87 %), queue +38 ms (13 %)',
      'Look first: the feature store: its latency, timeouts and cache hits; then releases and data growth of the last week',
    ],
    ended: 'RESOLVED ranker (eu-west-1) p99 back where it was; since 12:00, resolved 12:10 UTC',
  },
  error_rate: {
    event: of('error_rate', { rate: rate({}), summary: '…; all of them time out' }),
    title: 'CRITICAL ranker (eu-west-1) 4.8 % of requests fail, 12x the baseline; since 12:00 UTC',
    facts: [
      'What: 4.8 % of requests fail (4.1 to 5.6 %), baseline 0.4 %, 12x; 1,200 requests',
      'Summary: …; all of them time out',
      'Latency: p99 412 ms, baseline 121 ms',
      'Look first: error logs and releases since the start',
    ],
    ended:
      'RESOLVED ranker (eu-west-1) failures back at their baseline; since 12:00, resolved 12:10 UTC',
  },
  cold_starts: {
    event: of('cold_starts', {
      rate: rate({ unit: 'cold starts per request' }),
      bottleneck: 'cold_start',
    }),
    title:
      'CRITICAL ranker (eu-west-1) 4.8 % of requests are cold starts, 12x the baseline; since 12:00 UTC',
    facts: [
      'What: 4.8 % of requests are cold starts (4.1 to 5.6 %), baseline 0.4 %, 12x; 1,200 requests',
      'Look first: model loads: scaling, evictions, restarts',
    ],
    ended:
      'RESOLVED ranker (eu-west-1) cold starts back at their baseline; since 12:00, resolved 12:10 UTC',
  },
  throughput_drop: {
    event: of('throughput_drop', { rate: perSecond, severity: 'warning' }),
    title: 'WARNING ranker (eu-west-1) requests fell to 12/s, baseline 51/s; since 12:00 UTC',
    facts: ['What: requests 12/s (10 to 14/s), baseline 51/s, 24 % of it left'],
    ended:
      'RESOLVED ranker (eu-west-1) requests back at their baseline; since 12:00, resolved 12:10 UTC',
  },
  no_data: {
    event: of('no_data', {
      ...{ model: '', request_type: '', region: '', ...withoutLatency },
      rate: { ...perSecond, observed: 0, ratio: 0, interval: [0, 0] },
      summary: 'all models: no request for 4 min (baseline 51/s)',
    }),
    title: 'CRITICAL all models no requests, baseline 51/s; since 12:00 UTC',
    facts: [
      'What: no requests, baseline 51/s',
      'Summary: all models: no request for 4 min (baseline 51/s)',
      'Series: all models',
    ],
    ended: 'RESOLVED all models receives requests again; since 12:00, resolved 12:10 UTC',
  },
  slo_burn: {
    event: of('slo_burn', {
      rate: rate({
        unit: 'errors per request',
        observed: 0.18,
        baseline: 0.001,
        ratio: 180,
        interval: [0.17, 0.19],
      }),
      slo: {
        ...{ name: 'ranker-fast', objective: 0.999, threshold_ms: 200, burn_rate: 14.4 },
        ...{ long_ms: 3_600_000, short_ms: 300_000 },
      },
      summary: 'ranker: 21 % …',
    }),
    title:
      'CRITICAL ranker (eu-west-1) error budget burns 180x too fast, 18 % bad; since 12:00 UTC',
    facts: [
      'What: 18 % of requests bad (17 to 19 %), allowed 0.1 %, burn rate 180x; objective ranker-fast: 99.9 % within 200 ms; 1,200 requests',
      'Summary: ranker: 21 % …',
    ],
    ended:
      'RESOLVED ranker (eu-west-1) error budget no longer burns too fast; since 12:00, resolved 12:10 UTC',
  },
  pipeline: {
    event: of('pipeline', {
      ...{ model: '', request_type: '', region: '', severity: 'warning' },
      summary: '1,230 messages of events/3 wait to be stored, the oldest for 3 min',
    }),
    title:
      'WARNING tailmark 1,230 messages of events/3 wait to be stored, the oldest for 3 min; since 12:00 UTC',
    facts: [
      'What: 1,230 messages of events/3 wait to be stored, the oldest for 3 min',
      'Look first: /readyz and the log of the ingesters; models are not the cause',
    ],
    ended: 'RESOLVED tailmark keeps up again; since 12:00, resolved 12:10 UTC',
  },
};

const endOf = (event: AnomalyEvent, changed: Partial<AnomalyEvent> = {}): AnomalyEvent => ({
  ...event,
  state: 'resolved',
  resolution: 'recovered',
  resolved_at: '2026-11-01T12:10:00.000Z',
  emitted_at: '2026-11-01T12:10:00.000Z',
  ...changed,
});

describe.each(Object.entries(worded))('a notice of %s', (_, { event, title, facts, ended }) => {
  it('has its title and its facts', () => {
    const text = textOf(noticeOf('opened', { event }));
    expect(text.split('\n')[0]).toBe(title);
    for (const fact of facts) expect(text.split('\n')).toContain(fact);
    expect(text).not.toMatch(/undefined|NaN|\[object|null/);
  });

  it('has a title for its end', () => {
    expect(titleOf(noticeOf('resolved', { event: endOf(event) }))).toBe(ended);
  });
});

describe('the end of an anomaly', () => {
  it.each([
    ['no_traffic', 'RESOLVED ranker (eu-west-1) too few requests left to evaluate; '],
    ['rebaselined', 'RESOLVED ranker (eu-west-1) p99 412 ms is now the baseline (was 121 ms); '],
  ] as const)('by %s says so', (resolution, start) => {
    const event = endOf(anomalyFixture(), { resolution });
    expect(titleOf(noticeOf('resolved', { event })).slice(0, start.length)).toBe(start);
  });

  it('on another day has both dates', () => {
    const at = '2026-11-02T01:05:00.000Z';
    const event = endOf(anomalyFixture(), { resolved_at: at, emitted_at: at });
    expect(textOf(noticeOf('resolved', { event }))).toContain(
      '; since 1 Nov 12:00, resolved 2 Nov 01:05 UTC\n',
    );
    const known = { ...event, ended_at: '2026-11-02T00:55:00.000Z' };
    const text = textOf(noticeOf('resolved', { event: known }));
    expect(text).toContain('; 1 Nov 12:00 to 2 Nov 00:55 UTC (12 h 55 min)\n');
    expect(text).toContain(
      '\nLasted: 2026-11-01 12:00:00 to 2026-11-02 00:55:00 UTC, 12 h 55 min\nResolved: 2026-11-02 01:05:00 UTC\n',
    );
  });
});

describe('an open anomaly whose tail fell already', () => {
  it('says when, beside since when', () => {
    const event = anomalyFixture({ ended_at: '2026-11-01T12:08:00.000Z' });
    expect(textOf(noticeOf('updated', { event }))).toContain(
      '\nSince: 2026-11-01 12:00:00 UTC\nFell: 2026-11-01 12:08:00 UTC\n',
    );
  });
});

describe('names from events', () => {
  it('are bounded, so that no fact is pushed out', () => {
    const model = 'm'.repeat(4096);
    const summary = richEvent.summary.replaceAll('ranker', model);
    const text = textOf(noticeOf('opened', { event: { ...richEvent, model, summary } }));
    expect(text.length).toBeLessThan(2_000);
    expect(text).toContain(
      'is 512 ms, 2.1x its baseline of 244 ms; in the slowest 1 % queue rose by 190 ms, the mean by 268 ms',
    );
  });

  it('cannot add a line, turn the text or hide in it', () => {
    fc.assert(
      fc.property(
        anyNotice,
        fc.constantFrom('full' as const, 'minimal' as const),
        (notice, form) => {
          const message = anomalyMessage(notice, form, links);
          for (const line of [
            message.title,
            message.summary,
            ...message.facts.map((f) => f.text),
          ]) {
            expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
          }
          expect(message.sql.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
          expect(messageText(message).length).toBeLessThan(20_000);
        },
      ),
    );
  });
});

describe('links', () => {
  const urls = (event: AnomalyEvent, settings = links) =>
    anomalyMessage(noticeOf('opened', { event }), 'full', settings).links.map(({ url }) => url);

  it('encode what comes from events', () => {
    const event = { ...richEvent, id: 'a/../b?c#d', exemplars: ["x&y=<z>|'\ud800$&"] };
    expect(urls(event)).toEqual([
      'https://tailmark.example.com/incidents/a%2F..%2Fb%3Fc%23d',
      'https://traces.example.com/?id=x%26y%3D%3Cz%3E%7C%27%EF%BF%BD%24%26',
      'https://runbooks.example.com/ranker',
    ]);
  });

  it('of a test, which is stored nowhere, opens the dashboard', () => {
    const notice = noticeOf('opened', { isTest: true });
    const [first] = anomalyMessage(notice, 'full', links).links;
    expect(first).toEqual({ label: 'dashboard', url: 'https://tailmark.example.com/' });
  });

  it('are left out where there are none, or where they are no http address', () => {
    expect(urls({ ...richEvent, exemplars: [], runbook_url: 'javascript:alert(1)' })).toEqual([
      `https://tailmark.example.com/incidents/${richEvent.id}`,
    ]);
    const bare = anomalyMessage(noticeOf('opened'), 'full', {});
    expect(bare.links.map(({ label }) => label)).toEqual(['runbook']);
  });

  it('keep the number that the detector found last', () => {
    expect(textOf(noticeOf('resolved', { event: resolvedEvent }))).toContain('251 ms');
  });
});
