import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AnswerCache,
  type KeptAnswer,
} from '../../../../src/roles/serve/dashboard/answer-cache.ts';
import type { Work } from '../../../../src/roles/serve/http/work.ts';
import { VirtualClock } from '../../../alert/outbox/virtual-clock.ts';

const begun = new WeakSet<object>();

/** Runs work at once, the first time that somebody waits for it. */
function run<T>(work: Work<T>): Promise<T> {
  if (!begun.has(work)) void work.start(false);
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
      { client, question, version: mark, isFinal: mark === 'final' },
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
    expect(await ask('a', '1')).toEqual(first);
    expect(textOf(first)).toBe('{"question":"a","mark":"1"}\n');
    expect((await ask('a', '2')).etag).not.toBe(first.etag);
    expect(asked).toEqual(['a', 'a']);
  });

  it('has the same tag where nothing of it has changed', async () => {
    const { ask } = cacheAt();
    const answer = { rows: [] };
    expect((await ask('a', '1', 0, answer)).etag).toBe((await ask('a', '2', 0, answer)).etag);
  });

  it('that is no longer current is given with its age while the next one is read', async () => {
    const { time, ask, asked } = cacheAt();
    const first = await ask('a', '1', 500);
    time.ms = 2_000;
    expect(await ask('a', '1')).toEqual(first);
    // Half a second twenty times is 10 s: the next one is read from 6 s on.
    time.ms = 5_999;
    expect(await ask('a', '2')).toEqual({ ...first, isCurrent: false, ageMs: 3_999 });
    expect(asked).toEqual(['a']);
    time.ms = 6_000;
    expect(await ask('a', '2', 500)).toMatchObject({ etag: first.etag, isCurrent: false });
    expect(asked).toEqual(['a', 'a']);
    await new Promise(setImmediate);
    const next = await ask('a', '2');
    expect([textOf(next), next.isCurrent, next.ageMs]).toEqual([
      '{"question":"a","mark":"2"}\n',
      true,
      0,
    ]);
  });

  it.each([
    [250, 5_000],
    [400, 8_000],
    [4_000, 20_000],
  ])(
    'that cost %d ms is waited for once it was last current %d ms ago',
    async (costMs, oldestMs) => {
      for (const ageMs of [oldestMs - 1, oldestMs]) {
        const { time, ask } = cacheAt();
        await ask('a', '1', costMs);
        time.ms = 60_000;
        await ask('a', '1');
        time.ms += ageMs;
        const { isCurrent } = await ask('a', '2');
        expect([ageMs, isCurrent]).toEqual([ageMs, ageMs === oldestMs]);
      }
    },
  );

  it('is not given for longer where the next one cannot be read', async () => {
    const { time, ask, cache } = cacheAt();
    await ask('a', '1', 500);
    const again = () =>
      cache.answer(
        { client: 'ann', question: 'a', version: '2', isFinal: false },
        () => Promise.reject(new Error('away')),
        run,
      );
    time.ms = 9_999;
    expect(await again()).toMatchObject({ isCurrent: false, ageMs: 9_999 });
    time.ms = 10_000;
    await expect(again()).rejects.toThrow('away');
  });

  it('that was asked for before more was stored is not current for who asks after it', async () => {
    const { cache, time } = cacheAt();
    let end: (answer: object) => void = () => undefined;
    const ask = (version: string) =>
      cache.answer(
        { client: 'ann', question: 'a', version, isFinal: false },
        () => new Promise<object>((resolve) => (end = resolve)),
        run,
      );
    const answers = [ask('1'), ask('2')];
    time.ms = 700;
    end({});
    expect(await Promise.all(answers)).toMatchObject([
      { isCurrent: true, ageMs: 0 },
      { isCurrent: false, ageMs: 700 },
    ]);
  });

  it('costs nothing once it can no longer change, or a minute after the last question', async () => {
    const { time, ask, asked } = cacheAt();
    await ask('final', 'final', 500);
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
    expect(answers[3]).toEqual(answers[0]);
  });

  it('is asked for again once the work for it was cancelled', async () => {
    const { cache, ask, asked } = cacheAt();
    void cache.answer(
      { client: 'ann', question: 'a', version: '1', isFinal: false },
      () => new Promise(() => undefined),
      (work) => {
        void work.start(false);
        work.cancel();
        return work.result;
      },
    );
    expect(textOf(await ask('a', '1'))).toBe('{"question":"a","mark":"1"}\n');
    expect(asked).toEqual(['a']);
  });

  it('that failed is asked for again', async () => {
    const { cache, ask } = cacheAt();
    const failed = cache.answer(
      { client: 'ann', question: 'a', version: '1', isFinal: false },
      () => Promise.reject(new Error('away')),
      run,
    );
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

/** A page that asks its question every five seconds. */
interface Page {
  readonly firstMs: number;
  readonly costMs: number;
}
const pages = fc.array(
  fc.record({ firstMs: fc.nat(5_000), costMs: fc.integer({ min: 50, max: 200 }) }),
  { minLength: 12, maxLength: 20 },
);

describe('questions that are asked every five seconds', () => {
  it('wait for nothing when all answers become others at once, and say how old theirs are', async () => {
    // Answers become others at once: with each minute, with each chunk that is stored, or without any order.
    const gaps = fc.array(fc.integer({ min: 1_000, max: 60_000 }), { minLength: 3, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(pages, gaps, async (all, changesMs) => {
        const { asked, readsMs } = await viewed(all, changesMs);
        for (const one of asked) {
          if (one.atMs >= warmMs) expect(one.waitedMs).toBe(0);
          expect(one.trueAgeMs).toBeLessThanOrEqual(one.ageMs);
          if (one.waitedMs === 0) expect(one.ageMs).toBeLessThan(20_000);
        }
        for (const own of readsMs) {
          const warm = own.filter((ms) => ms >= warmMs);
          const pauses = warm.slice(1).map((ms, i) => ms - (warm[i] ?? 0));
          expect(Math.min(...pauses)).toBeGreaterThanOrEqual(7_200);
        }
      }),
      { numRuns: 30 },
    );
  });
});

/** By then all questions have been asked, so that it is known what they cost. */
const warmMs = 30_000;

/**
 * Lets pages ask for three minutes, while one answer after the other is read.
 *
 * @param changesMs time from one moment at which all answers become others to the next, again and again
 */
async function viewed(all: readonly Page[], changesMs: readonly number[]) {
  const clock = new VirtualClock();
  const cache = new AnswerCache(
    { elapsedMs: () => clock.elapsedMs(), yieldToEventLoop: async () => undefined },
    JSON.stringify,
  );
  /** Times at which answers become others. */
  const changedAtMs = [0];
  for (let i = 0; (changedAtMs.at(-1) ?? 0) < 180_000; i++) {
    changedAtMs.push((changedAtMs.at(-1) ?? 0) + (changesMs[i % changesMs.length] ?? 0));
  }
  const versionAt = (ms: number) => changedAtMs.findLastIndex((at) => at <= ms);
  let before: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: Work<T>): Promise<T> => {
    if (!begun.has(work)) before = before.then(() => work.start(false));
    begun.add(work);
    return work.result;
  };
  const asked: { atMs: number; waitedMs: number; ageMs: number; trueAgeMs: number }[] = [];
  const readsMs: number[][] = all.map(() => []);
  all.forEach(({ firstMs, costMs }, page) => {
    const ask = async () => {
      const atMs = clock.elapsedMs();
      const version = versionAt(atMs);
      const { body, ageMs } = await cache.answer(
        { client: `${page}`, question: `${page}`, version: `${version}`, isFinal: false },
        async () => {
          readsMs[page]?.push(atMs);
          await clock.sleep(costMs);
          return { version };
        },
        inTurn,
      );
      const given = Number(JSON.parse(textOf({ body })).version);
      const waitedMs = clock.elapsedMs() - atMs;
      const trueAgeMs = given === version ? 0 : atMs - (changedAtMs[given + 1] ?? 0);
      asked.push({ atMs, waitedMs, ageMs, trueAgeMs });
    };
    void clock.sleep(firstMs).then(() => {
      void ask();
      clock.every(5_000, () => void ask());
    });
  });
  await clock.advance(180_000);
  return { asked, readsMs };
}
