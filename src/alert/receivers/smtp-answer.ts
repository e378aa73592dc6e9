import type { NodemailerError, SMTPSentMessageInfo } from 'nodemailer';
import { messageOf } from '../../base/failure.ts';
import { tlsFailure } from '../../base/network/tls-failure.ts';
import type { Answer } from './receiver.ts';

/** Replies about logins, rights and addresses: another mail would get them too. */
const ofConfiguration = new Set([530, 534, 535, 550, 551, 553]);
/** Wait after a reply 4xx. */
const replyRetryMs = 30_000;
/** Too large for the server or the mailbox. */
const tooLarge = 552;
/** Errors of the mail library about settings. */
const ofSettings = new Set(['EAUTH', 'ENOAUTH', 'ECONFIG']);

/** The mail library's errors of a connection that the server had greeted on: the mail may be sent. */
const endsAfterGreeting = /^(Timeout|Connection closed.*)$/;

/** Reads the outcome of a mail that the server accepted, for all recipients or for some. */
export function acceptedMail({ response, rejectedErrors = [] }: SMTPSentMessageInfo): Answer {
  const refused = rejectedErrors.map(
    ({ recipient, response: reply }) => `${recipient ?? 'a recipient'} (${reply ?? 'no reply'})`,
  );
  const without = refused.length === 0 ? '' : `; refused for ${refused.join(', ')}`;
  return { outcome: 'accepted', answer: `${response}${without}` };
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
