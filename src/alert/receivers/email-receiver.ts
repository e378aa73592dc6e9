import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createTransport, type NodemailerError, type SMTPSentMessageInfo } from 'nodemailer';
import { messageOf } from '../../base/failure.ts';
import { hostPort } from '../../base/host-port.ts';
import { invariant } from '../../base/invariant.ts';
import type { ReceiverConfig } from '../../config/alert.ts';
import { anomalyMessage } from '../message/anomaly-message.ts';
import type { LinkSettings } from '../message/links.ts';
import type { Answer, Form, Notice, Preview, Receiver } from '../receiver.ts';
import { attempt, type ReceiverClock } from './attempt.ts';
import { recipientsOf, restMemory, restOf } from './mail-rest.ts';
import { type EmailMessage, emailMessage } from './payloads/email-message.ts';
import { acceptedMail, isClosing, refusedMail, replyRetryMs } from './smtp-answer.ts';

export interface EmailOptions {
  readonly config: Extract<ReceiverConfig, { type: 'email' }>;
  readonly links: LinkSettings;
  readonly clock: ReceiverClock;
  /** PEM of the authority that signed the server; the system's authorities by default. */
  readonly ca?: string | undefined;
  /** Finds the address of the server. @default {the system's resolver} */
  readonly resolve?: (host: string) => Promise<string>;
  /** Says why a host or an address must not be connected to. @default {none is refused} */
  readonly refusal?: (host: string) => string | undefined;
}

/** A mail with its sender and recipients. */
interface Mail extends EmailMessage {
  readonly from: { readonly name: string; readonly address: string };
  readonly to: { readonly name: string; readonly address: string }[];
}

/** Outcome where those whom a mail did not reach are no recipients any more. */
const nobodyLeft: Answer = {
  outcome: 'accepted',
  answer: 'those whom it had not reached are no recipients any more',
  memory: '',
};

/** Port on which TLS begins with the connection. */
const smtpsPort = 465;

/**
 * Sends mails over SMTP, those of an incident as one thread. TLS is required and certificates are
 * verified, unless `tls` is false. Each mail has its own connection: incidents are rare.
 */
export class EmailReceiver implements Receiver {
  readonly name: string;
  readonly feed = 'state';
  readonly wantsUpdates = false;
  readonly showsRepeats = true;
  readonly wantsPast = true;
  readonly #options: EmailOptions;

  constructor(options: EmailOptions) {
    this.name = options.config.name;
    this.#options = options;
  }

  send(notice: Notice, form: Form): Promise<Answer> {
    const { config, clock } = this.#options;
    const secrets = config.password === undefined ? [] : [config.password];
    return attempt(
      async (signal) => {
        const mail = this.#mail(notice, form);
        const to = this.#recipients(notice);
        if (to.length === 0) return nobodyLeft;
        const address = await this.#address();
        const answer =
          'outcome' in address
            ? address
            : await this.#submit({ mail, to, change: notice.change }, address.address, signal);
        if (notice.isRest === undefined || answer.outcome === 'accepted') return answer;
        return { ...answer, answer: `for ${to.join(', ')}: ${answer.answer}` };
      },
      { timeoutMs: config.timeout, clock, secrets },
    );
  }

  rest(memory: string): Notice['change'] | undefined {
    return restOf(memory)?.change;
  }

  /** The headers, and the plain text; the mail has the same as HTML. */
  preview(notice: Notice, form: Form): readonly Preview[] {
    const mail = this.#mail(notice, form);
    const recipients = mail.to.map(({ address }) => address).join(', ');
    const lines = Object.entries({
      From: `${mail.from.name} <${mail.from.address}>`,
      To: recipients,
      Subject: mail.subject,
      'Message-ID': mail.messageId,
      'In-Reply-To': mail.inReplyTo,
      References: mail.references,
      ...mail.headers,
    }).map(([name, value]) => `${name}: ${value}`);
    return [{ target: `MAIL to ${recipients}`, body: `${lines.join('\n')}\n\n${mail.text}` }];
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The mail as the mail library gets it and as a preview shows it. */
  #mail(notice: Notice, form: Form): Mail {
    const { config, links } = this.#options;
    const { from, to } = config;
    return {
      ...emailMessage({ notice, message: anomalyMessage(notice, form, links), from }),
      from: { name: 'tailmark', address: from },
      to: to.map((address) => ({ name: '', address })),
    };
  }

  /** Those who get this mail: all, or whom the last one did not reach. */
  #recipients({ isRest, memory }: Notice): readonly string[] {
    const { to } = this.#options.config;
    const rest = isRest === undefined ? undefined : restOf(memory);
    return rest === undefined ? to : recipientsOf(rest, to);
  }

  /** The server's address, or why there is none. The address that was checked is the one to connect to. */
  async #address(): Promise<{ readonly address: string } | Answer> {
    const { config, resolve = resolveHost, refusal = () => undefined } = this.#options;
    const { host } = placeOf(config.server);
    try {
      const ofName = refusal(host);
      if (ofName !== undefined) return { outcome: 'rejected', answer: ofName };
      const address = isIP(host) === 0 ? await resolve(host) : host;
      const ofAddress = refusal(address);
      return ofAddress === undefined ? { address } : { outcome: 'rejected', answer: ofAddress };
    } catch (error) {
      return { outcome: 'failed', answer: messageOf(error) };
    }
  }

  async #submit(
    { mail, to, change }: { mail: Mail; to: readonly string[]; change: Notice['change'] },
    address: string,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { clock, config } = this.#options;
    const send = async (recipients: readonly string[]) => {
      const transport = createTransport(smtpOptions(this.#options, address));
      try {
        return await transport.sendMail({
          ...mail,
          // The headers name all, also where the mail is for some.
          envelope: { from: mail.from.address, to: [...recipients] },
          date: new Date(clock.nowMs()),
          xMailer: false,
          signal,
        });
      } finally {
        transport.close();
      }
    };
    const untilMs = clock.nowMs() + config.timeout / 2;
    const isInTime = () => clock.nowMs() < untilMs;
    try {
      const info = await send(to).catch((error: unknown) => {
        return to.length > 1 && isClosing(error)
          ? sendToEach(to, send, isInTime, error)
          : fail(error);
      });
      const { answer, later } = acceptedMail(info);
      const retryAfterMs = later.length === 0 ? {} : { retryAfterMs: replyRetryMs };
      return { ...answer, ...retryAfterMs, memory: restMemory(change, later) };
    } catch (error) {
      return refusedMail(error);
    }
  }
}

function fail(error: unknown): never {
  throw error;
}

/** Replies 421 in a row, with nothing accepted, that are about the server and not about a recipient. */
const closingsInARow = 3;

/**
 * Sends a mail to each recipient alone, where the server ended the connection at one of them (421): it would
 * keep the others from getting it at each attempt.
 *
 * @param isInTime false ends it; those who are left are to be tried again.
 * @throws the server's reply where nobody was reached.
 */
async function sendToEach(
  to: readonly string[],
  send: (recipients: readonly string[]) => Promise<SMTPSentMessageInfo>,
  isInTime: () => boolean,
  reply: unknown,
): Promise<SMTPSentMessageInfo> {
  let sent: SMTPSentMessageInfo | undefined;
  const rejectedErrors: NonNullable<SMTPSentMessageInfo['rejectedErrors']> = [];
  const accepted: string[] = [];
  for (const recipient of to) {
    const isHopeless = sent === undefined && rejectedErrors.length >= closingsInARow;
    const result = isHopeless || !isInTime() ? { error: reply } : await settled(send([recipient]));
    if ('info' in result) {
      sent = result.info;
      accepted.push(recipient);
    } else {
      const { responseCode, response } = result.error as Partial<NodemailerError>;
      const error = Object.assign(new Error(response ?? ''), { responseCode, response, recipient });
      rejectedErrors.push(error as (typeof rejectedErrors)[number]);
    }
  }
  if (sent === undefined) throw reply;
  return { ...sent, accepted, rejectedErrors };
}

async function settled(sending: Promise<SMTPSentMessageInfo>) {
  try {
    return { info: await sending };
  } catch (error) {
    return { error };
  }
}

/**
 * Connection of a mail: TLS from the start on port 465, STARTTLS on others, neither where `tls` is false.
 * The certificate must be for the name in `server`.
 *
 * @param address of the server, already resolved and checked.
 */
export function smtpOptions({ config, ca }: Pick<EmailOptions, 'config' | 'ca'>, address: string) {
  const { timeout, tls, username, password } = config;
  const { host, port } = placeOf(config.server);
  const secure = port === smtpsPort;
  // After the attempt's own end, which says how long it waited.
  const timeoutMs = timeout + 1_000;
  return {
    host: address,
    port,
    secure,
    requireTLS: tls && !secure,
    ignoreTLS: !tls,
    tls: {
      // Explicit, as NODE_TLS_REJECT_UNAUTHORIZED=0 would turn it off.
      rejectUnauthorized: true,
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca !== undefined && { ca }),
    },
    ...(username !== undefined && { auth: { user: username, pass: password ?? '' } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function placeOf(server: string): { readonly host: string; readonly port: number } {
  const place = hostPort(server);
  invariant(place !== undefined, `the mail server ${server} is no host:port`);
  return place;
}

async function resolveHost(host: string): Promise<string> {
  return (await lookup(host)).address;
}
