import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpSender } from '../../../src/alert/http/http-sender.ts';
import { WebhookReceiver } from '../../../src/alert/receivers/webhook-receiver.ts';
import { webhookSignature } from '../../../src/alert/webhook-signature.ts';
import { alert as alertSettings } from '../../../src/config/alert.ts';
import { anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';
import { anyNotice, changes, kinds } from './kit/any-notice.ts';
import { localReceiver, responseOf, scriptedSender } from './kit/http-receiver.ts';
import { clockAt, hostileNames, links, noticeOf, resolvedEvent, richEvent } from './kit/notices.ts';
import { alertmanagerWebhookBody } from './kit/vendor-schemas.ts';

const url = 'https://hooks.example.com/services/CANARY?t=CANARY';
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function receiverOf(http: HttpSender, settings: object = {}, to = links) {
  const { receivers } = alertSettings.parse({
    receivers: [{ type: 'webhook', name: 'hook', url, ...settings }],
  });
  const [config] = receivers;
  if (config?.type !== 'webhook') throw new Error('no webhook');
  return new WebhookReceiver({ config, links: to, clock: clockAt('2026-11-21T10:31:00Z'), http });
}

const alertmanager = { format: 'alertmanager' };
const bodyIn = (text: string | undefined) => alertmanagerWebhookBody.parse(JSON.parse(text ?? ''));

describe('a webhook’s response', () => {
  it.each([
    [responseOf(410), 'rejected'],
    [responseOf(307), 'rejected'],
    [responseOf(422), 'unacceptable'],
    [responseOf(502), 'failed'],
    [responseOf(204), 'accepted'],
  ] as const)('%j', async (result, outcome) => {
    const { sender } = scriptedSender(result);
    expect(await receiverOf(sender).send(noticeOf('opened'), 'full')).toMatchObject({ outcome });
  });

  it('that quotes the path, the query or a secret does not show them', async () => {
    const settings = {
      url: 'https://ann:CANARY-7f3a@hooks.example.com/services/CANARY?t=CANARY',
      token: 'CANARY-b91c',
      secret: 'CANARY-e2d8',
    };
    const quoted = 'no POST /services/CANARY?t=CANARY CANARY-b91c CANARY-e2d8 CANARY-7f3a';
    const { sender } = scriptedSender(responseOf(404, quoted));
    const receiver = receiverOf(sender, settings);
    const { answer } = await receiver.send(noticeOf('opened'), 'full');
    expect(answer).toMatch(/^404.*: no POST [* ]+$/);
    const shown = JSON.stringify([receiver.name, receiver.preview(noticeOf('opened'), 'full')]);
    expect(leaksIn(shown)).toEqual([]);
    expect(shown).toContain('"POST hooks.example.com"');
  });
});

describe('a CloudEvent', () => {
  it('is the event as it was emitted, in binary mode, signed', async () => {
    const local = await localReceiver();
    closing.push(local.close);
    const secret = 'whsec_c2VjcmV0';
    const receiver = receiverOf(local.http, { url: `${local.url}/hook?t=1`, secret });
    await receiver.send(noticeOf('opened'), 'full');
    const [request] = local.seen;
    const id = `${richEvent.id}-1`;
    const timestampSeconds = Date.parse('2026-11-21T10:31:00Z') / 1000;
    const body = JSON.stringify(richEvent);
    expect(request).toMatchObject({ path: '/hook?t=1', text: body });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': id,
      'ce-source': 'tailmark',
      'ce-type': 'io.tailmark.anomaly.opened.v1',
      'ce-time': richEvent.emitted_at,
      'ce-subject': richEvent.dedup_key,
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': webhookSignature({ secret, id, timestampSeconds, body }),
    });
    expect(request?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    [{ token: 'CANARY-b91c' }, 'Bearer CANARY-b91c'],
    [{ url: 'https://ann:a%2Fb@hooks.example.com/x' }, 'Basic YW5uOmEvYg=='],
    [{ url: 'https://ann:100%@hooks.example.com/x' }, 'Basic YW5uOjEwMCU='],
  ])('has the login as a header alone', async (settings, authorization) => {
    const { sender, posts } = scriptedSender(responseOf(200));
    await receiverOf(sender, settings).send(noticeOf('opened'), 'full');
    expect(posts[0]?.headers.authorization).toBe(authorization);
    expect(posts[0]?.url).not.toContain('ann');
    expect(posts[0]?.headers).not.toHaveProperty('webhook-signature');
  });

  it('of every revision, in order', () => {
    expect(receiverOf(scriptedSender().sender).feed).toBe('revisions');
  });

  it('of a test says so, and in the minimal form has no long parts', () => {
    const receiver = receiverOf(scriptedSender().sender);
    const [test] = receiver.preview(noticeOf('opened', { isTest: true }), 'full');
    expect(anomalyEventSchema.parse(JSON.parse(test?.body ?? '')).summary).toMatch(/^TEST 12 of/);
    const [minimal] = receiver.preview(noticeOf('opened'), 'minimal');
    const event = anomalyEventSchema.parse(JSON.parse(minimal?.body ?? ''));
    expect(event).toMatchObject({ id: richEvent.id, summary: richEvent.summary, sql: '' });
    expect(event).not.toHaveProperty('members');
  });
});

describe('Alertmanager’s body', () => {
  it('fires with the severity that is, and ends under the same fingerprint', () => {
    const receiver = receiverOf(scriptedSender().sender, alertmanager);
    const warning = { ...richEvent, severity: 'warning' as const };
    const [opened, risen, ended] = [
      noticeOf('opened', { event: warning, severities: ['warning'] }),
      noticeOf('risen'),
      noticeOf('resolved', { severities: ['warning', 'critical'] }),
    ].map((notice) => {
      const previews = receiver.preview(notice, 'full');
      expect(previews).toHaveLength(1);
      return bodyIn(previews[0]?.body);
    });
    expect(opened).toMatchObject({
      version: '4',
      status: 'firing',
      receiver: 'hook',
      groupKey:
        '{}:{alertname="TailmarkTailShift", dedup_key="tail_shift/ranker/0011223344556677"}',
      groupLabels: { alertname: 'TailmarkTailShift', dedup_key: richEvent.dedup_key },
      commonLabels: { severity: 'warning', model: 'ranker' },
      externalURL: 'https://tailmark.example.com/',
      alerts: [
        {
          status: 'firing',
          startsAt: richEvent.started_at,
          endsAt: '0001-01-01T00:00:00Z',
          generatorURL: `https://tailmark.example.com/incidents/${richEvent.id}`,
        },
      ],
    });
    expect(risen).toMatchObject({ status: 'firing', commonLabels: { severity: 'critical' } });
    expect(ended).toMatchObject({
      status: 'resolved',
      alerts: [{ endsAt: resolvedEvent.resolved_at }],
    });
    const same = [opened, risen, ended].map((body) => [
      body?.alerts[0]?.fingerprint,
      body?.groupKey,
    ]);
    expect(new Set(same.map(String)).size).toBe(1);
    expect(opened?.commonAnnotations.summary).toMatch(/^WARNING ranker, most affected: p99 512 ms/);
  });

  it('is of the newest state', () => {
    const { feed, wantsUpdates, wantsPast } = receiverOf(scriptedSender().sender, alertmanager);
    expect([feed, wantsUpdates, wantsPast]).toEqual(['state', false, false]);
  });

  it('is signed too', async () => {
    const { sender, posts } = scriptedSender(responseOf(200));
    await receiverOf(sender, { ...alertmanager, secret: 's' }).send(noticeOf('opened'), 'full');
    const [post] = posts;
    const input = { secret: 's', id: `${richEvent.id}-1`, timestampSeconds: 1_795_257_060 };
    expect(post?.headers['webhook-signature']).toBe(
      webhookSignature({ ...input, body: post?.body ?? '' }),
    );
  });

  it('keeps the rules of version 4, whatever the event', () => {
    const receiver = receiverOf(scriptedSender().sender, alertmanager);
    fc.assert(
      fc.property(
        anyNotice,
        fc.constantFrom('full' as const, 'minimal' as const),
        (notice, form) => {
          for (const { body } of receiver.preview(notice, form)) bodyIn(body);
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each(kinds)('of kind %s is valid at each change', (kind) => {
    const receiver = receiverOf(scriptedSender().sender, alertmanager, {} as typeof links);
    for (const change of changes) {
      const notice = noticeOf(change);
      const [preview] = receiver.preview({ ...notice, event: { ...notice.event, kind } }, 'full');
      expect(bodyIn(preview?.body).externalURL).toBe('');
    }
  });

  it.each(hostileNames)('keeps the name %j a text', (name) => {
    const receiver = receiverOf(scriptedSender().sender, alertmanager);
    const event = { ...richEvent, model: name, summary: name };
    bodyIn(receiver.preview(noticeOf('opened', { event }), 'full')[0]?.body);
  });
});
