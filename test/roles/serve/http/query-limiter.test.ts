// Covers src/roles/serve/http/caller.ts, src/roles/serve/http/read-request.ts and
// src/roles/serve/http/work.ts.

import { describe, expect, it } from 'vitest';
import { createLog } from '../../../../src/base/telemetry/log.ts';
import { createMetrics, readMetrics } from '../../../../src/base/telemetry/metrics.ts';
import type { ApiSources } from '../../../../src/roles/serve/api/sources.ts';
import { type Asker, QueryLimiter } from '../../../../src/roles/serve/http/query-limiter.ts';
import { Work } from '../../../../src/roles/serve/http/work.ts';
import { VirtualClock } from '../../../alert/outbox/virtual-clock.ts';
import { apiApp, onLoopback } from '../api-app.ts';

/** A limiter, what runs behind it in order, and how to end that. */
function limiterAt() {
  const clock = new VirtualClock();
  const metrics = createMetrics();
  const limiter = new QueryLimiter({ metrics, clock });
  const begun: string[] = [];
  const cancelled: string[] = [];
  /** What ran with one thread. */
  const sparing: string[] = [];
  const finish = new Map<string, () => void>();
  const workOf = (name: string) =>
    new Work<string>((signal, isSparing) => {
      begun.push(name);
      if (isSparing) sparing.push(name);
      return new Promise((resolve, reject) => {
        finish.set(name, () => resolve(`answer ${name}`));
        signal.addEventListener('abort', () => {
          cancelled.push(name);
          reject(new Error('aborted'));
        });
      });
    });
  /** Asks as a client; `leave` closes its connection. */
  const ask = (client: string, work: Work<string>, api: Asker['api'] = 'dashboard') => {
    const connection = new AbortController();
    const answer = limiter
      .run({ api, client, signal: connection.signal }, work)
      .catch((error: Error) => error.message);
    return { answer, leave: () => connection.abort() };
  };
  const askMany = (client: string, count: number) =>
    Array.from({ length: count }, (_, i) => ask(client, workOf(`${client}${i + 1}`)));
  const settle = () => clock.advance(0);
  const end = async (name: string) => {
    finish.get(name)?.();
    await settle();
  };
  /** Values by metric and reason. */
  const counted = async () => {
    const found: Record<string, number> = {};
    for (const { name, values } of await readMetrics(metrics)) {
      if (!name.startsWith('tailmark_serve_')) continue;
      for (const { labels, value } of values) {
        if (labels.api !== 'dashboard') continue;
        const of = name.replace('tailmark_serve_', '');
        found['reason' in labels ? `${of} ${labels.reason}` : of] = value;
      }
    }
    return found;
  };
  return { clock, limiter, workOf, ask, askMany, end, settle, begun, sparing, cancelled, counted };
}

const late = 'ClickHouse has not answered within 8 s.';
const tooMuch = 'Too many requests of this client wait for ClickHouse: ask again later.';
const gone = 'The client has gone.';

describe('places', () => {
  it('are given to clients in turn; one of them never has all', async () => {
    const { askMany, begun, end, settle } = limiterAt();
    askMany('greedy', 36);
    await settle();
    expect(begun).toEqual(['greedy1', 'greedy2', 'greedy3']);
    askMany('b', 2);
    askMany('c', 1);
    await settle();
    expect(begun.slice(3)).toEqual(['b1']);
    await end('b1');
    await end('greedy1');
    await end('greedy2');
    expect(begun.slice(4)).toEqual(['b2', 'greedy4', 'c1']);
  });

  it('are left to clients that read what is there already', async () => {
    const { clock, limiter, askMany, begun, sparing, end } = limiterAt();
    askMany('greedy', 36);
    const { signal } = new AbortController();
    for (let n = 0; n < 7; n++) limiter.note({ api: 'dashboard', client: `${n}`, signal });
    // Its part of four places in ten seconds, among eight clients.
    await clock.advance(5_001);
    for (const n of [1, 2]) await end(`greedy${n}`);
    expect(begun).toEqual(['greedy1', 'greedy2', 'greedy3']);
    await end('greedy3');
    expect(begun).toEqual(['greedy1', 'greedy2', 'greedy3', 'greedy4']);
    expect(sparing).toEqual(['greedy4']);
  });

  it('are refused to the client that asks for more than its share, and to no other', async () => {
    const { askMany, begun, settle, counted } = limiterAt();
    const many = askMany('greedy', 40);
    askMany('other', 1);
    await settle();
    const refused = await Promise.all(many.slice(36).map(({ answer }) => answer));
    expect(refused).toEqual([tooMuch, tooMuch, tooMuch, tooMuch]);
    expect(begun).toContain('other1');
    expect(await counted()).toMatchObject({
      waiting_requests: 33,
      running_requests: 4,
      'dropped_requests_total share': 4,
    });
  });

  it('are taken from whoever waits for the most where all clients wait for too much together', async () => {
    const { askMany, settle, counted } = limiterAt();
    const greedy = askMany('greedy', 36);
    for (let i = 0; i < 48; i++) askMany(`client ${i} `, 10);
    await settle();
    expect(await counted()).toMatchObject({ waiting_requests: 512, running_requests: 4 });
    askMany('one more', 1);
    await settle();
    expect(await greedy.at(-1)?.answer).toBe(tooMuch);
    expect(await counted()).toEqual({
      waiting_requests: 512,
      running_requests: 4,
      'dropped_requests_total share': 1,
    });
  });
});

describe('machines', () => {
  it('find a place however many pages are open, also for the client that has them', async () => {
    const { ask, askMany, workOf, begun, settle } = limiterAt();
    for (const client of ['a', 'b', 'c']) askMany(client, 12);
    await settle();
    expect(begun).toHaveLength(4);
    ask('a', workOf('verdict'), 'machines');
    await settle();
    expect(begun.at(-1)).toBe('verdict');
  });

  it('and pages together run eight queries at most', async () => {
    const { ask, askMany, workOf, begun, settle } = limiterAt();
    for (const client of ['a', 'b', 'c']) askMany(client, 12);
    for (let i = 0; i < 6; i++) ask(`${i}`, workOf(`verdict ${i}`), 'machines');
    await settle();
    expect(begun).toHaveLength(8);
  });
});

describe('a client that leaves', () => {
  it('has nothing of it waiting or running any more', async () => {
    const { askMany, begun, cancelled, settle, counted } = limiterAt();
    const asked = askMany('a', 36);
    await settle();
    for (const { leave } of asked) leave();
    await settle();
    expect(await Promise.all(asked.map(({ answer }) => answer))).toEqual(asked.map(() => gone));
    expect([begun, cancelled]).toEqual([
      ['a1', 'a2', 'a3'],
      ['a1', 'a2', 'a3'],
    ]);
    expect(await counted()).toEqual({
      waiting_requests: 0,
      running_requests: 0,
      'dropped_requests_total left': 33,
      cancelled_requests_total: 3,
    });
  });

  it('takes nothing from others that wait for the same', async () => {
    const { ask, workOf, cancelled, end, settle } = limiterAt();
    const work = workOf('shared');
    const first = ask('a', work);
    const second = ask('b', work);
    await settle();
    first.leave();
    await settle();
    expect(cancelled).toEqual([]);
    await end('shared');
    expect(await first.answer).toBe(gone);
    expect(await second.answer).toBe('answer shared');
  });
});

it('gives work a place in the turn of whoever joins it', async () => {
  const { askMany, ask, workOf, begun, end, settle } = limiterAt();
  askMany('greedy', 30);
  const shared = workOf('shared');
  ask('greedy', shared);
  ask('other', shared);
  await settle();
  expect(begun).toEqual(['greedy1', 'greedy2', 'greedy3', 'shared']);
  await end('shared');
  await end('greedy1');
  expect(begun).toEqual(['greedy1', 'greedy2', 'greedy3', 'shared', 'greedy4']);
});

describe('after 8 s', () => {
  it('what waits is refused and dropped, and what runs is cancelled as its place is needed', async () => {
    const { clock, askMany, begun, cancelled, settle, counted } = limiterAt();
    const greedy = askMany('greedy', 36);
    await clock.advance(8_000);
    expect(await Promise.all(greedy.map(({ answer }) => answer))).toEqual(greedy.map(() => late));
    askMany('other', 1);
    await settle();
    expect(begun.at(-1)).toBe('other1');
    expect(new Set(cancelled)).toEqual(new Set(begun.slice(0, -1)));
    expect(await counted()).toMatchObject({ waiting_requests: 0, running_requests: 1 });
  });

  it('an answer is still made for the client that asks again, while nobody needs the place', async () => {
    const { clock, ask, workOf, cancelled, end } = limiterAt();
    const work = workOf('slow');
    expect(await Promise.all([ask('a', work).answer, clock.advance(8_000)])).toEqual([
      late,
      undefined,
    ]);
    await clock.advance(1_000);
    const again = ask('a', work);
    await end('slow');
    expect(await again.answer).toBe('answer slow');
    expect(cancelled).toEqual([]);
  });

  it('an answer that nobody waits for is cancelled once another client comes', async () => {
    const { clock, ask, askMany, workOf, cancelled, settle } = limiterAt();
    ask('a', workOf('slow'));
    await clock.advance(8_000);
    askMany('a', 1);
    await settle();
    expect(cancelled).toEqual([]);
    askMany('b', 1);
    await settle();
    expect(cancelled).toEqual(['slow']);
  });
});

/** Waits of 49 clients in virtual time, of five short questions each every 5 s, in ms and sorted. */
async function waitsOfOthers(isBesideGreedy: boolean): Promise<number[]> {
  const clock = new VirtualClock();
  const limiter = new QueryLimiter({ metrics: createMetrics(), clock });
  const ask = async (client: string, ms: number) => {
    const begunMs = clock.elapsedMs();
    const { signal } = new AbortController();
    const work = new Work(() => clock.sleep(ms));
    await limiter.run({ api: 'dashboard', client, signal }, work).catch(() => clock.sleep(1_000));
    return clock.elapsedMs() - begunMs;
  };
  const waits: number[] = [];
  const view = async (n: number) => {
    await clock.sleep(100 * n);
    for (;;) {
      for (const wait of await Promise.all([10, 20, 30, 40, 50].map((ms) => ask(`${n}`, ms)))) {
        waits.push(wait);
      }
      await clock.sleep(5_000);
    }
  };
  const greedy = async () => {
    for (;;) await ask('greedy', 2_000);
  };
  for (let n = 0; n < 49; n++) void view(n);
  if (isBesideGreedy) for (let n = 0; n < 36; n++) void greedy();
  await clock.advance(60_000);
  return waits.sort((a, b) => a - b);
}

it("keeps a minute's p95 of 49 clients within twice what it is without a greedy one", async () => {
  const p95 = (waits: readonly number[]) => waits[Math.floor(waits.length * 0.95)] ?? Number.NaN;
  const [alone, beside] = [await waitsOfOthers(false), await waitsOfOthers(true)];
  expect(alone.length).toBeGreaterThan(2_000);
  expect(beside.length).toBeGreaterThan(0.9 * alone.length);
  expect(p95(beside)).toBeLessThanOrEqual(2 * p95(alone));
});

it('lets the API refuse more than it can answer, rather than piling up', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sources = {
    log: createLog({ level: 'silent' }),
    mutes: () => held.then(() => []),
  } as Partial<ApiSources> as ApiSources;
  const busy = apiApp(sources);
  const all = Array.from({ length: 40 }, () => busy.request('/v1/mutes', {}, onLoopback));
  await new Promise((resolve) => setImmediate(resolve));
  release();
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(36);
  expect(statuses.filter((status) => status === 503)).toHaveLength(4);
});
