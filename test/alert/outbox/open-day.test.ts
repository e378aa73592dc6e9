import { expect, it } from 'vitest';
import type { HttpPost, HttpSender } from '../../../src/alert/http/http-sender.ts';
import type { Receiver } from '../../../src/alert/receiver.ts';
import { PagerDutyReceiver } from '../../../src/alert/receivers/pagerduty-receiver.ts';
import { slackReceiver } from '../../../src/alert/receivers/slack-receiver.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { minuteMs } from '../../../src/base/time.ts';
import { alert } from '../../../src/config/alert.ts';
import { resolved, World } from './world.ts';

it('a day of an open anomaly is one message in a chat, edited as it goes, and one page', async () => {
  const posts: HttpPost[] = [];
  const http: HttpSender = {
    post: async (post) => {
      posts.push(post);
      const isSlack = post.url.includes('/slack/');
      const text = isSlack ? '{"ok":true,"channel":"C1","ts":"1.2"}' : 'ok';
      return { status: isSlack ? 200 : 202, text, retryAfterMs: undefined, dateMs: undefined };
    },
    close: async () => undefined,
  };
  const world = await World.started(...receiversOn(http));
  await world.emit({ id: 'a', severity: 'critical' });
  let revision = 1;
  for (let minute = 0; minute < 24 * 60; minute += 10) {
    await world.clock.advance(10 * minuteMs);
    await world.emit({ id: 'a', revision: ++revision, state: 'updated', severity: 'critical' });
    if (minute === 12 * 60) await world.restart();
  }
  const sent = () => {
    const counts: Record<string, number> = {};
    for (const { url, body } of posts) {
      const { event_action = '' } = JSON.parse(body) as { event_action?: string };
      const what = `${url.slice(url.lastIndexOf('/') + 1)} ${event_action}`.trim();
      counts[what] = (counts[what] ?? 0) + 1;
    }
    return counts;
  };
  expect(sent()).toEqual({
    'chat.postMessage': 1,
    'chat.update': 144,
    'enqueue trigger': 1,
  });
  await world.emit({ id: 'a', revision: ++revision, severity: 'critical', ...resolved });
  await world.clock.advance(minuteMs);
  // The end is an edit and a reply in the thread of the message.
  expect(sent()).toEqual({
    'chat.postMessage': 2,
    'chat.update': 145,
    'enqueue trigger': 1,
    'enqueue resolve': 1,
  });
});

/** Slack's bot and PagerDuty as configured, on a sender of the test. */
function receiversOn(http: HttpSender): Receiver[] {
  const config = alert.parse({
    receivers: [
      { type: 'slack', name: 'chat', url: 'http://a/slack', token: 'xoxb-1-2', channel: 'C1' },
      {
        ...{ type: 'pagerduty', name: 'pager', url: 'http://a/v2/enqueue' },
        routing_key: 'fedcba9876543210fedcba9876543210',
      },
    ],
  });
  return config.receivers.map((each) => {
    const options = { links: config, clock: systemClock, http };
    if (each.type === 'slack') return slackReceiver({ ...options, config: each });
    if (each.type === 'pagerduty') return new PagerDutyReceiver({ ...options, config: each });
    throw new Error(each.type);
  });
}
