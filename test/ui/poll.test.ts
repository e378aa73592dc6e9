import { afterEach, describe, expect, it } from 'vitest';
import { Poll, type PollPorts, pollMs } from '../../ui/src/data/poll.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** A server and a clock that do what a test says. */
class World {
  nowMs = 1_000;
  readonly asked: RequestInit[] = [];
  respond: (init: RequestInit) => Promise<Response> = async () => new Response(null);
  #timers = new Set<Timer>();

  readonly ports: PollPorts = {
    fetch: (_path, init) => {
      this.asked.push(init);
      return this.respond(init);
    },
    nowMs: () => this.nowMs,
    after: (ms, run) => {
      const timer = { dueMs: this.nowMs + ms, run };
      this.#timers.add(timer);
      return () => this.#timers.delete(timer);
    },
  };

  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets time pass, and what was begun come to its end. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ dueMs }) => dueMs <= endMs);
      const next = due.sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.run();
      await settled();
    }
    this.nowMs = endMs;
    await settled();
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const json = (body: object, headers: Record<string, string> = {}, status = 200) =>
  new Response(JSON.stringify(body), { status, headers });

let poll: Poll<{ n: number }> | undefined;
afterEach(() => poll?.stop());
async function begin(world: World): Promise<Poll<{ n: number }>> {
  poll = new Poll('/v1/models', world.ports);
  poll.start();
  await settled();
  return poll;
}

describe('a poll', () => {
  it('asks every five seconds, with the ETag of what it has', async () => {
    const world = new World();
    world.respond = async () => json({ n: 1 }, { etag: '"a"' });
    const { state } = await begin(world);
    expect(state.value).toEqual({
      answer: { n: 1 },
      asOfMs: 1_000,
      failure: undefined,
      isFinal: false,
    });
    world.respond = async () => new Response(null, { status: 304 });
    await world.pass(pollMs);
    expect(world.asked.map(({ headers }) => headers)).toEqual([
      { accept: 'application/json' },
      { accept: 'application/json', 'if-none-match': '"a"' },
    ]);
    expect(state.value).toMatchObject({ answer: { n: 1 }, asOfMs: 6_000 });
  });

  it('is as of the time at which the server knew that the answer was current', async () => {
    const world = new World();
    world.nowMs = 60_000;
    world.respond = async () => json({ n: 1 }, { etag: '"a"', age: '0' });
    const { state } = await begin(world);
    expect(state.value.asOfMs).toBe(60_000);
    world.respond = async () => new Response(null, { status: 304, headers: { age: '12' } });
    await world.pass(pollMs);
    expect(state.value.asOfMs).toBe(53_000);
    world.respond = async () => json({ n: 2 }, { age: '3' });
    await world.pass(pollMs);
    expect(state.value).toMatchObject({ answer: { n: 2 }, asOfMs: 67_000 });
  });

  it('asks once for an answer that never changes', async () => {
    const world = new World();
    world.respond = async () =>
      json({ n: 1 }, { 'cache-control': 'private, max-age=86400, immutable' });
    const { state } = await begin(world);
    expect(state.value.isFinal).toBe(true);
    await world.pass(60_000);
    expect(world.asked.length).toBe(1);
    expect(world.waiting).toBe(0);
  });

  it('keeps the last answer through an outage, says since when, and recovers by itself', async () => {
    const world = new World();
    world.respond = async () => json({ n: 1 });
    const { state } = await begin(world);
    world.respond = async () =>
      json({ detail: 'ClickHouse is away.' }, { 'retry-after': '10' }, 503);
    await world.pass(pollMs);
    const failure = { status: 503, text: 'ClickHouse is away.', sinceMs: 6_000 };
    expect(state.value).toMatchObject({ answer: { n: 1 }, asOfMs: 1_000, failure });
    await world.pass(9_999);
    expect(world.asked.length).toBe(2);
    world.respond = async () => Promise.reject(new TypeError('fetch failed'));
    await world.pass(1);
    expect(state.value.failure).toEqual({
      status: undefined,
      text: 'tailmark cannot be reached',
      sinceMs: 6_000,
    });
    world.respond = async () => json({ n: 2 });
    await world.pass(pollMs);
    expect(state.value).toMatchObject({ answer: { n: 2 }, asOfMs: 21_000, failure: undefined });
  });

  it.each([
    ['a bad parameter', 400, 1],
    ['no login', 401, 1],
    ['no right', 403, 1],
    ['not found, which may come', 404, 2],
    ['too many', 429, 2],
    ['an error', 500, 2],
  ])('after %s (%i) has asked %i times in six seconds', async (_, status, times) => {
    const world = new World();
    world.respond = async () => json({ detail: 'No.' }, {}, status);
    const { state } = await begin(world);
    expect(state.value.failure).toEqual({ status, text: 'No.', sinceMs: 1_000 });
    await world.pass(6_000);
    expect(world.asked.length).toBe(times);
  });

  it.each([
    ['an empty error', new Response('', { status: 502 }), 'tailmark answered 502'],
    ['a page of a proxy', new Response('<html>', { status: 504 }), 'tailmark answered 504'],
    ['no JSON', new Response('<html>', { status: 200 }), 'tailmark answered with what is no JSON'],
  ])('says of %s what it is', async (_, response, text) => {
    const world = new World();
    world.respond = async () => response;
    expect((await begin(world)).state.value.failure?.text).toBe(text);
  });

  it('gives up an answer that does not come', async () => {
    const world = new World();
    world.respond = ({ signal }) =>
      new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('aborted'))),
      );
    const { state } = await begin(world);
    await world.pass(30_000);
    expect(state.value.failure?.text).toBe('tailmark did not answer within 30 s');
  });

  it('stops, forgets what is under way, and begins again with what it had', async () => {
    const world = new World();
    world.respond = async () => json({ n: 1 }, { etag: '"a"' });
    const { state } = await begin(world);
    let late: (response: Response) => void = () => undefined;
    world.respond = () => new Promise((resolve) => (late = resolve));
    await world.pass(pollMs);
    poll?.stop();
    late(json({ n: 2 }));
    await settled();
    expect(state.value.answer).toEqual({ n: 1 });
    expect(world.waiting).toBe(0);
    world.respond = async () => json({ n: 3 });
    poll?.start();
    await settled();
    expect(state.value.answer).toEqual({ n: 3 });
  });

  it('asks at once where it is to, but not twice at a time', async () => {
    const world = new World();
    world.respond = async () => json({ n: 1 });
    const running = await begin(world);
    running.refresh();
    running.refresh();
    await settled();
    expect(world.asked.length).toBe(2);
    expect(world.waiting).toBe(1);
  });
});
