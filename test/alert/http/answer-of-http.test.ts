import { describe, expect, it } from 'vitest';
import { answerOfHttp } from '../../../src/alert/http/answer-of-http.ts';
import type { HttpResult } from '../../../src/alert/http/http-sender.ts';
import { knownSecrets } from '../../../src/base/telemetry/known-secrets.ts';
import { leaksIn } from '../../e2e/kit/leaks-in.ts';

function response(status: number, text = '', retryAfterMs?: number): HttpResult {
  return { status, text, retryAfterMs, dateMs: undefined };
}

describe('answerOfHttp', () => {
  it.each([
    ['failed', [408, 425, 429, 500, 501, 502, 503, 504, 507, 520, 599]],
    ['unacceptable', [400, 413, 422]],
    ['rejected', [100, 300, 301, 302, 303, 304, 307, 308, 399, 401, 402, 403, 404, 405, 406]],
    ['rejected', [407, 409, 410, 411, 412, 414, 415, 421, 423, 426, 428, 431, 451, 499]],
    ['accepted', [200, 201, 202, 204, 206, 299]],
  ] as const)('is %s for %j', (outcome, statuses) => {
    for (const status of statuses) {
      expect([status, answerOfHttp(response(status)).outcome]).toEqual([status, outcome]);
    }
  });

  it('is failed without a response, with the reason', () => {
    const error = 'no response within 5000 ms';
    expect(answerOfHttp({ error })).toEqual({ outcome: 'failed', answer: error });
    const sent = { outcome: 'failed', answer: error, mayHaveArrived: true };
    expect(answerOfHttp({ error, wasSent: true })).toEqual(sent);
  });

  it.each([
    [response(503, 'try\r\n\tagain  later'), '503 Service Unavailable: try again later'],
    [response(200), '200 OK'],
    [response(599), '599'],
    [response(404, ' \n '), '404 Not Found'],
    [response(302, 'moved'), '302 Found: it redirects, which is not followed'],
    [response(400, '\u001b[31mred\u0000\u0007\u202e\u200b!'), '400 Bad Request: [31mred!'],
    [response(400, '\ud800x'), '400 Bad Request: x'],
    [response(500, 'ü'.repeat(201)), `500 Internal Server Error: ${'ü'.repeat(200)}`],
    [response(500, '🦊'.repeat(300)), `500 Internal Server Error: ${'🦊'.repeat(200)}`],
  ])('shows one line of the response', (result, answer) => {
    expect(answerOfHttp(result).answer).toBe(answer);
  });

  it('has at most 500 characters', () => {
    for (const text of ['x'.repeat(4_096), '🦊'.repeat(1_024)]) {
      for (const result of [response(511, text), { error: text }]) {
        expect(answerOfHttp(result).answer.length).toBeLessThanOrEqual(500);
      }
    }
  });

  it('waits as asked after a failure, and only then', () => {
    expect(answerOfHttp(response(429, '', 30_000)).retryAfterMs).toBe(30_000);
    expect(answerOfHttp(response(503, '', 0)).retryAfterMs).toBe(0);
    expect(answerOfHttp(response(503))).not.toHaveProperty('retryAfterMs');
    expect(answerOfHttp(response(302, '', 30_000))).not.toHaveProperty('retryAfterMs');
    expect(answerOfHttp(response(200, '', 30_000))).not.toHaveProperty('retryAfterMs');
  });

  it.each([400, 401, 403, 404, 409, 413, 422, 423])(
    'is failed, not final, where a refusal says when to try again: %i',
    (status) => {
      const { outcome, retryAfterMs } = answerOfHttp(response(status, '', 30_000));
      expect([outcome, retryAfterMs]).toEqual(['failed', 30_000]);
    },
  );

  it('shows no secret: plain, encoded, over two lines, split by control characters, or cut', () => {
    const secret = 'CANARY-4f1c/9d';
    knownSecrets.remember(secret);
    knownSecrets.remember('CANARY\nof two lines');
    const texts = [
      `no ${secret}`,
      `no ${encodeURIComponent(secret)}`,
      `no ${Buffer.from(`ann:${secret}`).toString('base64')}`,
      'CANARY\nof two lines',
      'CAN\u0000ARY-4f1c/9d',
      `${'x'.repeat(190)}${secret}`,
    ];
    for (const text of texts) {
      expect(leaksIn(answerOfHttp(response(401, text)).answer)).toEqual([]);
      expect(leaksIn(answerOfHttp({ error: text }).answer)).toEqual([]);
    }
    // Only the start of a response is read, and white space is shown as one space.
    for (const shown of [4, secret.length - 1]) {
      const start = `denied${' '.repeat(4_096 - 6 - shown)}${secret.slice(0, shown)}`;
      expect(answerOfHttp(response(401, start)).answer).toBe('401 Unauthorized: denied');
      const broken = { ...response(401, `denied ${secret.slice(0, shown)}`), isCut: true } as const;
      expect(answerOfHttp(broken).answer).toBe('401 Unauthorized');
    }
    expect(answerOfHttp(response(401, `key ${secret}?`)).answer).toBe('401 Unauthorized: key ***?');
  });
});
