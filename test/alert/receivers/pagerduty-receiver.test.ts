import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpSender } from '../../../src/alert/http/http-sender.ts';
import { anomalyMessage } from '../../../src/alert/message/anomaly-message.ts';
import { PagerDutyReceiver } from '../../../src/alert/receivers/pagerduty-receiver.ts';
import {
  encodeEvent,
  triggerEvent,
} from '../../../src/alert/receivers/payloads/pagerduty-event.ts';
import { alert as alertSettings } from '../../../src/config/alert.ts';
import { anyNotice, changes, kinds } from './kit/any-notice.ts';
import { localReceiver, responseOf, scriptedSender } from './kit/http-receiver.ts';
import { clockAt, hostileNames, links, noticeOf, richEvent } from './kit/notices.ts';
import { pagerDutyBody, pagerDutyChange } from './kit/vendor-schemas.ts';

const routingKey = 'CANARYcanaryCANARYcanary12345678';
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function receiverOf(http: HttpSender, settings: object = {}) {
  const { receivers } = alertSettings.parse({
    receivers: [{ type: 'pagerduty', name: 'pd', routing_key: routingKey, ...settings }],
  });
  const [config] = receivers;
  if (config?.type !== 'pagerduty') throw new Error('no pagerduty');
  return new PagerDutyReceiver({ config, links, clock: clockAt('2026-11-21T10:31:00Z'), http });
}

const eventIn = (body: string | undefined) => pagerDutyBody.parse(body);
/** A preview with a key that has the form of one. */
const previewOf = (...notice: Parameters<PagerDutyReceiver['preview']>) =>
  receiverOf(scriptedSender().sender)
    .preview(...notice)
    .map(({ body }) => body.replace('"***"', `"${routingKey}"`));
const triggerIn = (body: string | undefined) => {
  const event = eventIn(body);
  if (event.event_action !== 'trigger') throw new Error('no trigger');
  return event;
};
const keysIn = (bodies: readonly string[]) =>
  bodies.map(eventIn).map(({ event_action, dedup_key }) => `${event_action} ${dedup_key}`);

describe('PagerDuty’s responses', () => {
  it.each([
    [
      responseOf(400, '{"message":"Event object is invalid","errors":["Length of \'summary\'…"]}'),
      'unacceptable',
    ],
    [
      responseOf(400, '{"errors":["Length of \'routing_key\' is incorrect (should be 32)"]}'),
      'rejected',
    ],
    [responseOf(400, '{"errors":["Invalid routing key"]}'), 'rejected'],
    [responseOf(413), 'unacceptable'],
    [responseOf(403), 'rejected'],
    [responseOf(200, '<html>Welcome to the proxy'), 'rejected'],
    [responseOf(429), 'failed'],
    [responseOf(500), 'failed'],
    [{ error: 'certificate has expired' }, 'failed'],
    [responseOf(202, '{"status":"success"}'), 'accepted'],
  ] as const)('%j', async (result, outcome) => {
    const { sender } = scriptedSender(result);
    expect(await receiverOf(sender).send(noticeOf('opened'), 'full')).toMatchObject({ outcome });
  });

  it('that quote the key do not show it', async () => {
    const { sender } = scriptedSender(responseOf(400, `no routing_key ${routingKey} here`));
    const { answer } = await receiverOf(sender).send(noticeOf('opened'), 'full');
    expect(answer).toMatch(/^400.*: no routing_key \*\*\* here$/);
  });
});

describe('an event', () => {
  it('triggers with all that PagerDuty shows', async () => {
    const local = await localReceiver(() => ({ status: 202 }));
    closing.push(local.close);
    const receiver = receiverOf(local.http, { url: `${local.url}/v2/enqueue` });
    const answer = await receiver.send(noticeOf('opened'), 'full');
    expect(answer.outcome).toBe('accepted');
    const [request] = local.seen;
    expect(request?.path).toBe('/v2/enqueue');
    const event = triggerIn(request?.text);
    expect(event).toMatchObject({
      routing_key: routingKey,
      dedup_key: 'tail_shift/ranker/0011223344556677',
      payload: {
        summary:
          'CRITICAL ranker, most affected: p99 512 ms, 2.1x its baseline, blame queue; since 10:17 UTC; 12 of 24 series',
        source: 'ranker',
        severity: 'critical',
        timestamp: '2026-11-21T10:17:30.000Z',
        component: 'ranker',
        group: 'tail_shift|ranker|features',
        class: 'tail_shift',
      },
      client: 'tailmark',
      client_url: `https://tailmark.example.com/incidents/${richEvent.id}`,
    });
    expect(event.links.map(({ text }) => text)).toEqual(['dashboard', 'trace', 'runbook']);
    expect(event.payload.custom_details).toMatchObject({
      'Look first': 'queue depth, concurrency and replicas of the model server',
      observed_ms: 512,
    });
  });

  it('of a rise is a second alert, and the end closes both', () => {
    const severities = ['warning', 'critical'] as const;
    const key = richEvent.dedup_key;
    expect(keysIn(previewOf(noticeOf('opened', { severities: ['warning'] }), 'full'))).toEqual([
      `trigger ${key}`,
    ]);
    expect(keysIn(previewOf(noticeOf('risen', { severities }), 'full'))).toEqual([
      `trigger ${key}/critical`,
    ]);
    expect(keysIn(previewOf(noticeOf('resolved', { severities }), 'full'))).toEqual([
      `resolve ${key}/critical`,
      `resolve ${key}`,
    ]);
  });

  it('of the end is retried as a whole when one key is not accepted', async () => {
    const { sender, posts } = scriptedSender(responseOf(202), responseOf(500), responseOf(202));
    const receiver = receiverOf(sender);
    const notice = noticeOf('resolved', { severities: ['warning', 'critical'] });
    expect((await receiver.send(notice, 'full')).outcome).toBe('failed');
    expect((await receiver.send(notice, 'full')).outcome).toBe('accepted');
    expect(posts).toHaveLength(4);
  });

  it('has a key within 255 characters that stays distinct', () => {
    const keyOf = (dedup_key: string) =>
      triggerIn(previewOf(noticeOf('opened', { event: { ...richEvent, dedup_key } }), 'full')[0])
        .dedup_key;
    const long = 'k'.repeat(400);
    expect(keyOf('k'.repeat(255))).toBe('k'.repeat(255));
    expect(keyOf(`${long}1`)).not.toBe(keyOf(`${long}2`));
    expect(keyOf(`${long}1`).length).toBeLessThanOrEqual(255);
  });

  it('too large for the API loses its last details first', () => {
    const message = {
      ...anomalyMessage(noticeOf('opened'), 'full', links),
      sql: '\u{1f600}'.repeat(127_990),
    };
    const event = triggerEvent('key', 'critical', message, 'full');
    const details = triggerIn(encodeEvent(routingKey, event)).payload.custom_details;
    expect(details).not.toHaveProperty('sql');
    expect(details).toMatchObject({ requests: 61_204, stage: 'queue' });
  });
});

describe('a preview', () => {
  it('shows the address and no key', () => {
    const [preview] = receiverOf(scriptedSender().sender).preview(noticeOf('opened'), 'full');
    expect(preview?.target).toBe('POST https://events.pagerduty.com/v2/enqueue');
    expect(preview?.body).toContain('"routing_key":"***"');
    expect(preview?.body).not.toContain(routingKey);
  });
});

describe('a change event', () => {
  it('goes to the address beside, names model and version, and nobody is paged', async () => {
    const { sender, posts } = scriptedSender(responseOf(202));
    const version = { model: 'ranker', version: 'v2\r\nx', firstSeenMs: 1_795_000_000_000 };
    const answer = await receiverOf(sender, {
      url: 'https://events.eu.pagerduty.com/v2/enqueue',
    }).sendChange(version);
    expect(answer.outcome).toBe('accepted');
    expect(posts[0]?.url).toBe('https://events.eu.pagerduty.com/v2/change/enqueue');
    expect(pagerDutyChange.parse(JSON.parse(posts[0]?.body ?? ''))).toMatchObject({
      payload: {
        summary: 'Version v2  x of model ranker seen for the first time',
        timestamp: '2026-11-18T11:06:40.000Z',
      },
    });
  });

  it.each(hostileNames)('is valid for the name %j', async (name) => {
    const { sender, posts } = scriptedSender(responseOf(202));
    await receiverOf(sender).sendChange({ model: name, version: name, firstSeenMs: 0 });
    pagerDutyChange.parse(JSON.parse(posts[0]?.body ?? ''));
  });
});

describe('every body', () => {
  it('keeps the rules of the Events API, whatever the event', () => {
    fc.assert(
      fc.property(
        anyNotice,
        fc.constantFrom('full' as const, 'minimal' as const),
        (notice, form) => {
          for (const body of previewOf(notice, form)) eventIn(body);
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each(kinds)('of kind %s is valid at each change', (kind) => {
    for (const change of changes) {
      const notice = noticeOf(change);
      const bodies = previewOf({ ...notice, event: { ...notice.event, kind } }, 'full');
      expect(bodies.length).toBeGreaterThan(0);
      bodies.forEach(eventIn);
    }
  });
});
