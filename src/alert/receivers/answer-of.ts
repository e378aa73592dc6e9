import type { HttpResult } from '../http/http-sender.ts';
import type { Answer } from './receiver.ts';

const overloaded = new Set([408, 425, 429]);
const refusedContent = new Set([400, 413, 422]);

/** Reads the outcome of an attempt from an HTTP response. */
export function answerOf(result: HttpResult): Answer {
  if ('error' in result) return { outcome: 'failed', answer: result.error };
  const { status, text, retryAfterMs } = result;
  const answer = text.trim() === '' ? `${status}` : `${status}: ${text.trim()}`;
  if (status >= 200 && status < 300) return { outcome: 'accepted', answer };
  if (status >= 500 || overloaded.has(status)) {
    return { outcome: 'failed', answer, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
  return { outcome: refusedContent.has(status) ? 'unacceptable' : 'rejected', answer };
}
