import { z } from 'zod';

// Fields and limits that vendors publish for the bodies they accept. A field that is not listed is refused.

const time = z.iso.datetime({ offset: true });
const httpUrl = z.url({ protocol: /^https?$/ });
const bytes = (text: string) => Buffer.byteLength(text);
const chars = (max: number) => z.string().min(1).max(max);

/** Text for people: one line, nothing that hides or turns it. */
const visible = (text: string) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
const visibleLines = (text: string) => text.split('\n').every(visible);
const line = z.string().refine(visible, { error: 'has a hidden character' });
const lines = z.string().refine(visibleLines, { error: 'has a hidden character' });

const labelName = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/);
const labels = z
  .record(labelName, line)
  .refine((all) => Object.values(all).every((value) => value !== '' && bytes(value) <= 1024), {
    error: 'must have label values of 1 to 1,024 bytes',
  })
  .refine(({ alertname }) => alertname !== undefined, { error: 'must have an alertname' });
const annotations = z.record(
  labelName,
  lines.refine((text) => text !== '', { error: 'must not be empty' }),
);

/** `POST /api/v2/alerts` of Alertmanager, by its openapi.yaml and its checks. One alert a request is ours. */
export const alertmanagerBody = z
  .array(
    z
      .strictObject({
        labels,
        annotations,
        startsAt: time,
        endsAt: time,
        generatorURL: httpUrl.optional(),
      })
      .refine(({ startsAt, endsAt }) => startsAt <= endsAt, { error: 'must start before its end' }),
  )
  .length(1);

/** The webhook body of Alertmanager, version 4, by its documentation. */
export const alertmanagerWebhookBody = z
  .strictObject({
    version: z.literal('4'),
    groupKey: line.min(1),
    truncatedAlerts: z.literal(0),
    status: z.enum(['firing', 'resolved']),
    receiver: line.min(1),
    groupLabels: z.record(labelName, line),
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: z.union([httpUrl, z.literal('')]),
    alerts: z
      .array(
        z.strictObject({
          status: z.enum(['firing', 'resolved']),
          labels,
          annotations,
          startsAt: time,
          endsAt: time,
          generatorURL: z.union([httpUrl, z.literal('')]),
          fingerprint: z.string().regex(/^[0-9a-f]{16}$/),
        }),
      )
      .length(1),
  })
  .refine(({ status, alerts }) => alerts.every((alert) => alert.status === status), {
    error: 'must have the status of its alerts',
  })
  .refine(
    ({ alerts }) =>
      alerts.every(
        ({ status, endsAt }) => (endsAt === '0001-01-01T00:00:00Z') === (status === 'firing'),
      ),
    { error: 'must have no end while it fires' },
  );

const routingKey = z.string().regex(/^[0-9a-zA-Z]{32}$/);
const dedupKey = line.min(1).max(255);
const pagerDutyLinks = z.array(z.strictObject({ href: httpUrl, text: line.min(1) }));

const trigger = z.strictObject({
  routing_key: routingKey,
  event_action: z.literal('trigger'),
  dedup_key: dedupKey,
  payload: z.strictObject({
    summary: line.min(1).max(1024),
    source: line.min(1),
    severity: z.enum(['critical', 'error', 'warning', 'info']),
    timestamp: time,
    component: line.min(1).optional(),
    group: line.min(1),
    class: line.min(1),
    custom_details: z.record(z.string(), z.union([lines, z.number()])),
  }),
  links: pagerDutyLinks,
  client: line,
  client_url: httpUrl.optional(),
});
const resolve = z.strictObject({
  routing_key: routingKey,
  event_action: z.literal('resolve'),
  dedup_key: dedupKey,
});

/** `POST /v2/enqueue` of PagerDuty's Events API v2, parsed from its text for the limit of its size. */
export const pagerDutyBody = z
  .string()
  .refine((text) => bytes(text) <= 512_000, { error: 'must have 512,000 bytes at most' })
  .transform((text) => JSON.parse(text) as unknown)
  .pipe(z.discriminatedUnion('event_action', [trigger, resolve]));

/** `POST /v2/change/enqueue`. */
export const pagerDutyChange = z.strictObject({
  routing_key: routingKey,
  payload: z.strictObject({
    summary: line.min(1).max(1024),
    source: line,
    timestamp: time,
    custom_details: z.record(z.string(), line),
  }),
  links: pagerDutyLinks,
});

/** Code is a whole text or nothing: within a text it would swallow what follows. */
function isWholeCode(text: string): boolean {
  const fences = text.split('```').length - 1;
  return fences === 0 || (fences === 2 && text.startsWith('```') && text.endsWith('```'));
}

/** Text that Slack parses: angle brackets only around our links, `&` only in entities. */
function isInert(text: string): boolean {
  const rest = text.replace(/<https?:\/\/[^<>|\s]+\|(dashboard|trace|runbook)>/g, '');
  return !/[<>]/.test(rest) && !/&(?!(amp|lt|gt);)/.test(rest);
}
const slackText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(visibleLines, { error: 'has a hidden character' })
    .refine(isWholeCode, { error: 'has code within a text' })
    .refine(isInert, { error: 'has an active "<", ">" or "&"' });

const header = z.strictObject({
  type: z.literal('header'),
  text: z.strictObject({
    type: z.literal('plain_text'),
    text: slackText(150),
    emoji: z.literal(false),
  }),
});
const section = z.strictObject({
  type: z.literal('section'),
  text: z.strictObject({
    type: z.literal('mrkdwn'),
    text: slackText(3000),
    verbatim: z.literal(true),
  }),
});
const blocks = z.array(z.union([header, section])).max(50);
const attachments = z
  .array(z.strictObject({ color: z.string().regex(/^#[0-9a-f]{6}$/), blocks }))
  .max(20);
const literal = {
  parse: z.literal('none'),
  link_names: z.literal(false),
  unfurl_links: z.literal(false),
  unfurl_media: z.literal(false),
};
/** Characters of all blocks beyond which Slack answers msg_blocks_too_long. */
const maxBlockChars = 13_200;

const slackMessage = z
  .strictObject({ text: slackText(4000), blocks, attachments, ...literal })
  .refine(
    (body) => {
      const all = [...body.blocks, ...body.attachments.flatMap((each) => each.blocks)];
      return all.reduce((sum, { text }) => sum + text.text.length, 0) < maxBlockChars;
    },
    { error: 'has too long blocks' },
  );
const ts = z.string().regex(/^\d+\.\d+$/);

/** Bodies of an incoming webhook and of the Web API's methods. */
export const slackWebhookBody = slackMessage;
export const slackNewMessage = slackMessage.safeExtend({ channel: chars(80) });
export const slackUpdate = slackMessage.safeExtend({ channel: chars(80), ts });
export const slackReplyBody = z.strictObject({
  channel: chars(80),
  thread_ts: ts,
  text: slackText(4000),
  reply_broadcast: z.literal(true).optional(),
  ...literal,
});
