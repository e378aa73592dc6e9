import type { NodemailerError, SMTPSentMessageInfo } from 'nodemailer';
import { messageOf } from '../../base/failure.ts';
import { tlsFailure } from '../../base/network/tls-failure.ts';
import type { Answer } from '../receiver.ts';

/** Replies about logins, rights and addresses: another mail would get them too. */
const ofConfiguration = new Set([530, 534, 535, 550, 551, 553]);
/** Wait after a reply 4xx. */
export const replyRetryMs = 30_000;
/** Too large for the server or the mailbox. */
const tooLarge = 552;
/** Errors of the mail library about settings. */
const ofSettings = new Set(['EAUTH', 'ENOAUTH', 'ECONFIG']);

/** The mail library's errors of a connection that the server had greeted on: the mail may be sent. */
const endsAfterGreeting = /^(Timeout|Connection closed.*)$/;

/** The server ends the connection (RFC 5321, 3.8). The library then ends the mail, whatever it answered. */
const closing = 421;

export function isClosing(error: unknown): boolean {
  return (error as Partial<NodemailerError>).responseCode === closing;
}

/** A reply about one recipient. */
type RecipientError = NonNullable<SMTPSentMessageInfo['rejectedErrors']>[number];

/** Recipients of an accepted mail whom the server asks to try again. */
export interface MailOutcome {
  readonly answer: Answer;
  readonly later: readonly string[];
}

/**
 * Reads the outcome of a mail that the server accepted, for all recipients or for some. A reply 4xx about a
 * recipient means later (RFC 5321, 4.2.1): greylisting, a full queue, too many recipients. 5xx is final.
 */
export function acceptedMail(info: SMTPSentMessageInfo): MailOutcome {
  const { response, rejectedErrors = [], accepted = [] } = info;
  const later = rejectedErrors.filter(({ responseCode = 0 }) => responseCode < 500);
  const refused = rejectedErrors.filter(({ responseCode = 0 }) => responseCode >= 500);
  const parts = [
    ...(later.length === 0 ? [] : [`to be tried again for ${textOf(later)}`]),
    ...(refused.length === 0 ? [] : [`refused for ${textOf(refused)}`]),
    ...(rejectedErrors.length === 0 ? [] : [`accepted for ${accepted.join(', ')}`]),
  ];
  const answer = [response, ...parts].join('; ');
  return {
    answer: {
      outcome: 'accepted',
      answer,
      ...(refused.length > 0 && { refused: parts.slice(later.length === 0 ? 0 : 1).join('; ') }),
    },
    later: later.flatMap(({ recipient }) => recipient ?? []),
  };
}

function textOf(errors: readonly RecipientError[]): string {
  return errors
    .map(({ recipient, response }) => {
      return `${recipient ?? 'a recipient'} (${response ?? 'no reply'})`;
    })
    .join(', ');
}

/**
 * Reads the outcome of a mail that was not sent. Replies 4xx pass. Of 5xx, a refused content differs from
 * a refused login, sender or recipient by the command that it answers.
 */
export function refusedMail(error: unknown): Answer {
  const { code, responseCode = 0, response, command } = error as Partial<NodemailerError>;
  const answer = response ?? messageOf(error);
  // Greylisting takes minutes, and each attempt sends the whole mail.
  if (responseCode >= 400 && responseCode < 500) {
    return { outcome: 'failed', answer, retryAfterMs: replyRetryMs };
  }
  const isOfConnection = code === 'ESOCKET' || code === 'ETLS';
  const handshake = isOfConnection && responseCode === 0 ? tlsFailure(error) : undefined;
  if (handshake !== undefined) {
    return { outcome: 'rejected', answer: `TLS handshake failed: ${handshake}` };
  }
  if (code === 'ETLS') return { outcome: 'rejected', answer: `no STARTTLS: ${answer}` };
  if (responseCode >= 500) {
    const isOfContent = responseCode === tooLarge || command === 'DATA';
    const isOther = ofConfiguration.has(responseCode) || !isOfContent;
    return { outcome: isOther ? 'rejected' : 'unacceptable', answer };
  }
  if (ofSettings.has(String(code))) return { outcome: 'rejected', answer };
  return endsAfterGreeting.test(answer)
    ? { outcome: 'failed', answer, mayHaveArrived: true }
    : { outcome: 'failed', answer };
}
