import { describe, it } from 'vitest';
import type { HttpPost, HttpSender } from '../../src/alert/http/http-sender.ts';
import type { Form, Notice, Receiver } from '../../src/alert/receiver.ts';
import { alertmanagerReceivers } from '../../src/alert/receivers/alertmanager-receiver.ts';
import { EmailReceiver } from '../../src/alert/receivers/email-receiver.ts';
import { PagerDutyReceiver } from '../../src/alert/receivers/pagerduty-receiver.ts';
import { slackReceiver } from '../../src/alert/receivers/slack-receiver.ts';
import { TopicReceiver } from '../../src/alert/receivers/topic-receiver.ts';
import { WebhookReceiver } from '../../src/alert/receivers/webhook-receiver.ts';
import { alert as alertSettings } from '../../src/config/alert.ts';
import type { OutgoingMessage } from '../../src/kafka/client/publisher.ts';
import { ca, localSmtp } from '../alert/receivers/kit/local-smtp.ts';
import { clockAt, links } from '../alert/receivers/kit/notices.ts';
import { kinds, noticesOf } from './events-of-kinds.ts';
import { digestOf, expectGolden } from './expect-golden.ts';

const clock = clockAt('2026-11-21T10:31:00.000Z');
const settings = [
  { type: 'alertmanager', name: 'alertmanager', urls: ['http://am.example:9093'], token: 't' },
  { type: 'pagerduty', name: 'pagerduty', routing_key: '0'.repeat(32) },
  { type: 'slack', name: 'slack', token: 'xoxb-0000', channel: '#ml-latency' },
  { type: 'slack', name: 'slack-webhook', url: 'https://hooks.slack.example/T/B/x' },
  {
    type: 'webhook',
    name: 'cloudevents',
    url: 'https://hooks.example.com/in',
    secret: 'whsec_MfKQ',
  },
  {
    type: 'webhook',
    name: 'as-alertmanager',
    format: 'alertmanager',
    url: 'https://u:p@a.example',
  },
];

interface Sent {
  readonly target: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A receiver, and what it has sent since the last time it was asked; without that, its previews are shown. */
interface Recorded {
  readonly receiver: Receiver;
  readonly taken?: () => Sent[];
}

/** Accepts everything, as the service would. */
function senderInto(sent: Sent[]): HttpSender {
  return {
    post: async ({ url, headers, body }: HttpPost) => {
      sent.push({ target: `POST ${url}`, headers, body });
      const isSlack = url.includes('slack');
      const text = url.includes('hooks.slack') ? 'ok' : '{"ok":true,"channel":"C1","ts":"17.01"}';
      const status = url.includes('pagerduty') ? 202 : 200;
      return { status, text: isSlack ? text : '', retryAfterMs: undefined, dateMs: undefined };
    },
    close: async () => undefined,
  };
}

function overHttp(): Recorded[] {
  return alertSettings.parse({ receivers: settings }).receivers.flatMap((config) => {
    const sent: Sent[] = [];
    const http = senderInto(sent);
    const options = { links, clock, http };
    const open = (): Receiver[] => {
      if (config.type === 'alertmanager') {
        return alertmanagerReceivers({ ...options, config }, () => http);
      }
      if (config.type === 'pagerduty') return [new PagerDutyReceiver({ ...options, config })];
      if (config.type === 'slack') return [slackReceiver({ ...options, config })];
      if (config.type === 'webhook') return [new WebhookReceiver({ ...options, config })];
      return [];
    };
    return open().map((receiver) => ({ receiver, taken: () => sent.splice(0) }));
  });
}

function overKafka(): Recorded {
  const sent: Sent[] = [];
  const publisher = {
    publish: async (topic: string, messages: readonly OutgoingMessage[]) => {
      for (const { key, value, headers } of messages) {
        sent.push({ target: `PUBLISH ${topic} ${key}`, headers: headers ?? {}, body: `${value}` });
      }
    },
    close: async () => undefined,
  };
  const options = { topic: 'inference.latency-anomalies.v1', publisher, clock, timeoutMs: 900 };
  return { receiver: new TopicReceiver(options), taken: () => sent.splice(0) };
}

/** A mail as it arrives, but for the boundary of its parts, which is random. */
async function overSmtp() {
  const server = await localSmtp();
  const { receivers } = alertSettings.parse({
    receivers: [
      {
        ...{ type: 'email', name: 'mail', server: `mail.example:${server.port}` },
        ...{ from: 'tailmark@example.com', to: ['oncall@example.com', 'ml@example.com'] },
      },
    ],
  });
  const [config] = receivers;
  if (config?.type !== 'email') throw new Error('no mail');
  const receiver = new EmailReceiver({
    config,
    links,
    ca,
    clock,
    resolve: async () => '127.0.0.1',
  });
  const taken = () =>
    server.mails.splice(0).map(({ from, to, raw }): Sent => {
      const [, boundary = '-'] = /boundary="([^"]+)"/.exec(raw) ?? [];
      const body = raw.replaceAll(boundary, 'BOUNDARY').replaceAll('\r\n', '\n');
      return { target: `MAIL ${from} to ${to.join(', ')}`, headers: {}, body };
    });
  return { receiver, taken, close: server.close };
}

/** JSON with a field a line; any other text as it is. */
function shownBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 1);
  } catch {
    return body;
  }
}

async function deliver({ receiver, taken }: Recorded, notice: Notice, form: Form) {
  const memory = notice.change === 'opened' ? '' : (receiver.exampleMemory ?? '');
  if (taken === undefined) {
    const previews = receiver.preview({ ...notice, memory }, form);
    return { sent: previews.map((preview): Sent => ({ ...preview, headers: {} })), memory: '' };
  }
  const answer = await receiver.send({ ...notice, memory }, form);
  if (answer.outcome !== 'accepted') throw new Error(`${receiver.name}: ${answer.answer}`);
  return { sent: taken(), memory: answer.memory ?? '' };
}

/** What is shown as it is; of all else there is a digest, and its length. */
function isShown({ change, isTest }: Notice, form: Form, isWhole: boolean, name: string): boolean {
  if (isTest || form === 'minimal') return isWhole && change === 'opened' && !isTest;
  if (isWhole) return change !== 'past' && change !== 'updated';
  const isReadElsewhere = name.includes('alertmanager') || name.includes('webhook');
  return change === 'opened' && !isReadElsewhere && !name.startsWith('kafka');
}

async function messagesOf(recorded: Recorded, kind: (typeof kinds)[number]): Promise<string[]> {
  const lines: string[] = [];
  const { name } = recorded.receiver;
  const isWhole = kind === 'tail_shift';
  for (const form of ['full', 'minimal'] as const) {
    for (const notice of noticesOf(kind)) {
      const test = notice.isTest ? ', a test' : '';
      const { sent, memory } = await deliver(recorded, notice, form);
      lines.push(`### ${name}: ${notice.change}${test}, ${form}`);
      for (const { target, headers, body } of sent) {
        const shown = isShown(notice, form, isWhole, name);
        const fields = isWhole && shown ? Object.entries(headers) : [];
        lines.push(target, ...fields.map(([field, value]) => `${field}: ${value}`));
        const ofHeaders = digestOf(JSON.stringify(headers));
        lines.push(`${body.length} characters ${digestOf(body)}, headers ${ofHeaders}`);
        if (shown) lines.push(shownBody(body));
      }
      if (memory !== '') lines.push(`remembers ${memory}`);
    }
  }
  return lines;
}

describe('what each receiver is sent', () => {
  it.each(kinds)('of an episode of %s is as recorded', async (kind) => {
    const { close, ...mail } = await overSmtp();
    const lines: string[] = [];
    // A login and a handshake for each mail take seconds: one kind is sent.
    const shownMail = kind === 'tail_shift' ? mail : { receiver: mail.receiver };
    for (const recorded of [...overHttp(), overKafka(), shownMail]) {
      lines.push(...(await messagesOf(recorded, kind)));
    }
    await close();
    expectGolden(`alerts/${kind}.txt`, lines.join('\n'));
  });

  it('beside anomalies is as recorded: heartbeats, changes of versions', async () => {
    const lines: string[] = [];
    for (const { receiver, taken } of overHttp()) {
      await receiver.heartbeat?.send();
      if (receiver instanceof PagerDutyReceiver) {
        const version = { model: 'ranker', version: '2', firstSeenMs: clock.nowMs() };
        await receiver.sendChange(version);
      }
      for (const { target, body } of taken?.() ?? []) lines.push(target, shownBody(body));
    }
    expectGolden('alerts/beside.txt', lines.join('\n'));
  });
});
