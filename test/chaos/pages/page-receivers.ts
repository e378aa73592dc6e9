import { z } from 'zod';
import { type AcceptedPost, BadReceiver } from './bad-receiver.ts';
import type { PagePlanOptions } from './page-plan.ts';
import {
  type Acceptance,
  type ReceiverSummary,
  summarizeRevisions,
  summarizeStates,
} from './page-summary.ts';

/** A receiver of the storm: how it is configured, and how its requests are read. */
export interface StormReceiver {
  readonly name: string;
  readonly server: BadReceiver;
  /** Its entry of `alert.receivers`. */
  readonly settings: () => object;
  readonly summary: (options: PagePlanOptions, skipped: ReadonlySet<string>) => ReceiverSummary;
}

const pager = z.object({
  event_action: z.enum(['trigger', 'resolve']),
  dedup_key: z.string(),
  payload: z.object({ component: z.string() }).optional(),
});
const hook = z.object({
  alerts: z.array(
    z.object({ status: z.string(), labels: z.object({ model: z.string(), severity: z.string() }) }),
  ),
});
const modelIn = (text: string) => /model-\d+/.exec(text)?.[0] ?? '';

/** Six receivers of five kinds. Slack's bot gives each message a time of its own. */
export function stormReceivers(): StormReceiver[] {
  let messages = 0;
  const slackText = (body: string) => {
    const ts = /"ts":"([^"]+)"/.exec(body)?.[1] ?? `${++messages}.0`;
    return JSON.stringify({ ok: true, channel: 'C0', ts });
  };
  return [
    states(
      'pagerduty',
      new BadReceiver(202),
      (url) => ({
        ...{ type: 'pagerduty', url: `${url}/v2/enqueue` },
        routing_key: 'fedcba9876543210fedcba9876543210',
      }),
      pagerDutyOf,
    ),
    states(
      'slack-hook',
      new BadReceiver(200),
      (url) => ({ type: 'slack', url: `${url}/hook` }),
      slackOf,
    ),
    states(
      'slack-bot',
      new BadReceiver(200, slackText),
      (url) => ({
        ...{ type: 'slack', url, token: 'xoxb-token-of-the-storm', channel: 'C0' },
      }),
      slackBotOf,
    ),
    states(
      'rootly',
      new BadReceiver(200),
      (url) => ({
        ...{ type: 'webhook', url: `${url}/alerts`, format: 'alertmanager' },
      }),
      hookOf,
    ),
    revisions('events', new BadReceiver(200)),
    revisions('audit', new BadReceiver(200)),
  ];
}

function states(
  name: string,
  server: BadReceiver,
  settings: (url: string) => object,
  read: (post: AcceptedPost, seen: Map<string, string>) => Omit<Acceptance, 'atMs'> | undefined,
): StormReceiver {
  return {
    name,
    server,
    settings: () => ({ name, timeout: '1s', ...settings(server.url) }),
    summary: (options, skipped) => {
      const seen = new Map<string, string>();
      const accepted = server.accepted.flatMap((post) => {
        const found = read(post, seen);
        return found === undefined ? [] : [{ ...found, atMs: post.atMs }];
      });
      return summarizeStates(name, server.requests, accepted, options, skipped);
    },
  };
}

function revisions(name: string, server: BadReceiver): StormReceiver {
  return {
    name,
    server,
    settings: () => ({ name, timeout: '1s', type: 'webhook', url: `${server.url}/${name}` }),
    summary: (options) => {
      const accepted = server.accepted.map(({ headers, body, atMs }) => ({
        what: String(headers['ce-id']).split('-').at(-1) ?? '',
        model: modelIn(body),
        atMs,
      }));
      return summarizeRevisions(name, server.requests, accepted, options);
    },
  };
}

/**
 * A trigger names its model, a resolve only the key: that of the last trigger with it. One without a trigger does
 * nothing.
 */
function pagerDutyOf({ body }: AcceptedPost, seen: Map<string, string>) {
  const { event_action, dedup_key, payload } = pager.parse(JSON.parse(body));
  const base = dedup_key.replace(/\/critical$/, '');
  if (event_action === 'trigger') {
    const model = payload?.component ?? '';
    // A rise has a key of its own, also where it is the first that could be delivered.
    const isRise = dedup_key !== base && seen.get(base) === model;
    seen.set(dedup_key, model);
    if (!isRise) seen.set(base, model);
    return { what: isRise ? 'risen' : 'opened', model };
  }
  const model = seen.get(base);
  return dedup_key === base && model !== undefined ? { what: 'resolved', model } : undefined;
}

function slackOf({ body }: AcceptedPost) {
  return { what: changeIn(body), model: modelIn(body) };
}

/** Edits and replies are not counted: the message of an incident is posted once. */
function slackBotOf(post: AcceptedPost, seen: Map<string, string>) {
  const { path, body } = post;
  const model = modelIn(body);
  if (path.endsWith('chat.update')) {
    if (changeIn(body) !== 'resolved' || seen.get(model) === 'resolved') return undefined;
    seen.set(model, 'resolved');
    return { what: 'resolved', model };
  }
  if (/"thread_ts"/.test(body)) return undefined;
  return { what: changeIn(body), model };
}

function hookOf({ body }: AcceptedPost, seen: Map<string, string>) {
  const { alerts } = hook.parse(JSON.parse(body));
  const [first] = alerts;
  const model = first?.labels.model ?? '';
  if (alerts.every(({ status }) => status === 'resolved')) return { what: 'resolved', model };
  const isKnown = seen.has(model);
  const isRise = isKnown && seen.get(model) !== alerts.map(({ labels }) => labels.severity).join();
  seen.set(model, alerts.map(({ labels }) => labels.severity).join());
  return { what: isRise ? 'risen' : 'opened', model };
}

function changeIn(body: string): string {
  const first = /"text":"([A-Z]+)/.exec(body)?.[1] ?? '';
  if (first === 'ENDED') return 'past';
  if (first === 'RESOLVED') return 'resolved';
  return /[Rr]isen|[Rr]ose|was warning/.test(body) ? 'risen' : 'opened';
}
