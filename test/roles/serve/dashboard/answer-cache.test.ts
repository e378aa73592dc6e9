import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { AnswerCache } from '../../../../src/roles/serve/dashboard/answer-cache.ts';

/** A cache whose clock stands still, and what was asked of it. */
function cacheAt() {
  const time = { ms: 0 };
  const cache = new AnswerCache(
    () => time.ms,
    (answer) => `${JSON.stringify(answer)}\n`,
  );
  const asked: string[] = [];
  const ask = (question: string, mark: string, costMs = 0, answer: object = { question, mark }) =>
    cache.answer(question, mark, async () => {
      asked.push(question);
      time.ms += costMs;
      return answer;
    });
  return { time, cache, asked, ask };
}

describe('an answer', () => {
  it('is kept until more is stored', async () => {
    const { ask, asked } = cacheAt();
    const first = await ask('a', '1');
    expect(await ask('a', '1')).toBe(first);
    expect(first.body).toBe('{"question":"a","mark":"1"}\n');
    expect((await ask('a', '2')).etag).not.toBe(first.etag);
    expect(asked).toEqual(['a', 'a']);
  });

  it('has the same tag where nothing of it has changed', async () => {
    const { ask } = cacheAt();
    const answer = { rows: [] };
    expect((await ask('a', '1', 0, answer)).etag).toBe((await ask('a', '2', 0, answer)).etag);
  });

  it('is kept for twenty times what all recent questions cost, whatever is stored, up to 20 s', async () => {
    const { time, ask, asked } = cacheAt();
    await ask('a', '1', 250);
    time.ms += 4_999;
    await ask('a', '2');
    expect(asked).toEqual(['a']);
    time.ms += 1;
    await ask('a', '2', 200);
    await ask('b', '2', 100);
    // Both are kept for 20 × 300 ms.
    time.ms += 5_899;
    await ask('a', '3');
    await ask('b', '3');
    expect(asked).toEqual(['a', 'a', 'b']);
    time.ms += 1;
    await ask('a', '3', 4_000);
    time.ms += 19_999;
    await ask('a', '4');
    expect(asked).toEqual(['a', 'a', 'b', 'a']);
    time.ms += 1;
    await ask('a', '4');
    expect(asked).toHaveLength(5);
  });

  it('costs nothing once it can no longer change, or a minute after the last question', async () => {
    const { time, ask, asked } = cacheAt();
    await ask('final', '', 500);
    await ask('old', '1', 500);
    time.ms += 60_000;
    await ask('a', '1', 10);
    time.ms += 200;
    await ask('a', '2');
    expect(asked).toEqual(['final', 'old', 'a', 'a']);
  });

  it('has its compressed form where that pays', async () => {
    const { ask } = cacheAt();
    const large = { text: 'x'.repeat(20_000) };
    const { body, gzip } = await ask('a', '1', 0, large);
    expect(gunzipSync(gzip ?? '').toString()).toBe(body);
    expect((await ask('b', '1')).gzip).toBe(undefined);
  });

  it('is asked for once, however many wait for it', async () => {
    const { ask, asked } = cacheAt();
    const answers = await Promise.all([ask('a', '1'), ask('a', '1'), ask('b', '1'), ask('a', '1')]);
    expect(asked).toEqual(['a', 'b']);
    expect(answers[3]).toBe(answers[0]);
  });

  it('that failed is asked for again', async () => {
    const { cache, ask } = cacheAt();
    const failed = cache.answer('a', '1', () => Promise.reject(new Error('away')));
    await expect(failed).rejects.toThrow('away');
    expect((await ask('a', '1')).body).toContain('"a"');
  });
});

describe('kept answers', () => {
  it('leave when there are too many, the least recently used first', async () => {
    const { ask, asked } = cacheAt();
    await ask('first', 'final');
    for (let i = 0; i < 999; i++) await ask(String(i), 'final');
    await ask('first', 'final');
    await ask('one more', 'final');
    asked.length = 0;
    await ask('first', 'final');
    await ask('1', 'final');
    await ask('0', 'final');
    expect(asked).toEqual(['0']);
  });

  it('leave when they are too large', async () => {
    const { ask, asked } = cacheAt();
    const large = { text: 'x'.repeat(20 * 1024 * 1024) };
    await ask('a', 'final', 0, large);
    await ask('b', 'final', 0, large);
    await ask('b', 'final');
    await ask('a', 'final');
    expect(asked).toEqual(['a', 'b', 'a']);
  });
});
