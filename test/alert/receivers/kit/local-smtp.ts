import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { makeAuthority } from '../../../e2e/kit/certificates.ts';

const authority = makeAuthority('tailmark test');
const issued = authority.issue('mail.example', { names: ['mail.example'] });
/** Authority of the server below, and one that signed nothing. */
export const ca = authority.certPem;
export const otherCa = makeAuthority('another').certPem;

export interface SeenMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly isTls: boolean;
  readonly user: unknown;
}

export interface LocalSmtp {
  readonly port: number;
  readonly mails: SeenMail[];
  close(): Promise<void>;
}

/** An error with an SMTP reply code. */
export function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** An SMTP server for mail.example with STARTTLS; the login is ann and CANARY-password. */
export async function localSmtp(options: SMTPServerOptions = {}): Promise<LocalSmtp> {
  const mails: SeenMail[] = [];
  const server = new SMTPServer({
    key: issued.keyPem,
    cert: issued.certPem,
    name: 'mail.example',
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 1,
    onAuth: ({ username, password }, _session, done) =>
      username === 'ann' && password === 'CANARY-password'
        ? done(null, { user: username })
        : done(reply(535, `5.7.8 no: ${password}`)),
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { envelope, secure, user } = session;
        mails.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(parts).toString('utf8'),
          isTls: secure,
          user,
        });
        done(null, '2.0.0 queued as Q1');
      });
    },
    ...options,
  });
  // Handshakes that a test makes fail are reported here too.
  server.on('error', () => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.server.address() as AddressInfo;
  return { port, mails, close: () => new Promise((done) => server.close(() => done())) };
}

/** Headers of a mail, unfolded, by their names in lower case, and the names of all. */
export function headersOf(raw: string) {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]+/g, ' ');
  const fields = head.split('\r\n').map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { names: fields.map(([name]) => name), fields: new Map(fields) };
}

/** Text of a part of a mail, decoded. */
export function partOf(raw: string, type: 'text/plain' | 'text/html'): string {
  const start = raw.indexOf(`Content-Type: ${type}`);
  const body = raw.indexOf('\r\n\r\n', start);
  const head = raw.slice(start, body);
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(raw) ?? [];
  const text = raw.slice(body + 4, raw.indexOf(`\r\n--${boundary}`, body));
  if (/base64/i.test(head)) return Buffer.from(text, 'base64').toString('utf8');
  if (!/quoted-printable/i.test(head)) return text;
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
