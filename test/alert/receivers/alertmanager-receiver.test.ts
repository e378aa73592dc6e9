import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpSender } from '../../../src/alert/http/http-sender.ts';
import {
  type AlertmanagerReceiver,
  alertmanagerReceivers,
} from '../../../src/alert/receivers/alertmanager-receiver.ts';
import type { ReceiverClock } from '../../../src/alert/receivers/attempt.ts';
import { alert as alertSettings } from '../../../src/config/alert.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';
import { anyNotice, changes, kinds } from './kit/any-notice.ts';
import { localReceiver, responseOf, scriptedSender } from './kit/http-receiver.ts';
import { clockAt, hostileNames, links, noticeOf, resolvedEvent, richEvent } from './kit/notices.ts';
import { alertmanagerBody } from './kit/vendor-schemas.ts';

const now = '2026-11-21T10:31:00.000Z';
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Setup {
  readonly http: HttpSender;
  readonly settings?: object;
  readonly clock?: ReceiverClock;
  readonly dashboard?: boolean;
}

function receiversOf({ http, settings = {}, clock = clockAt(now), dashboard = true }: Setup) {
  const { receivers } = alertSettings.parse({
    receivers: [
      { type: 'alertmanager', name: 'am', urls: ['http://am.example:9093'], ...settings },
    ],
  });
  const [config] = receivers;
  if (config?.type !== 'alertmanager') throw new Error('no alertmanager');
  const options = { config, clock, links: dashboard ? links : {} };
  return alertmanagerReceivers(options, () => http);
}

function receiverOf(setup: Setup): AlertmanagerReceiver {
  const [receiver] = receiversOf(setup);
  if (receiver === undefined) throw new Error('no receiver');
  return receiver;
}

const alertIn = (body: string) => {
  const [alert] = alertmanagerBody.parse(JSON.parse(body));
  if (alert === undefined) throw new Error('no alert');
  return alert;
};

describe('Alertmanager’s responses', () => {
  it.each([
    [responseOf(400, '"alertname" is missing'), 'unacceptable', '400'],
    [responseOf(401), 'rejected', '401'],
    [responseOf(404), 'rejected', '404'],
    [responseOf(503), 'failed', '503'],
    [responseOf(200), 'accepted', '200'],
    [{ error: 'connection refused' }, 'failed', 'connection refused'],
  ] as const)('%j', async (result, outcome, answer) => {
    const { sender } = scriptedSender(result);
    const got = await receiverOf({ http: sender }).send(noticeOf('opened'), 'full');
    expect(got).toMatchObject({ outcome });
    expect(got.answer).toContain(answer);
  });

  it('that quote a secret do not show it', async () => {
    const { sender } = scriptedSender(responseOf(401, 'wrong password: CANARY-pass'));
    const settings = { username: 'ann', password: 'CANARY-pass' };
    const answer = await receiverOf({ http: sender, settings }).send(noticeOf('opened'), 'full');
    expect(answer.outcome).toBe('rejected');
    expect(answer.answer).toMatch(/^401.*: wrong password: \*\*\*$/);
  });

  it('that do not come end with the timeout', async () => {
    const local = await localReceiver(() => ({ hang: true }));
    closing.push(local.close);
    const clock = { ...clockAt(now), sleep: async () => undefined };
    const settings = { urls: [local.url], timeout: '700ms' };
    const answer = await receiverOf({ http: local.http, settings, clock }).send(
      noticeOf('opened'),
      'full',
    );
    expect(answer).toMatchObject({ outcome: 'failed', answer: 'no response within 700 ms' });
  });

  it('of a bug of ours are unacceptable, so that the minimal form is tried', async () => {
    const event = { ...richEvent, started_at: 'yesterday' };
    const { sender } = scriptedSender(responseOf(200));
    const answer = await receiverOf({ http: sender }).send(noticeOf('opened', { event }), 'full');
    expect(answer).toEqual({ outcome: 'unacceptable', answer: 'BUG: Invalid time value' });
  });
});

describe('an alert', () => {
  it('has only what never changes in its labels', async () => {
    const local = await localReceiver();
    closing.push(local.close);
    const receiver = receiverOf({ http: local.http, settings: { urls: [`${local.url}/prefix/`] } });
    await receiver.send(noticeOf('opened'), 'full');
    const [request] = local.seen;
    expect(request?.path).toBe('/prefix/api/v2/alerts');
    expect(request?.headers['content-type']).toBe('application/json');
    const alert = alertIn(request?.text ?? '');
    expect(alert).toMatchObject({
      labels: {
        alertname: 'TailmarkTailShift',
        severity: 'critical',
        kind: 'tail_shift',
        dedup_key: 'tail_shift/ranker/0011223344556677',
        model: 'ranker',
        version: '2026-11-01',
        request_type: 'search',
        region: 'eu-west-1',
      },
      startsAt: '2026-11-21T10:17:30.000Z',
      endsAt: '2026-11-21T10:35:00.000Z',
      generatorURL: `https://tailmark.example.com/incidents/${richEvent.id}`,
    });
    expect(Object.keys(alert.labels)).toHaveLength(8);
    expect(alert.annotations).toMatchObject({
      summary:
        'CRITICAL ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series',
      stage: 'queue',
      observed_ms: '512',
      runbook_url: 'https://runbooks.example.com/ranker',
      dashboard_url: `https://tailmark.example.com/incidents/${richEvent.id}`,
      anomaly_id: richEvent.id,
    });
    expect(alert.annotations.description).toContain('Look first: queue depth');
  });

  it('keeps the labels of the first series and names the worst one beside them', () => {
    const { sender } = scriptedSender();
    const event = { ...richEvent, members: richEvent.members?.toReversed() ?? [] };
    const alerts = [richEvent, event].map((each) => {
      const notice = noticeOf('opened', { event: each });
      const [preview] = receiverOf({ http: sender }).preview(notice, 'full');
      return alertIn(preview?.body ?? '');
    });
    expect(alerts[1]?.labels).toEqual(alerts[0]?.labels);
    expect(alerts.map(({ annotations }) => annotations.worst_series)).toEqual([
      'ranker (2026-11-01, search, eu-west-1)',
      'ranker (2026-11-01, search, us-east-1)',
    ]);
  });

  it('of cold starts has the label, of others it has not', () => {
    const event = { ...richEvent, cold_start: true };
    const { sender } = scriptedSender();
    const [preview] = receiverOf({ http: sender }).preview(noticeOf('opened', { event }), 'full');
    expect(alertIn(preview?.body ?? '').labels.cold_start).toBe('true');
  });

  it('has no link to a dashboard that there is none of, and texts alone in the minimal form', () => {
    const { sender } = scriptedSender();
    const receiver = receiverOf({ http: sender, dashboard: false });
    const [preview] = receiver.preview(noticeOf('opened'), 'minimal');
    const alert = alertIn(preview?.body ?? '');
    expect(alert.generatorURL).toBeUndefined();
    expect(Object.keys(alert.annotations)).toEqual([
      'summary',
      'description',
      'anomaly_id',
      'runbook_url',
    ]);
  });

  it('ends when the anomaly did, which is past for the server', async () => {
    const { sender, posts } = scriptedSender(responseOf(200));
    const receiver = receiverOf({ http: sender });
    await receiver.send(noticeOf('resolved'), 'full');
    const early = { ...resolvedEvent, resolved_at: '2026-11-21T10:31:00.000Z' };
    await receiver.send(noticeOf('resolved', { event: early }), 'full');
    expect(posts.map(({ body }) => alertIn(body).endsAt)).toEqual([
      '2026-11-21T10:29:39.024Z',
      '2026-11-21T10:30:59.000Z',
    ]);
  });

  it('never starts after its end, whatever event time says', async () => {
    const { sender, posts } = scriptedSender(responseOf(200));
    const event = { ...resolvedEvent, started_at: '2027-01-01T00:00:00.000Z' };
    await receiverOf({ http: sender }).send(noticeOf('resolved', { event }), 'full');
    expect(alertIn(posts[0]?.body ?? '').startsAt).toBe('2026-11-21T10:29:39.024Z');
  });
});

describe('a rise', () => {
  const severitiesOf = (bodies: readonly { readonly body: string }[]) =>
    bodies.map(({ body }) => alertIn(body).labels.severity);

  it('keeps the lower alert firing beside the higher one, which is sent first', async () => {
    const { sender, posts } = scriptedSender(responseOf(200));
    const receiver = receiverOf({ http: sender });
    await receiver.send(noticeOf('risen', { severities: ['info', 'warning', 'critical'] }), 'full');
    expect(severitiesOf(posts)).toEqual(['critical', 'warning', 'info']);
    expect(new Set(posts.map(({ body }) => alertIn(body).endsAt)).size).toBe(1);
  });

  it.each([
    ['risen', ['warning', 'critical']],
    ['updated', ['warning', 'critical']],
    ['opened', ['critical']],
    ['resolved', ['warning', 'critical']],
  ] as const)('says in each alert the severity of its labels: %s', (change, severities) => {
    const { sender } = scriptedSender();
    const previews = receiverOf({ http: sender }).preview(noticeOf(change, { severities }), 'full');
    const alerts = previews.map(({ body }) => alertIn(body));
    const stated = alerts.map(({ annotations }) => annotations.summary?.split(' ranker')[0]);
    const expected: Record<string, string> = {
      critical: change === 'risen' ? 'CRITICAL (was warning)' : 'CRITICAL',
      warning: 'WARNING (now critical)',
    };
    expect(alerts).toHaveLength(severities.length);
    expect(stated).toEqual(
      alerts.map(({ labels }) =>
        change === 'resolved' ? 'RESOLVED' : expected[labels.severity ?? ''],
      ),
    );
  });

  it('ends with all of them, the highest last, so that no lower one fires alone', () => {
    const { sender } = scriptedSender();
    const notice = noticeOf('resolved', { severities: ['warning', 'critical'] });
    const previews = receiverOf({ http: sender }).preview(notice, 'full');
    expect(severitiesOf(previews)).toEqual(['warning', 'critical']);
    expect(new Set(previews.map(({ body }) => alertIn(body).endsAt)).size).toBe(1);
  });

  it('stops at the first alert that is not accepted', async () => {
    const { sender, posts } = scriptedSender(responseOf(500), responseOf(200));
    const answer = await receiverOf({ http: sender }).send(noticeOf('risen'), 'full');
    expect(answer.outcome).toBe('failed');
    expect(answer.mayHaveArrived).toBeUndefined();
    expect(posts).toHaveLength(1);
  });

  it('may have arrived where only a later alert is not accepted', async () => {
    const { sender } = scriptedSender(responseOf(200), { error: 'connection refused' });
    const notice = noticeOf('risen', { severities: ['warning', 'critical'] });
    const answer = await receiverOf({ http: sender }).send(notice, 'full');
    expect(answer).toMatchObject({ outcome: 'failed', mayHaveArrived: true });
  });
});

describe('the clock of the server', () => {
  const at = (iso: string) => responseOf(200, '', Date.parse(iso));
  const endsOf = (posts: readonly { readonly body: string }[]) =>
    posts.map(({ body }) => alertIn(body).endsAt);

  it('counts where it differs: the alert is sent again at once, and rightly from then on', async () => {
    const { sender, posts } = scriptedSender(at('2026-11-21T10:41:00.000Z'));
    const receiver = receiverOf({ http: sender });
    await receiver.send(noticeOf('opened'), 'full');
    await receiver.send(noticeOf('updated'), 'full');
    await receiver.send(noticeOf('resolved'), 'full');
    expect(endsOf(posts)).toEqual([
      '2026-11-21T10:35:00.000Z',
      '2026-11-21T10:45:00.000Z',
      '2026-11-21T10:45:00.000Z',
      '2026-11-21T10:39:39.024Z',
    ]);
  });

  it('that is behind makes the end past for it', async () => {
    const { sender, posts } = scriptedSender(at('2026-11-21T10:26:00.000Z'));
    const event = { ...resolvedEvent, resolved_at: '2026-11-21T10:31:00.000Z' };
    await receiverOf({ http: sender }).send(noticeOf('resolved', { event }), 'full');
    expect(endsOf(posts)[1]).toBe('2026-11-21T10:25:59.000Z');
  });

  it('that is half a minute away does not', async () => {
    const { sender, posts } = scriptedSender(at('2026-11-21T10:31:30.000Z'));
    const receiver = receiverOf({ http: sender });
    await receiver.send(noticeOf('opened'), 'full');
    await receiver.send(noticeOf('updated'), 'full');
    expect(endsOf(posts)).toEqual(['2026-11-21T10:35:00.000Z', '2026-11-21T10:35:00.000Z']);
  });
});

describe('a cluster', () => {
  const names = (urls: readonly string[]) =>
    receiversOf({ http: scriptedSender().sender, settings: { urls } }).map(({ name }) => name);

  it('has a receiver for each address, named after its place', () => {
    expect(names(['http://a:9093'])).toEqual(['am']);
    expect(names(['http://a:9093', 'http://a:9093'])).toEqual(['am']);
    expect(names(['http://a:9093', 'https://u:CANARY@b/x', 'http://c'])).toEqual([
      'am a:9093',
      'am b:443',
      'am c:80',
    ]);
    expect(names(['https://m/a', 'https://m/b'])).toEqual(['am m:443/a', 'am m:443/b']);
  });

  it('is renewed every minute and for a quarter of an hour after the end', () => {
    const receiver = receiverOf({ http: scriptedSender().sender });
    expect(receiver.renewal).toEqual({ everyMs: 60_000, afterEndMs: 900_000 });
    expect([receiver.feed, receiver.wantsUpdates, receiver.wantsPast]).toEqual([
      'state',
      false,
      false,
    ]);
  });
});

describe('a login', () => {
  it.each([
    [{ username: 'ann', password: 'CANARY:1' }, 'Basic YW5uOkNBTkFSWTox'],
    [{ token: 'CANARY-token' }, 'Bearer CANARY-token'],
    [{ urls: ['http://ann:CANARY%3A1@am.example:9093'] }, 'Basic YW5uOkNBTkFSWTox'],
    [{}, undefined],
  ])('is a header and in no preview', async (settings, authorization) => {
    const { sender, posts } = scriptedSender(responseOf(200));
    const receiver = receiverOf({ http: sender, settings });
    await receiver.send(noticeOf('opened'), 'full');
    expect(posts[0]?.headers.authorization).toBe(authorization);
    expect(posts[0]?.url).toBe('http://am.example:9093/api/v2/alerts');
    const previews = receiver.preview(noticeOf('opened'), 'full');
    expect(leaksIn(JSON.stringify([previews, receiver.name]))).toEqual([]);
  });
});

describe('the watchdog', () => {
  it('always fires, by the clock of the server', async () => {
    const { sender, posts } = scriptedSender(
      responseOf(200, '', Date.parse('2026-11-21T10:21:00.000Z')),
    );
    const answer = await receiverOf({ http: sender }).sendWatchdog({ group_id: 'g1' });
    expect(answer.outcome).toBe('accepted');
    expect(posts).toHaveLength(2);
    expect(alertIn(posts[1]?.body ?? '')).toMatchObject({
      labels: { alertname: 'TailmarkWatchdog', severity: 'none', kind: 'watchdog', group_id: 'g1' },
      startsAt: '2026-11-21T10:21:00.000Z',
      endsAt: '2026-11-21T10:25:00.000Z',
    });
  });
});

describe('every body', () => {
  const receiver = receiverOf({ http: scriptedSender().sender });

  it('keeps Alertmanager’s rules, whatever the event', () => {
    fc.assert(
      fc.property(
        anyNotice,
        fc.constantFrom('full' as const, 'minimal' as const),
        (notice, form) => {
          for (const { body } of receiver.preview(notice, form)) alertIn(body);
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each(kinds)('of kind %s is valid at each change', (kind) => {
    const alertname = `Tailmark${kind.replace(/(^|_)(.)/g, (_, __, c: string) => c.toUpperCase())}`;
    for (const change of changes) {
      const notice = noticeOf(change);
      const event = { ...notice.event, kind };
      for (const { body } of receiver.preview({ ...notice, event }, 'full')) {
        expect(alertIn(body).labels.alertname).toBe(alertname);
      }
    }
  });

  it.each(hostileNames)('keeps the name %j a text', (name) => {
    const event = { ...richEvent, model: name, host: name };
    const [preview] = receiver.preview(noticeOf('opened', { event }), 'full');
    const { labels } = alertIn(preview?.body ?? '');
    expect(Object.keys(labels)).not.toContain('Bcc');
    expect(Buffer.byteLength(labels.model ?? '')).toBeLessThanOrEqual(1024);
  });
});
