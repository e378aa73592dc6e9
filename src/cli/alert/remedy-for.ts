import type { Answer } from '../../alert/receiver.ts';
import { hostPort } from '../../base/host-port.ts';
import type { ReceiverConfig } from '../../config/alert.ts';

/** Undefined for an entry of `alert.webhooks`. */
type Settings = ReceiverConfig | undefined;

interface Remedy {
  /** Found in what the receiver answered. */
  readonly sign: RegExp;
  readonly todo: string | ((settings: Settings) => string);
}

/** Of connections: names, ports, TLS. */
const ofConnections: readonly Remedy[] = [
  {
    sign: /: refused$/,
    todo: (to) => `Set another address in ${keyOf(to)}: this one is never connected to.`,
  },
  {
    sign: /proxy refuses/,
    todo: 'Check HTTP_PROXY and HTTPS_PROXY, or name the host in NO_PROXY.',
  },
  {
    sign: /ECONNREFUSED/,
    todo: (to) => `Nothing listens at ${placeOf(to)}: check ${keyOf(to)}, and that it runs.`,
  },
  {
    sign: /ENOTFOUND|EAI_AGAIN|ENODATA/,
    todo: (to) => `The name in ${keyOf(to)} is not known here: check its spelling, and DNS.`,
  },
  {
    sign: /no response within|Greeting never|EHOSTUNREACH|ENETUNREACH|TIMEOUT|ETIMEDOUT/,
    todo: (to) => `Check ${keyOf(to)} and firewalls, or raise timeout.${tlsPortText(to)}`,
  },
  {
    sign: /not signed by an authority/,
    todo: 'Name a PEM file with the certificate of its authority in ca_file.',
  },
  {
    sign: /certificate is for another name/,
    todo: (to) => `Write the name of its certificate into ${keyOf(to)}.`,
  },
  { sign: /certificate (has expired|is not valid yet)/, todo: 'Renew the certificate there.' },
  {
    sign: /wants a client certificate/,
    todo: 'tailmark has no client certificates for receivers: put a proxy that has one between.',
  },
  {
    sign: /does not speak TLS/,
    todo: (to) =>
      to?.type === 'email'
        ? 'Use another port: at 465 TLS begins at once, at others with STARTTLS.'
        : `Write http:// in ${keyOf(to)}, or the port of TLS.`,
  },
  {
    sign: /no STARTTLS/,
    todo: 'Use a port with STARTTLS, or 465; `tls: false` sends in the clear.',
  },
  {
    sign: /connection closed|ECONNRESET|EPIPE|not HTTP|Unexpected socket close|Invalid greeting/i,
    todo: (to) => `Something else may listen at ${placeOf(to)}: check port and scheme.`,
  },
];

/** Of Slack's errors, by their names. */
const ofSlack: readonly Remedy[] = [
  { sign: /^Slack: not_in_channel/, todo: 'Invite the bot to the channel: /invite @tailmark.' },
  {
    sign: /^Slack: channel_not_found/,
    todo: "Use the channel's id, and invite the bot to a private channel.",
  },
  { sign: /^Slack: is_archived/, todo: 'Set another channel: this one is archived.' },
  { sign: /^Slack: missing_scope/, todo: 'Add chat:write to the app, and install it again.' },
  { sign: /^Slack: .*(auth|token|account|org_login)/, todo: loginText },
];

/** Of statuses of HTTP, which three digits and a word begin, and replies of SMTP. */
const ofAnswers: readonly Remedy[] = [
  { sign: /check url$/, todo: 'Correct url: it leads to something else.' },
  { sign: /routing[ _]key/i, todo: loginText },
  { sign: /redirects/, todo: (to) => `Write the address that it redirects to into ${keyOf(to)}.` },
  { sign: /^(401|403|407)\b/, todo: loginText },
  {
    sign: /^(404|405|410)\b/,
    todo: (to) =>
      to?.type === 'alertmanager'
        ? 'Check the path in urls: that of --web.route-prefix, without /api/v2/alerts.'
        : `Check the path in ${keyOf(to)}.`,
  },
  { sign: /^429\b|^Slack: rate_?limited/, todo: 'Nothing is to be corrected: it limits requests.' },
];

const ofSmtp: readonly Remedy[] = [
  { sign: /^(530|534|535)\b|EAUTH|Missing credentials/, todo: loginText },
  { sign: /^4\d\d\b/, todo: 'Look at the log of the server if this lasts: it asks to come later.' },
  { sign: /^5[0-9]{2}\b/, todo: 'Check from and to, and that the server relays mails from here.' },
];

const ofHttp: readonly Remedy[] = [
  { sign: /^5\d\d\b/, todo: 'Look at the log of the receiver: the error is there.' },
];

/** Advice for a content that was refused. */
const ofContent = (to: Settings) => {
  if (to?.type === 'email') return 'Look at the filters of the server: it refuses the content.';
  return to?.type === 'webhook'
    ? 'Check format and url: it does not understand the body.'
    : `Check ${keyOf(to)}: it does not understand the body.`;
};

/** Advice after a receiver did not accept; undefined where its answer says enough. */
export function remedyFor(
  { outcome, answer }: Pick<Answer, 'outcome' | 'answer'>,
  settings: Settings,
): string | undefined {
  if (outcome === 'accepted') {
    return answer.includes('; refused for ')
      ? 'Correct to: a mail that some recipients refuse is not sent to them again.'
      : undefined;
  }
  if (outcome === 'unacceptable') return ofContent(settings);
  const ofProtocol = settings?.type === 'email' ? ofSmtp : ofHttp;
  const all = [...ofConnections, ...ofSlack, ...ofAnswers, ...ofProtocol];
  const todo = all.find(({ sign }) => sign.test(answer))?.todo;
  return typeof todo === 'function' ? todo(settings) : todo;
}

/** The key that holds the address. */
function keyOf(settings: Settings): string {
  if (settings?.type === 'email') return 'server';
  return settings?.type === 'alertmanager' ? 'urls' : 'url';
}

/** Host and port: all of an address that may be shown. */
function placeOf(settings: Settings): string {
  if (settings?.type === 'email') return settings.server;
  const url = settings?.type === 'alertmanager' ? onlyOf(settings.urls) : settings?.url;
  return url === undefined || !URL.canParse(url) ? 'that address' : new URL(url).host;
}

function onlyOf(urls: readonly string[]): string | undefined {
  return urls.length === 1 ? urls[0] : undefined;
}

/** A server that waits for TLS says nothing. */
function tlsPortText(settings: Settings): string {
  if (settings?.type !== 'email' || hostPort(settings.server)?.port === 465) return '';
  return ' A server at which TLS begins at once must have port 465.';
}

/** Which keys hold the login. */
function loginText(settings: Settings): string {
  switch (settings?.type) {
    case 'alertmanager':
      return 'Check username and password_file, or token_file.';
    case 'pagerduty':
      return 'Check routing_key_file: the key of an integration "Events API v2", and url in the EU.';
    case 'slack':
      return settings.token === undefined
        ? 'Check url_file: the incoming webhook may have been removed.'
        : 'Check token_file: it must be the bot token, xoxb-….';
    case 'email':
      return 'Check username and password_file.';
    case 'webhook':
      return 'Check token_file, secret_file and the token in url_file.';
    default:
      return 'Check secret_file, and the token in url_file.';
  }
}
