import { z } from 'zod';
import { answerOfHttp } from '../http/answer-of-http.ts';
import type { HttpResult } from '../http/http-sender.ts';
import type { Answer } from '../receiver.ts';

/** A message in Slack. */
export const slackPlace = z.object({ channel: z.string().min(1), ts: z.string().min(1) });
export type SlackPlace = z.output<typeof slackPlace>;

export interface SlackAnswer {
  readonly answer: Answer;
  /** Place of the message; undefined where Slack does not name it. */
  readonly place?: SlackPlace;
  /** Slack's name of an error. */
  readonly error?: string;
}

/** Errors of Slack itself, which pass. */
const passing = new Set([
  'ratelimited',
  'rate_limited',
  'fatal_error',
  'internal_error',
  'service_unavailable',
  'request_timeout',
]);
/** Errors of the content. All others are mistakes of the configuration. */
const ofContent = new Set([
  'attachment_payload_limit_exceeded',
  'invalid_arguments',
  'invalid_attachments',
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_json',
  'json_not_object',
  'msg_blocks_too_long',
  'msg_too_long',
  'no_text',
  'too_many_attachments',
]);
/** Errors of a message that cannot be changed or replied to any more. */
const gone = new Set([
  'cannot_reply_to_message',
  'cant_update_message',
  'channel_not_found',
  'edit_window_closed',
  'is_archived',
  'message_not_found',
  'not_in_channel',
  'thread_not_found',
]);

const cutAnswer: Answer = {
  outcome: 'failed',
  answer: 'the response broke off',
  mayHaveArrived: true,
};

const response = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  channel: z.string().optional(),
  ts: z.string().optional(),
});

/** Reads a response of Slack's Web API, which says 200 to most errors too. */
export function slackAnswer(result: HttpResult): SlackAnswer {
  const answer = answerOfHttp(result);
  if (answer.outcome !== 'accepted' || !('text' in result)) return { answer };
  const body = bodyOf(result.text);
  if (body === undefined && result.isCut) return { answer: cutAnswer };
  if (body === undefined) {
    const text = `${result.status}, which is no answer of Slack's Web API: check url`;
    return { answer: { outcome: 'rejected', answer: text } };
  }
  if (body.ok) {
    const place = slackPlace.safeParse(body);
    return {
      answer: { outcome: 'accepted', answer: 'ok' },
      ...(place.success && { place: place.data }),
    };
  }
  const error = body.error ?? 'an error without a name';
  const { retryAfterMs } = result;
  return {
    answer: {
      outcome: passing.has(error) ? 'failed' : ofContent.has(error) ? 'unacceptable' : 'rejected',
      answer: `Slack: ${error}`,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    error,
  };
}

/** Reads a response of an incoming webhook, which is the word "ok". */
export function hookAnswer(result: HttpResult): Answer {
  const answer = answerOfHttp(result);
  if (answer.outcome !== 'accepted' || !('text' in result)) return answer;
  const text = result.text.trim();
  // A body that breaks off or hangs says nothing; the status counts.
  if (text === 'ok' || (text === '' && result.isCut)) return answer;
  return {
    outcome: 'rejected',
    answer: `${answer.answer}, which is no answer of Slack's incoming webhooks: check url`,
  };
}

/** True for an error after which the message must be posted again. */
export function isGone(error: string | undefined): boolean {
  return error !== undefined && gone.has(error);
}

/**
 * The fields of a response. It repeats the message that was sent, so it may be longer than what is read
 * of it: then the fields before the message count.
 */
function bodyOf(text: string): z.output<typeof response> | undefined {
  const beforeMessage = text.slice(0, Math.max(0, text.indexOf(',"message":')));
  for (const json of [text, `${beforeMessage}}`]) {
    try {
      const read = response.safeParse(JSON.parse(json));
      if (read.success) return read.data;
    } catch {
      // The next one may be whole.
    }
  }
  return /^\s*\{\s*"ok"\s*:\s*true\b/.test(text) ? { ok: true } : undefined;
}
