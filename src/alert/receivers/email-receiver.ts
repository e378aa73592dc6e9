import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import { messageOf } from '../../base/failure.ts';
import { hostPort } from '../../base/host-port.ts';
import { invariant } from '../../base/invariant.ts';
import type { ReceiverConfig } from '../../config/alert.ts';
import { anomalyMessage } from '../message/anomaly-message.ts';
import type { LinkSettings } from '../message/links.ts';
import { attempt, type ReceiverClock } from './attempt.ts';
import { type EmailMessage, emailMessage } from './payloads/email-message.ts';
import type { Answer, Form, Notice, Preview, Receiver } from './receiver.ts';
import { acceptedMail, refusedMail } from './smtp-answer.ts';

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

/** Port on which TLS begins with the connection. */
const smtpsPort = 465;

/**
 * Sends mails over SMTP, those of an incident as one thread. TLS is required and certificates are
 * verified, unless `tls` is false. Each mail has a connection of its own: incidents are rare.
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
        const address = await this.#address();
        return 'outcome' in address ? address : this.#submit(mail, address.address, signal);
      },
      { timeoutMs: config.timeout, clock, secrets },
    );
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

  /** What is handed to the mail library, and what a preview shows. */
  #mail(notice: Notice, form: Form): Mail {
    const { config, links } = this.#options;
    const { from, to } = config;
    return {
      ...emailMessage({ notice, message: anomalyMessage(notice, form, links), from }),
      from: { name: 'tailmark', address: from },
      to: to.map((address) => ({ name: '', address })),
    };
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

  async #submit(mail: Mail, address: string, signal: AbortSignal): Promise<Answer> {
    const { clock } = this.#options;
    const transport = createTransport(smtpOptions(this.#options, address));
    try {
      const info = await transport.sendMail({
        ...mail,
        date: new Date(clock.nowMs()),
        xMailer: false,
        signal,
      });
      return acceptedMail(info);
    } catch (error) {
      return refusedMail(error);
    } finally {
      transport.close();
    }
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
