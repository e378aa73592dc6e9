import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../../src/base/time.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { away, fine, resolved, World } from './world.ts';

describe('what is retried', () => {
  it('delivers what is open within ten seconds of the return of a receiver that was away for half an hour', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = away;
    await world.emit({ id: 'a' });
    for (let i = 0; i < 20; i++) await world.emit({ id: `b${i}` });
    await world.clock.advance(30 * minuteMs);
    expect(pager.accepted).toEqual([]);
    pager.answer = fine;
    const backMs = world.clock.elapsedMs();
    while (pager.accepted.length < 21) await world.clock.advance(100);
    expect(world.clock.elapsedMs() - backMs).toBeLessThanOrEqual(11_000);
  });

  it('asks a dead receiver one anomaly at a time, and less and less', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = away;
    for (let i = 0; i < 100; i++) await world.emit({ id: `a${i}` });
    const during = async (ms: number) => {
      const before = pager.attempts.length;
      await world.clock.advance(ms);
      return pager.attempts.length - before;
    };
    expect(await during(minuteMs)).toBeLessThanOrEqual(60);
    await world.clock.advance(15 * hourMs);
    expect(await during(hourMs)).toBeLessThanOrEqual(13);
    // Each of them is tried, not only the first.
    expect(new Set(pager.attempts.map((each) => each.split('/')[0])).size).toBe(100);
  });

  it.each([1, 2, 5])(
    'does not let %i anomalies that always fail hold up the others',
    async (badCount) => {
      const pager = new FakeReceiver('pager', 'pager');
      const world = await World.started(pager);
      pager.answer = ({ event }) =>
        event.id.startsWith('bad')
          ? { outcome: 'failed', answer: '500' }
          : { outcome: 'accepted', answer: '' };
      for (let i = 0; i < badCount; i++) await world.emit({ id: `bad${i}` });
      let slowestMs = 0;
      for (let i = 0; i < 30; i++) {
        const beganMs = world.clock.elapsedMs();
        await world.emit({ id: `good${i}` });
        while (pager.accepted.length <= i) await world.clock.advance(100);
        // The first one finds a receiver of which nothing good is known.
        if (i > 0) slowestMs = Math.max(slowestMs, world.clock.elapsedMs() - beganMs);
        await world.clock.advance(20_000);
      }
      expect(pager.accepted).toHaveLength(30);
      expect(slowestMs).toBeLessThanOrEqual(1_500);
      // Not one a second, 600 in ten minutes.
      expect((pager.attempts.length - 30) / badCount).toBeLessThanOrEqual(40);
    },
  );

  it('obeys the wait that a receiver asks for, for all that is due there', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = () => ({ outcome: 'failed', answer: '429', retryAfterMs: 90_000 });
    await world.emit({ id: 'a' });
    pager.answer = fine;
    await world.emit({ id: 'b' });
    await world.clock.advance(89_000);
    expect(pager.accepted).toEqual([]);
    await world.clock.advance(2_000);
    expect(pager.accepted.sort()).toEqual(['a/1 opened', 'b/1 opened']);
  });

  it('asks every five minutes where the configuration is wrong', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = () => ({ outcome: 'rejected', answer: '401' });
    await world.emit({ id: 'a' });
    await world.clock.advance(hourMs);
    expect(pager.attempts).toHaveLength(13);
    expect(world.outbox.notes()).toEqual([
      expect.stringMatching(/^alert: pager has accepted nothing for 60 min, since .*: 401$/),
    ]);
    pager.answer = fine;
    await world.clock.advance(5 * minuteMs);
    expect(pager.accepted).toEqual(['a/1 opened']);
    expect(world.outbox.notes()).toEqual([]);
  });

  it('tries the minimal form where the content is refused, and then gives up', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = ({ event }, form) =>
      form === 'minimal' && event.id === 'long'
        ? { outcome: 'accepted', answer: '202' }
        : { outcome: 'unacceptable', answer: '413' };
    await world.emit({ id: 'long' });
    await world.emit({ id: 'odd' });
    await world.clock.advance(minuteMs);
    expect(pager.attempts).toEqual([
      'long/1 opened unacceptable',
      'long/1 opened accepted minimal',
      'odd/1 opened unacceptable',
      'odd/1 opened unacceptable minimal',
    ]);
    expect(world.rowsOf('pager')).toEqual([
      'long/1 unacceptable 1',
      'long/1 accepted 2',
      'odd/1 unacceptable 1',
      'odd/1 unacceptable 2',
      'odd/1 refused 2',
    ]);
  });

  it('repeats what people may have seen less and less, and delivers it soon after others are accepted', async () => {
    const chat = new FakeReceiver('chat', 'chat');
    const world = await World.started(chat);
    chat.answer = () => ({ outcome: 'failed', answer: 'no response', mayHaveArrived: true });
    await world.emit({ id: 'a' });
    await world.clock.advance(hourMs);
    // At once, after 16, 32 … 256 s, then every 5 minutes.
    expect(chat.attempts).toHaveLength(16);
    chat.answer = fine;
    await world.emit({ id: 'b' });
    await world.clock.advance(5 * minuteMs);
    expect(chat.accepted).toEqual(['b/1 opened', 'a/1 opened']);
  });

  it('repeats what a pager knows by its key as if it had not arrived', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = () => ({ outcome: 'failed', answer: 'no response', mayHaveArrived: true });
    await world.emit({ id: 'a' });
    await world.clock.advance(30 * minuteMs);
    pager.answer = fine;
    await world.clock.advance(11_000);
    expect(pager.accepted).toEqual(['a/1 opened']);
  });

  it('gives up after a day, also where a process began later', async () => {
    const hook = new FakeReceiver('hook', 'revisions');
    const world = await World.started(hook);
    hook.answer = away;
    await world.emit({ id: 'a' });
    await world.clock.advance(12 * hourMs);
    await world.restart();
    await world.clock.advance(11 * hourMs);
    expect(world.rowsOf('hook').filter((row) => row.includes('expired'))).toEqual([]);
    await world.clock.advance(hourMs + 10 * minuteMs);
    expect(world.rowsOf('hook').filter((row) => row.includes('expired'))).toEqual([
      'a/1 expired 0',
    ]);
    hook.answer = fine;
    await world.emit({ id: 'a', revision: 2, ...resolved });
    await world.clock.advance(10 * minuteMs);
    expect(hook.accepted).toEqual(['a/2 resolved']);
  });

  it('tries once what became older than a day while no process ran', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    pager.answer = away;
    await world.emit({ id: 'a' });
    pager.answer = fine;
    await world.restart(30 * hourMs);
    expect(pager.accepted).toEqual(['a/1 opened']);
  });

  it('goes on though the clock jumps by an hour', async () => {
    const pager = new FakeReceiver('pager', 'renewed');
    const world = await World.started(pager);
    pager.answer = away;
    await world.emit({ id: 'a' });
    await world.clock.advance(10_000);
    world.clock.jump(-hourMs);
    pager.answer = fine;
    await world.clock.advance(3_000);
    expect(pager.accepted).toEqual(['a/1 opened']);
    world.clock.jump(2 * hourMs);
    await world.clock.advance(5 * minuteMs);
    expect(pager.accepted).toHaveLength(6);
  });
});

describe('an attempt that is under way', () => {
  it('and is never answered may have opened a page: its end is delivered, in any process', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const chat = new FakeReceiver('chat', 'chat');
    const world = await World.started(pager, chat);
    pager.answer = () => ({ outcome: 'failed', answer: 'no response', mayHaveArrived: true });
    chat.answer = pager.answer;
    await world.emit({ id: 'a' });
    await world.emit({ id: 'a', revision: 2, ...resolved });
    pager.answer = () => new Promise(() => undefined);
    chat.answer = pager.answer;
    await world.emit({ id: 'b' });
    await world.clock.advance(minuteMs);
    pager.answer = fine;
    chat.answer = fine;
    await world.restart();
    await world.emit({ id: 'b', revision: 2, ...resolved });
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['a/2 resolved', 'b/1 opened', 'b/2 resolved']);
    expect(chat.accepted).toEqual(['a/2 past', 'b/1 opened', 'b/2 resolved']);
  });

  it('when the anomaly ends, and is accepted, has its end delivered', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    let answer: () => void = () => undefined;
    pager.answer = () =>
      new Promise((resolve) => {
        answer = () => resolve(fine());
      });
    await world.emit({ id: 'a' });
    await world.emit({ id: 'a', revision: 2, ...resolved });
    pager.answer = fine;
    answer();
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['a/1 opened', 'a/2 resolved']);
    expect(world.rowsOf('pager').filter((row) => row.includes('skipped'))).toEqual([]);
  });
});
