import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpResult, HttpSender } from '../../../src/alert/http/http-sender.ts';
import { slackReceiver } from '../../../src/alert/receivers/slack-receiver.ts';
import { alert as alertSettings } from '../../../src/config/alert.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';
import { anyNotice, changes, kinds } from './kit/any-notice.ts';
import { localReceiver, responseOf, scriptedSender } from './kit/http-receiver.ts';
import { clockAt, hostileNames, links, noticeOf, richEvent } from './kit/notices.ts';
import {
  slackNewMessage,
  slackReplyBody,
  slackUpdate,
  slackWebhookBody,
} from './kit/vendor-schemas.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const bot = { token: 'xoxb-CANARY-token', channel: '#oncall' };
const hook = { url: 'https://hooks.slack.example/services/CANARY/B1' };

function receiverOf(
  http: HttpSender,
  settings: object = bot,
  clock = clockAt('2026-11-21T10:31:00Z'),
) {
  const { receivers } = alertSettings.parse({
    receivers: [{ type: 'slack', name: 'chat', ...settings }],
  });
  const [config] = receivers;
  if (config?.type !== 'slack') throw new Error('no slack');
  return slackReceiver({ config, links, clock, http });
}

const place = { channel: 'C024BE91L', ts: '1795256139.000200' };
const memory = JSON.stringify(place);
const ok = (fields: object = {}): HttpResult =>
  responseOf(200, JSON.stringify({ ok: true, ...fields }));
const posted = ok({ ...place, message: { text: 'x' } });
const refused = (error: string): HttpResult =>
  responseOf(200, JSON.stringify({ ok: false, error }));
const methodsOf = (posts: readonly { readonly url: string }[]) =>
  posts.map(({ url }) => url.slice(url.lastIndexOf('/') + 1));

describe('Slack’s responses', () => {
  it.each([
    ...[
      'ratelimited',
      'fatal_error',
      'internal_error',
      'service_unavailable',
      'request_timeout',
    ].map((error) => [error, 'failed'] as const),
    ...[
      'msg_too_long',
      'invalid_blocks',
      'msg_blocks_too_long',
      'no_text',
      'invalid_attachments',
    ].map((error) => [error, 'unacceptable'] as const),
    ...['invalid_auth', 'channel_not_found', 'not_in_channel', 'missing_scope', 'new_error'].map(
      (error) => [error, 'rejected'] as const,
    ),
  ])('200 with the error %s is %s', async (error, outcome) => {
    const { sender } = scriptedSender(refused(error));
    expect(await receiverOf(sender).send(noticeOf('opened'), 'full')).toEqual({
      outcome,
      answer: `Slack: ${error}`,
    });
  });

  it.each([
    [responseOf(200, '<html>proxy</html>'), 'rejected'],
    [responseOf(200, ''), 'rejected'],
    [responseOf(200, '{"ok":false'), 'rejected'],
    [responseOf(302), 'rejected'],
    [responseOf(500), 'failed'],
    [{ error: 'time-out' }, 'failed'],
    [{ ...responseOf(429), retryAfterMs: 30_000 }, 'failed'],
  ] as const)('%j', async (result, outcome) => {
    const { sender } = scriptedSender(result);
    const answer = await receiverOf(sender).send(noticeOf('opened'), 'full');
    expect(answer).toMatchObject({ outcome });
    if ('retryAfterMs' in result) expect(answer.retryAfterMs).toBe(result.retryAfterMs);
  });

  it('cut off within the repeated message still say where it is', async () => {
    const whole = JSON.stringify({ ok: true, ...place, message: { text: 'x'.repeat(9_000) } });
    const { sender } = scriptedSender(responseOf(200, whole.slice(0, 4096)));
    const answer = await receiverOf(sender).send(noticeOf('opened'), 'full');
    expect(answer).toEqual({ outcome: 'accepted', answer: 'ok', memory });
  });

  it('that say no place are accepted all the same', async () => {
    const { sender } = scriptedSender(responseOf(200, '{"ok":true,"message":{"text":"x'));
    const answer = await receiverOf(sender).send(noticeOf('opened'), 'full');
    expect(answer).toEqual({ outcome: 'accepted', answer: 'ok' });
  });
});

describe('with a bot token', () => {
  it('an incident is one message: posted, edited, with news in its thread', async () => {
    const local = await localReceiver(({ path }) => ({
      body: JSON.stringify({ ok: true, ...place, message: { of: path } }),
    }));
    closing.push(local.close);
    const receiver = receiverOf(local.http, { ...bot, url: `${local.url}/api/` });
    const opened = await receiver.send(noticeOf('opened'), 'full');
    expect(opened).toEqual({ outcome: 'accepted', answer: 'ok', memory });
    for (const change of ['updated', 'risen', 'resolved'] as const) {
      const answer = await receiver.send(noticeOf(change, { memory }), 'full');
      expect(answer).toEqual({ outcome: 'accepted', answer: 'ok', memory });
    }
    expect(local.seen.map(({ path }) => path)).toEqual(
      ['postMessage', 'update', 'update', 'postMessage', 'update', 'postMessage'].map(
        (method) => `/api/chat.${method}`,
      ),
    );
    const [first, edit, , risen, , end] = local.seen.map(({ text }) => JSON.parse(text) as unknown);
    expect(local.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer xoxb-CANARY-token',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(slackNewMessage.parse(first).channel).toBe('#oncall');
    expect(slackUpdate.parse(edit)).toMatchObject(place);
    expect(slackReplyBody.parse(risen)).toMatchObject({
      channel: place.channel,
      thread_ts: place.ts,
      reply_broadcast: true,
    });
    expect(slackReplyBody.parse(end).text).toMatch(/^RESOLVED ranker .*\n12 of 24 .* 251 ms/);
    expect(slackReplyBody.parse(end).reply_broadcast).toBeUndefined();
  });

  it.each(['message_not_found', 'cant_update_message', 'edit_window_closed', 'channel_not_found'])(
    'a message that cannot be edited (%s) is posted again, once',
    async (error) => {
      const { sender, posts } = scriptedSender(refused(error), posted);
      const answer = await receiverOf(sender).send(
        noticeOf('resolved', { memory: '{"channel":"C0","ts":"1.2"}' }),
        'full',
      );
      expect(methodsOf(posts)).toEqual(['chat.update', 'chat.postMessage']);
      expect(answer).toEqual({ outcome: 'accepted', answer: 'ok', memory });
    },
  );

  it('a retry after a refused reply does not edit again', async () => {
    const { sender, posts } = scriptedSender(ok(), refused('ratelimited'), ok(), ok());
    const receiver = receiverOf(sender);
    const notice = noticeOf('risen', { memory });
    expect((await receiver.send(notice, 'full')).outcome).toBe('failed');
    expect((await receiver.send(notice, 'full')).outcome).toBe('accepted');
    expect(methodsOf(posts)).toEqual(['chat.update', 'chat.postMessage', 'chat.postMessage']);
  });

  it('an attempt that is over does not reply any more: the next one does', async () => {
    let edited: (() => void) | undefined;
    const posts: string[] = [];
    const http: HttpSender = {
      async post({ url }) {
        posts.push(url);
        if (posts.length === 1) await new Promise<void>((done) => (edited = done));
        return ok();
      },
      close: async () => undefined,
    };
    const clock = { nowMs: () => 0, sleep: async () => undefined };
    const receiver = receiverOf(http, bot, clock);
    const answer = await receiver.send(noticeOf('risen', { memory }), 'full');
    expect(answer).toMatchObject({ outcome: 'failed', answer: 'no response within 5000 ms' });
    edited?.();
    await new Promise((done) => setImmediate(done));
    expect(posts).toHaveLength(1);
  });

  it.each(['', 'no json', '{"channel":7}', '{}'])(
    'without a place to remember (%j) the message is posted',
    async (nothing) => {
      const { sender, posts } = scriptedSender(posted);
      await receiverOf(sender).send(noticeOf('updated', { memory: nothing }), 'full');
      expect(methodsOf(posts)).toEqual(['chat.postMessage']);
    },
  );

  it('what is over before it could be delivered is one message', async () => {
    const { sender, posts } = scriptedSender(posted);
    await receiverOf(sender).send(noticeOf('past'), 'full');
    const [body] = posts.map((post) => slackNewMessage.parse(JSON.parse(post.body)));
    expect(body?.text).toMatch(/^ENDED ranker, most affected: p99 512 ms/);
    expect(body?.attachments[0]?.color).toBe('#2e8b57');
  });

  it('the colour is that of the severity until the end', () => {
    const { sender } = scriptedSender();
    const colors = (['critical', 'warning', 'info'] as const).map((severity) => {
      const event = { ...richEvent, severity };
      const [preview] = receiverOf(sender).preview(noticeOf('opened', { event }), 'full');
      return slackNewMessage.parse(JSON.parse(preview?.body ?? '')).attachments[0]?.color;
    });
    expect(colors).toEqual(['#c0392b', '#e69f00', '#5b7fa6']);
  });

  it('it wants updates and what is past', () => {
    const { feed, wantsUpdates, wantsPast } = receiverOf(scriptedSender().sender);
    expect([feed, wantsUpdates, wantsPast]).toEqual(['state', true, true]);
  });
});

describe('with an incoming webhook', () => {
  it.each([
    [responseOf(200, 'ok'), 'accepted'],
    [responseOf(400, 'invalid_payload'), 'unacceptable'],
    [responseOf(403, 'action_prohibited'), 'rejected'],
    [responseOf(404, 'no_service'), 'rejected'],
    [responseOf(410, 'channel_is_archived'), 'rejected'],
    [responseOf(500, 'rollup_error'), 'failed'],
  ] as const)('%j', async (result, outcome) => {
    const { sender, posts } = scriptedSender(result);
    expect(await receiverOf(sender, hook).send(noticeOf('opened'), 'full')).toMatchObject({
      outcome,
    });
    expect(posts[0]?.url).toBe(hook.url);
    slackWebhookBody.parse(JSON.parse(posts[0]?.body ?? ''));
  });

  it('each piece of news is a message of its own', () => {
    const { feed, wantsUpdates, wantsPast } = receiverOf(scriptedSender().sender, hook);
    expect([feed, wantsUpdates, wantsPast]).toEqual(['state', false, true]);
  });
});

describe('secrets', () => {
  it.each([bot, hook, { ...bot, url: 'https://slack.example/CANARY/api' }])(
    'are in no preview and no answer',
    async (settings) => {
      const quoting = {
        ...responseOf(401, 'POST /services/CANARY/B1 /CANARY/api xoxb-CANARY-token'),
      };
      const { sender } = scriptedSender(quoting);
      const receiver = receiverOf(sender, settings);
      const { answer } = await receiver.send(noticeOf('opened'), 'full');
      const known = 'url' in settings ? [new URL(settings.url).pathname] : [bot.token];
      for (const secret of known) expect(answer).not.toContain(secret);
      const previews = receiver.preview(noticeOf('risen', { memory }), 'full');
      expect(leaksIn(JSON.stringify([previews, receiver.name]))).toEqual([]);
    },
  );
});

describe('every body', () => {
  const receiver = receiverOf(scriptedSender().sender);
  const webhook = receiverOf(scriptedSender().sender, hook);
  const schemas = { 'chat.update': slackUpdate, 'chat.postMessage': slackNewMessage };
  const check = (target: string, body: string) => {
    const parsed = JSON.parse(body) as object;
    const method = target.endsWith('chat.update') ? 'chat.update' : 'chat.postMessage';
    return 'thread_ts' in parsed ? slackReplyBody.parse(parsed) : schemas[method].parse(parsed);
  };

  it('keeps Slack’s limits, and nothing in it takes effect, whatever the event', () => {
    fc.assert(
      fc.property(
        anyNotice,
        fc.constantFrom('', memory),
        fc.constantFrom('full' as const, 'minimal' as const),
        (notice, remembered, form) => {
          for (const { target, body } of receiver.preview(
            { ...notice, memory: remembered },
            form,
          )) {
            check(target, body);
          }
          for (const { body } of webhook.preview(notice, form)) {
            slackWebhookBody.parse(JSON.parse(body));
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each(kinds)('of kind %s is valid at each change', (kind) => {
    for (const change of changes) {
      const notice = noticeOf(change, { memory });
      const event = { ...notice.event, kind };
      const previews = receiver.preview({ ...notice, event }, 'full');
      expect(previews.length).toBe(change === 'opened' || change === 'updated' ? 1 : 2);
      for (const { target, body } of previews) check(target, body);
    }
  });

  it.each(hostileNames)('keeps the name %j a text', (name) => {
    const event = { ...richEvent, model: name, summary: name };
    for (const form of ['full', 'minimal'] as const) {
      for (const { target, body } of receiver.preview(noticeOf('risen', { event, memory }), form)) {
        check(target, body);
        expect(body).not.toMatch(/<!|<@|<#/);
      }
    }
  });

  it('shows a query as it is, or not at all', () => {
    const textsOf = (sql: string) => {
      const event = { ...richEvent, sql };
      const [preview] = receiver.preview(noticeOf('opened', { event }), 'full');
      const body = slackNewMessage.parse(JSON.parse(preview?.body ?? ''));
      return body.attachments.flatMap(({ blocks }) => blocks.map(({ text }) => text.text));
    };
    expect(textsOf("SELECT '<&>'").at(-1)).toBe("```SELECT '&lt;&amp;&gt;'```");
    // Three backticks would end the code: ClickHouse reads these bytes as the same literal.
    expect(textsOf("SELECT '```'").at(-1)).toBe("```SELECT '\\x60\\x60\\x60'```");
    expect(textsOf(`SELECT '${'x'.repeat(3_000)}'`).join()).not.toContain('SELECT');
  });

  it('in the minimal form removes the blocks of an earlier state', () => {
    const [edit] = receiver.preview(noticeOf('updated', { memory }), 'minimal');
    expect(JSON.parse(edit?.body ?? '')).toMatchObject({ blocks: [], attachments: [] });
  });

  it('leaves out the query before a fact, and a fact before the message', () => {
    const long = '&'.repeat(60);
    const event = {
      ...richEvent,
      sql: 'x'.repeat(2_900),
      summary: long.repeat(8),
      drivers: Array.from({ length: 3 }, () => ({
        ...(richEvent.drivers?.[0] ?? { facet: '' }),
        facet: long,
        value: long,
      })) as typeof richEvent.drivers,
      blame: Array.from({ length: 4 }, (_, i) => ({
        stage: `${i}${long}`,
        excess_ms: 1,
        share: 0.25,
      })),
      members: Array.from({ length: 3 }, (_, i) => ({
        ...(richEvent.members?.[0] as NonNullable<typeof richEvent.members>[number]),
        ...{ id: `${i}`, model: long, version: long, region: long, host: long, tenant: long },
      })),
    };
    const [preview] = receiver.preview(noticeOf('opened', { event }), 'full');
    const { attachments } = slackNewMessage.parse(JSON.parse(preview?.body ?? ''));
    const texts = attachments[0]?.blocks.map(({ text }) => text.text) ?? [];
    expect(texts.join('\n')).toContain('*What* &amp;');
    expect(texts.join('\n')).not.toContain('```');
  });
});

describe('an incoming webhook', () => {
  it.each([
    [responseOf(200, 'ok'), 'accepted'],
    [{ ...responseOf(200, ''), isCut: true as const }, 'accepted'],
    [responseOf(200, '<html>login please</html>'), 'rejected'],
    [responseOf(200, ''), 'rejected'],
    [responseOf(403, 'invalid_token'), 'rejected'],
  ])('that answers %j', async (result, outcome) => {
    const { sender } = scriptedSender(result);
    const answer = await receiverOf(sender, hook).send(noticeOf('opened'), 'full');
    expect(answer).toMatchObject({ outcome });
  });
});

it('a response of the Web API that broke off is tried again, and may have arrived', async () => {
  const { sender } = scriptedSender({ ...responseOf(200, '{"ok"'), isCut: true });
  const answer = await receiverOf(sender).send(noticeOf('opened'), 'full');
  expect(answer).toEqual({
    outcome: 'failed',
    answer: 'the response broke off',
    mayHaveArrived: true,
  });
});
