import { STATUS_CODES } from 'node:http';
import { knownSecrets } from '../../base/telemetry/known-secrets.ts';
import type { Answer } from '../receiver.ts';
import { type HttpResult, maxTextBytes } from './http-sender.ts';

/** Refusals of this moment: time-out, too early, too many requests. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);
/** Refusals of this content: it is malformed, too large, or not what the receiver understands. */
const ofContent: ReadonlySet<number> = new Set([400, 413, 422]);
const maxBodyCharacters = 200;
const maxErrorCharacters = 250;

/**
 * Outcome of a delivery, by the status of the response alone.
 *
 * | response | outcome |
 * |---|---|
 * | 2xx | accepted |
 * | none, 408, 425, 429, 5xx; any 4xx with `Retry-After` | failed |
 * | none, as the address is refused | rejected |
 * | 400, 413, 422 | unacceptable |
 * | all others: redirects, wrong keys, wrong paths | rejected |
 */
export function answerOfHttp(result: HttpResult): Answer {
  if ('error' in result) {
    // An address that is never connected to is a mistake of the configuration.
    const outcome = result.error.endsWith(': refused') ? 'rejected' : 'failed';
    const answer = oneLine(result.error, maxErrorCharacters);
    return result.wasSent ? { outcome, answer, mayHaveArrived: true } : { outcome, answer };
  }
  const { status, retryAfterMs } = result;
  const outcome = outcomeOf(status, retryAfterMs !== undefined);
  const reason = isRedirect(status)
    ? 'it redirects, which is not followed'
    : oneLine(wholeOf(result), maxBodyCharacters);
  const answer = [`${status} ${STATUS_CODES[status] ?? ''}`.trim(), reason]
    .filter((part) => part !== '')
    .join(': ');
  if (outcome !== 'failed' || retryAfterMs === undefined) return { outcome, answer };
  return { outcome, answer, retryAfterMs };
}

const isRedirect = (status: number) => status >= 300 && status < 400;

/** @param asksForLater whether the response says when to try again: then it is no refusal for good. */
function outcomeOf(status: number, asksForLater: boolean): Answer['outcome'] {
  if (status >= 200 && status < 300) return 'accepted';
  if (status >= 400 && asksForLater) return 'failed';
  if (status >= 500 || passing.has(status)) return 'failed';
  return ofContent.has(status) ? 'unacceptable' : 'rejected';
}

/** The text of a response, without what may be the start of a secret where its end was not read. */
function wholeOf({ text, isCut }: Extract<HttpResult, { readonly text: string }>): string {
  // A character that is cut off at the end is left out.
  const isWhole = isCut !== true && Buffer.byteLength(text) < maxTextBytes - 3;
  return isWhole ? text : knownSecrets.hideInCut(text);
}

/** Start of a text, without line breaks, control characters and secrets. */
function oneLine(text: string, maxCharacters: number): string {
  // Secrets are hidden twice: some contain line breaks; others were split by control characters.
  const line = knownSecrets
    .hide(text)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .trim();
  return [...knownSecrets.hide(line)].slice(0, maxCharacters).join('');
}
