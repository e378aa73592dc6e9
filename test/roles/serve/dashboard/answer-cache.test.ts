import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  AnswerCache,
  type KeptAnswer,
} from '../../../../src/roles/serve/dashboard/answer-cache.ts';
import type { Work } from '../../../../src/roles/serve/http/work.ts';

const begun = new WeakSet<object>();

/** Runs work at once, the first time that somebody waits for it. */
function run<T>(work: Work<T>): Promise<T> {
  if (!begun.has(work)) void work.start();
  begun.add(work);
  return work.result;
}

const textOf = ({ body }: Pick<KeptAnswer, 'body'>) => Buffer.from(body).toString();

/** A cache whose clock stands still, and what was asked of it. */
function cacheAt() {
  const time = { ms: 0 };
  const cache = new AnswerCache(
    { elapsedMs: () => time.ms, yieldToEventLoop: async () => undefined },
    (answer) => `${JSON.stringify(answer)}\n`,
  );
  const asked: string[] = [];
  const askAs = (client: string, question: string, mark: string, costMs = 0, given?: object) => {
    const answer = given ?? { question, mark };
    return cache.answer(
      ...([client, question, mark] as const),
      async () => {
        asked.push(question);
        time.ms += costMs;
        return answer;
      },
      run,
    );
  };
  const ask = (question: string, mark: string, costMs = 0, answer?: object) =>
    askAs('ann', question, mark, costMs, answer);
  return { time, cache, asked, ask, askAs };
}

describe('an answer', () => {
  it('is kept until more is stored', async () => {
    const { ask, asked } = cacheAt();
    const first = await ask('a', '1');
    expect(await ask('a', '1')).toBe(first);
    expect(textOf(first)).toBe('{"question":"a","mark":"1"}\n');
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
    expect(gunzipSync(gzip ?? '')).toEqual(Buffer.from(body));
    expect((await ask('b', '1')).gzip).toBe(undefined);
  });

  it('is asked for once, however many wait for it', async () => {
    const { ask, asked } = cacheAt();
    const answers = await Promise.all([ask('a', '1'), ask('a', '1'), ask('b', '1'), ask('a', '1')]);
    expect(asked).toEqual(['a', 'b']);
    expect(answers[3]).toBe(answers[0]);
  });

  it('is asked for again once the work for it was cancelled', async () => {
    const { cache, ask, asked } = cacheAt();
    void cache.answer(
      ...(['ann', 'a', '1'] as const),
      () => new Promise(() => undefined),
      (work) => {
        void work.start();
        work.cancel();
        return work.result;
      },
    );
    expect(textOf(await ask('a', '1'))).toBe('{"question":"a","mark":"1"}\n');
    expect(asked).toEqual(['a']);
  });

  it('that failed is asked for again', async () => {
    const { cache, ask } = cacheAt();
    const failed = cache.answer('ann', 'a', '1', () => Promise.reject(new Error('away')), run);
    await expect(failed).rejects.toThrow('away');
    expect(textOf(await ask('a', '1'))).toContain('"a"');
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

  it('of others stay where one client asks for many large ones', async () => {
    const { ask, askAs, asked } = cacheAt();
    for (let i = 0; i < 200; i++) await ask(`own ${i}`, 'final');
    const large = { text: 'x'.repeat(2 * 1024 * 1024) };
    for (let i = 0; i < 36; i++) await askAs('bob', `large ${i}`, 'final', 0, large);
    asked.length = 0;
    for (let i = 0; i < 200; i++) await ask(`own ${i}`, 'final');
    await askAs('bob', 'large 35', 'final', 0, large);
    expect(asked).toEqual([]);
    await askAs('bob', 'large 0', 'final', 0, large);
    expect(asked).toEqual(['large 0']);
  });
});
