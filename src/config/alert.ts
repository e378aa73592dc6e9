import { z } from 'zod';
import { type Dimension, dimensions } from '../base/dimensions.ts';
import { dayMs, minuteMs } from '../base/time.ts';
import {
  duration,
  httpUrl,
  mailAddress,
  mailServer,
  receiverUrl,
  topicName,
} from './setting-types.ts';

const severities = ['info', 'warning', 'critical'] as const;
/** Kinds of anomalies, which receivers choose from. */
export const anomalyKinds = [
  'tail_shift',
  'slo_burn',
  'error_rate',
  'cold_starts',
  'throughput_drop',
  'no_data',
  'drift',
  'pipeline',
] as const;

const pattern = z.string().min(1).max(256);

const dimensionPatterns = Object.fromEntries(
  dimensions
    .filter((dimension) => dimension !== 'model' && dimension !== 'cold_start')
    .map((dimension) => [
      dimension,
      z.array(pattern).min(1).optional().describe('Values of this dimension; * matches any text.'),
    ]),
) as Record<Exclude<Dimension, 'model' | 'cold_start'>, z.ZodOptional<z.ZodArray<z.ZodString>>>;

const match = z
  .strictObject({
    severity: z.enum(severities).default('info').describe('Least severity.'),
    kinds: z
      .array(z.enum(anomalyKinds))
      .min(1)
      .optional()
      .describe('Kinds; all where it is not set.'),
    models: z
      .array(pattern)
      .min(1)
      .optional()
      .describe('Models; * matches any text. All where it is not set.'),
    ...dimensionPatterns,
    attributes: z
      .record(z.string(), z.array(pattern).min(1))
      .optional()
      .describe('Own dimensions, likewise.'),
  })
  .prefault({})
  .describe('Which anomalies it gets: those that meet all of these. By default all.');

const common = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be lower-case letters, digits, "-" and "_"')
    .meta({ form: 'a name of lower-case letters, digits, "-" and "_"' })
    .describe('Name in logs, metrics and the table `deliveries`. A new name is a new receiver.'),
  match,
  timeout: duration('5s', 100, minuteMs).describe('Maximum wait for a response.'),
};
const caFile = z.string().optional().describe('PEM file of the authority that signed the server.');
const secretText = z.string().optional().meta({ secret: true });
const secretUrl = receiverUrl.optional().meta({ secret: true, inFile: true });

/** Base address. The path of the API is refused and not stripped, so that an address has one spelling. */
const alertmanagerUrl = receiverUrl
  .superRefine((text, context) => {
    const refuse = (message: string, hint: string) =>
      context.addIssue({ code: 'custom', message, params: { hint } });
    if (/[?#]/.test(text)) refuse('must have no query and no fragment', 'Keep what is before it.');
    if (/\/api\/v\d+(\/alerts)?\/*$/.test(text)) {
      refuse('must be the base address', 'Leave /api/v2/alerts out: tailmark adds it.');
    }
  })
  .meta({ form: 'an http or https URL' });

const alertmanager = z.strictObject({
  type: z
    .literal('alertmanager')
    .describe('alertmanager: Prometheus Alertmanager 0.25 or later, API v2.'),
  ...common,
  urls: z
    .array(alertmanagerUrl)
    .min(1)
    .max(16)
    .describe('Base addresses; each Alertmanager of a cluster is sent every alert.'),
  username: z
    .string()
    .min(1)
    .optional()
    .meta({ holdsNoLogin: true })
    .describe('User name, for basic authentication; together with a password.'),
  password: secretText.describe('Password, from the environment.'),
  password_file: z.string().optional().describe('File whose first line is the password.'),
  token: secretText.describe('Bearer token, from the environment.'),
  token_file: z.string().optional().describe('File whose first line is the bearer token.'),
  ca_file: caFile,
});

const pagerduty = z.strictObject({
  type: z.literal('pagerduty').describe('pagerduty: PagerDuty, Events API v2.'),
  ...common,
  url: receiverUrl
    .default('https://events.pagerduty.com/v2/enqueue')
    .describe('Address of the Events API; https://events.eu.pagerduty.com/v2/enqueue in the EU.'),
  routing_key: z
    .string()
    .regex(/^[0-9a-zA-Z]{32}$/, 'must have 32 letters and digits')
    .optional()
    .meta({ secret: true, form: '32 letters and digits' })
    .describe('Integration key of the service, from the environment.'),
  routing_key_file: z
    .string()
    .optional()
    .describe('File whose first line is the routing key. One of the two must be set.'),
  change_events: z
    .boolean()
    .default(false)
    .describe('Whether a version that is seen for the first time is sent as a change event.'),
  ca_file: caFile,
});

const slack = z.strictObject({
  type: z
    .literal('slack')
    .describe('slack: one message an incident with a bot token; single messages with a webhook.'),
  ...common,
  token: secretText.describe('Bot token (xoxb-…) with chat:write, from the environment.'),
  token_file: z.string().optional().describe('File whose first line is the bot token.'),
  channel: z
    .string()
    .min(1)
    .max(80)
    .optional()
    .describe('Channel id or name; must be set with a bot token.'),
  url: secretUrl.describe(
    'Address of an incoming webhook, where there is no bot token; beside one, that of the Web API. Never shown.',
  ),
  url_file: z.string().optional().describe('File whose first line is the url.'),
  ca_file: caFile,
});

const email = z.strictObject({
  type: z.literal('email').describe('email: SMTP, one thread an incident.'),
  ...common,
  server: mailServer.describe('SMTP server, host:port. Port 465 begins with TLS.'),
  tls: z
    .boolean()
    .default(true)
    .describe('Whether TLS is required; false sends in the clear where the server allows it.'),
  username: z
    .string()
    .min(1)
    .optional()
    .meta({ holdsNoLogin: true })
    .describe('User name; together with a password.'),
  password: secretText.describe('Password, from the environment.'),
  password_file: z.string().optional().describe('File whose first line is the password.'),
  from: mailAddress.describe('Sender.'),
  to: z.array(mailAddress).min(1).max(50).describe('Recipients.'),
  ca_file: caFile,
});

const webhook = z.strictObject({
  type: z.literal('webhook').describe('webhook: an HTTP POST.'),
  ...common,
  url: secretUrl.describe('Receives the POST. Never shown, because it may contain a token.'),
  url_file: z
    .string()
    .optional()
    .describe('File whose first line is the url. One of the two must be set.'),
  format: z
    .enum(['cloudevents', 'alertmanager'])
    .default('cloudevents')
    .describe(
      'cloudevents: every event in order. alertmanager: its webhook body, version 4, of the current state.',
    ),
  secret: secretText.describe('Signs requests (Standard Webhooks), from the environment.'),
  secret_file: z.string().optional().describe('File whose first line is the secret.'),
  token: secretText.describe('Bearer token, from the environment.'),
  token_file: z.string().optional().describe('File whose first line is the bearer token.'),
  ca_file: caFile,
});

const receiver = z
  .discriminatedUnion('type', [alertmanager, pagerduty, slack, email, webhook])
  .superRefine((value, context) => {
    const problem = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    const isSet = (key: string) => (value as Record<string, unknown>)[key] !== undefined;
    const isGiven = (key: string) => isSet(key) || isSet(`${key}_file`);
    if (value.type === 'pagerduty' && !isGiven('routing_key')) {
      problem('routing_key_file', 'must be set');
    }
    if (value.type === 'webhook' && !isGiven('url')) problem('url', 'must be set');
    if (value.type === 'slack') {
      if (!isGiven('token') && !isGiven('url')) {
        problem('token_file', 'must be set, or url_file for an incoming webhook');
      }
      if (isGiven('token') && /\/(chat|conversations)\.\w+\/*$/.test(value.url ?? '')) {
        problem('url', 'must be the base address of the Web API, such as https://slack.com/api');
      }
      if (isGiven('token') && value.channel === undefined) {
        problem('channel', 'must be set with a bot token');
      }
      if (!isGiven('token') && value.channel !== undefined) {
        problem('channel', 'must not be set with an incoming webhook, which has its own');
      }
    }
    if (value.type === 'alertmanager' || value.type === 'email') {
      if (isSet('username') !== isGiven('password')) {
        problem('password_file', 'must be set together with username, or neither');
      }
    }
    if (value.type === 'alertmanager' && isGiven('token') && isSet('username')) {
      problem('token_file', 'must not be set beside username: keep one of the two');
    }
  });

const webhooks = z
  .array(
    z.strictObject({
      url: receiverUrl
        .meta({ secret: true, inFile: true })
        .describe('Receives a POST per event. Never shown, because it may contain a token.'),
      url_file: z
        .string()
        .optional()
        .describe('File whose first line is the url: for one that contains a token.'),
      timeout: duration('5s', 100, minuteMs).describe('Maximum wait for a response.'),
      secret: z
        .string()
        .optional()
        .meta({ secret: true })
        .describe('Signs requests (Standard Webhooks). From the environment, or by secret_file.'),
      secret_file: z.string().optional().describe('File whose first line is the secret.'),
    }),
  )
  .prefault([])
  .describe('Addresses that each anomaly event is posted to. `receivers` can do more.');

/** Destinations of anomalies. */
export const alert = z
  .strictObject({
    topic: topicName
      .default('inference.latency-anomalies.v1')
      .describe('Topic for anomaly events.'),
    webhooks,
    receivers: z
      .array(receiver)
      .max(64)
      .superRefine((all, context) => {
        all.forEach(({ name }, i) => {
          const first = all.findIndex((other) => other.name === name);
          if (first === i) return;
          const message = `must differ from alert.receivers[${first}].name`;
          context.addIssue({ code: 'custom', path: [i, 'name'], message });
        });
      })
      .prefault([])
      .describe('Who is notified: pagers, chats, mail, webhooks.'),
    give_up_after: duration('24h', minuteMs, 30 * dayMs).describe(
      'A delivery that is not accepted for this long is given up.',
    ),
    runbook_url: httpUrl.optional().describe('Put into every event.'),
    dashboard_url: httpUrl
      .optional()
      .describe('Address of the dashboard; messages link to an anomaly there.'),
    trace_url: z
      .string()
      .regex(/^https?:\/\/.*\{trace_id\}/, 'must be a URL that contains {trace_id}')
      .optional()
      .meta({ form: 'an http or https URL that contains {trace_id}' })
      .describe('Address of a trace, with {trace_id} in it; messages link to the slowest one.'),
  })
  .prefault({})
  .describe('Where anomalies go.');

/** A receiver's settings. */
export type ReceiverConfig = z.output<typeof receiver>;
export type ReceiverMatch = ReceiverConfig['match'];
