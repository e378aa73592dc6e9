import { describe, expect, it } from 'vitest';
import {
  type SendPacedOptions,
  sendPaced,
  type TimedLine,
} from '../../../src/generate/publish/send-paced.ts';
import type { OutgoingMessage } from '../../../src/kafka/client/publisher.ts';
import { fakeTime } from '../fake-time.ts';

const line = (dueMs: number | undefined, text = `${dueMs}`, key = 'a'): TimedLine => ({
  dueMs,
  key,
  line: text,
});

/** Sends lines under a fake clock that begins at 0; answers when what was sent. */
async function play(
  lines: readonly TimedLine[],
  options: Partial<SendPacedOptions> & { readonly speed?: number } = {},
) {
  const time = fakeTime(0);
  const calls: { atMs: number; messages: readonly OutgoingMessage[] }[] = [];
  const sent = await sendPaced({
    lines: [lines],
    send: async (messages) => {
      calls.push({ atMs: time.nowMs, messages });
    },
    perMessage: 1,
    pace: { speed: options.speed ?? 1, eventMs: undefined, wallMs: 0 },
    clock: time.clock,
    signal: new AbortController().signal,
    ...options,
  });
  const values = calls.map(({ atMs, messages }) => [atMs, ...messages.map(({ value }) => value)]);
  return { sent, calls, values, time };
}

describe('sendPaced', () => {
  it('sends each line when it is due, at the speed of the events', async () => {
    const lines = [1_000, 1_000, 3_000, 10_000].map((dueMs) => line(dueMs));
    const { values, sent } = await play(lines);
    expect(values).toEqual([
      [0, '1000', '1000'],
      [2_000, '3000'],
      [9_000, '10000'],
    ]);
    expect(sent).toEqual({ lines: 4, messages: 4, bytes: 17, lastDueMs: 10_000 });
  });

  it.each([
    [10, [0, 200, 900]],
    [0.5, [0, 4_000, 18_000]],
  ])('runs at %d times the speed', async (speed, atMs) => {
    const { calls } = await play([line(1_000), line(3_000), line(10_000)], { speed });
    expect(calls.map((call) => call.atMs)).toEqual(atMs);
  });

  it('does not wait at all at the greatest speed', async () => {
    const lines = [line(0), line(1e12)];
    const { calls, time } = await play(lines, { speed: Number.POSITIVE_INFINITY });
    expect(calls.length).toBe(1);
    expect(time.sleeps).toEqual([]);
  });

  it('sends together what is due within 50 ms', async () => {
    const lines = Array.from({ length: 100 }, (_, n) => line(n));
    const { calls, time } = await play(lines);
    expect(calls.map(({ messages }) => messages.length)).toEqual([1, 50, 49]);
    expect(time.sleeps).toEqual([50, 50]);
  });

  it('sends at once what is overdue, out of order or without a time', async () => {
    const lines = [line(5_000), line(1_000), line(undefined, 'x'), line(5_100), line(undefined)];
    const { values } = await play(lines);
    expect(values).toEqual([
      [0, '5000', '1000', 'x'],
      [100, '5100', 'undefined'],
    ]);
  });

  it('starts where the pace says: the past at once, the rest in real time', async () => {
    const { values } = await play([line(-5_000), line(-10), line(700)], {
      pace: { speed: 1, eventMs: -5_000, wallMs: -5_000 },
    });
    expect(values).toEqual([
      [0, '-5000', '-10'],
      [700, '700'],
    ]);
  });

  it('waits out a gap that no timer can hold', async () => {
    const gapMs = 40 * 86_400_000;
    const { calls, time } = await play([line(0), line(gapMs)]);
    expect(calls.map(({ atMs }) => atMs)).toEqual([0, gapMs]);
    expect(Math.max(...time.sleeps)).toBe(60_000);
  });

  it('sends batches of 1,000 messages or 1 MB, and awaits each', async () => {
    const short = await play(Array.from({ length: 2_500 }, () => line(0)));
    expect(short.calls.map(({ messages }) => messages.length)).toEqual([1_000, 1_000, 500]);
    const long = await play(Array.from({ length: 5 }, () => line(0, 'x'.repeat(400_000))));
    expect(long.calls.map(({ messages }) => messages.length)).toEqual([3, 2]);
    let running = 0;
    let most = 0;
    await play(
      Array.from({ length: 3_000 }, () => line(0)),
      {
        send: async () => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
        },
      },
    );
    expect(most).toBe(1);
  });

  it('packs lines of a key, for at most a second of event time', async () => {
    const lines = [line(0, 'a0'), line(1, 'b1', 'b'), line(2, 'a2'), line(1_000, 'a3')];
    lines.push(line(1_001, 'a4'), line(1_002, 'a5'));
    const { calls, sent } = await play(lines, {
      perMessage: 3,
      speed: Number.POSITIVE_INFINITY,
    });
    // a0, a2, a3 fill a message; b1 has waited for a second by then.
    expect(calls.flatMap(({ messages }) => messages)).toEqual([
      { key: 'a', value: 'a0\na2\na3' },
      { key: 'b', value: 'b1' },
      { key: 'a', value: 'a4\na5' },
    ]);
    expect(sent).toMatchObject({ lines: 6, messages: 3 });
  });

  it('holds nothing back while it waits for the next line', async () => {
    const { values } = await play([line(0), line(1), line(9_000)], { perMessage: 10 });
    expect(values.map(([atMs]) => atMs)).toEqual([0, 50, 9_000]);
  });

  it('sends bytes that are no text as they are, in a message of their own', async () => {
    const bytes = Buffer.from([0xff, 0xfe]);
    const { calls } = await play([{ dueMs: undefined, key: undefined, line: bytes }], {
      perMessage: 10,
    });
    expect(calls[0]?.messages).toEqual([{ value: bytes }]);
  });

  it('counts in onSent only what has come back from send', async () => {
    const counts: number[] = [];
    const seen: number[] = [];
    await play(
      Array.from({ length: 1_500 }, () => line(0)),
      {
        send: async () => {
          seen.push(counts.at(-1) ?? 0);
        },
        onSent: ({ lines }) => counts.push(lines),
      },
    );
    expect(seen).toEqual([0, 1_000]);
    expect(counts).toEqual([1_000, 1_500]);
  });

  it('stops when aborted, sends what it holds, and closes its input', async () => {
    const abort = new AbortController();
    let closed = false;
    async function* endless() {
      try {
        for (let n = 0; ; n++) yield [line(n * 1_000)];
      } finally {
        closed = true;
      }
    }
    const time = fakeTime(0, ({ nowMs }) => {
      if (nowMs >= 3_000) abort.abort();
    });
    const { sent } = await play([], {
      lines: endless(),
      clock: time.clock,
      signal: abort.signal,
    });
    expect(sent).toMatchObject({ lines: 4, lastDueMs: 3_000 });
    expect(closed).toBe(true);
  });

  it('sends nothing when it was stopped before it began', async () => {
    const { calls, sent } = await play([line(0)], { signal: AbortSignal.abort() });
    expect(calls).toEqual([]);
    expect(sent).toEqual({ lines: 0, messages: 0, bytes: 0, lastDueMs: undefined });
  });

  it('passes on the error of a failed send', async () => {
    const failing = play([line(0)], {
      send: async () => {
        throw new Error('no broker');
      },
    });
    await expect(failing).rejects.toThrow('no broker');
  });
});
