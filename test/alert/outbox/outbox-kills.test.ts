import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { away, fine, resolved, World } from './world.ts';

const unanswered = () =>
  ({ outcome: 'failed', answer: 'no response', mayHaveArrived: true }) as const;

describe.each(['pager', 'renewed'] as const)('a kill, at a %s', (shape) => {
  it('brings no end of what no attempt reached', async () => {
    const pager = new FakeReceiver('pager', shape);
    const world = await World.started(pager);
    pager.answer = away;
    for (let i = 0; i < 5; i++) await world.emit({ id: `a${i}` });
    await world.clock.advance(minuteMs);
    await world.restart(10_000);
    for (let i = 0; i < 5; i++) await world.emit({ id: `a${i}`, revision: 2, ...resolved });
    await world.clock.advance(minuteMs);
    await world.restart(10_000);
    pager.answer = fine;
    await world.clock.advance(5 * minuteMs);
    expect(pager.accepted).toEqual([]);
    const skipped = world.rowsOf('pager').filter((row) => row.includes('skipped'));
    expect(skipped.sort()).toEqual([0, 1, 2, 3, 4].map((i) => `a${i}/2 skipped 0`));
  });

  it('brings no end of what was never attempted, behind others that failed', async () => {
    const pager = new FakeReceiver('pager', shape);
    const world = await World.started(pager);
    pager.answer = away;
    for (let i = 0; i < 30; i++) await world.emit({ id: `a${i}` });
    await world.clock.advance(2_000);
    const attempted = new Set(pager.attempts.map((attempt) => attempt.split('/')[0]));
    expect(attempted.has('a29')).toBe(false);
    await world.restart();
    await world.emit({ id: 'a29', revision: 2, ...resolved });
    pager.answer = fine;
    await world.restart();
    await world.clock.advance(minuteMs);
    expect(pager.accepted.filter((each) => each.startsWith('a29'))).toEqual([]);
  });

  it('brings the end of what may have arrived before later attempts failed', async () => {
    const pager = new FakeReceiver('pager', shape);
    const world = await World.started(pager);
    pager.answer = unanswered;
    await world.emit({ id: 'a' });
    pager.answer = away;
    await world.clock.advance(minuteMs);
    await world.restart(10_000);
    await world.clock.advance(minuteMs);
    await world.emit({ id: 'a', revision: 2, ...resolved });
    await world.restart(10_000);
    pager.answer = fine;
    await world.clock.advance(20_000);
    expect(pager.accepted[0]).toBe('a/2 resolved');
  });

  it('brings the end of what was under way', async () => {
    const pager = new FakeReceiver('pager', shape);
    const world = await World.started(pager);
    pager.answer = away;
    await world.emit({ id: 'a' });
    pager.answer = () => new Promise(() => undefined);
    await world.clock.advance(minuteMs);
    pager.answer = away;
    await world.restart();
    await world.emit({ id: 'a', revision: 2, ...resolved });
    pager.answer = fine;
    await world.clock.advance(20_000);
    expect(pager.accepted[0]).toBe('a/2 resolved');
  });

  it('and a refusal leave nothing to end', async () => {
    const pager = new FakeReceiver('pager', shape);
    const world = await World.started(pager);
    pager.answer = () => ({ outcome: 'unacceptable', answer: '400' });
    await world.emit({ id: 'a' });
    await world.clock.advance(minuteMs);
    pager.answer = fine;
    await world.restart();
    await world.emit({ id: 'a', revision: 2, ...resolved });
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual([]);
  });
});

describe('the record of an attempt', () => {
  it('comes before it, once until its outcome is known, and only where an end depends on it', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const chat = new FakeReceiver('chat', 'chat');
    const hook = new FakeReceiver('hook', 'revisions');
    const world = await World.started(pager, chat, hook);
    const begun = () => world.tables.rows.filter(({ outcome }) => outcome === 'begun');
    const before: number[] = [];
    pager.answer = () => {
      before.push(begun().length);
      return pager.attempts.length === 0 ? away() : unanswered();
    };
    await world.emit({ id: 'a', severity: 'warning' });
    await world.clock.advance(30_000);
    pager.answer = fine;
    await world.clock.advance(30_000);
    await world.emit({ id: 'a', revision: 2, severity: 'critical', state: 'updated' });
    await world.clock.advance(1_000);
    await world.emit({ id: 'a', revision: 3, severity: 'critical', ...resolved });
    expect(pager.accepted).toEqual(['a/1 opened', 'a/2 risen', 'a/3 resolved']);
    expect(before.length).toBeGreaterThan(3);
    expect([before[0], ...new Set(before.slice(1))]).toEqual([1, 2]);
    expect(begun().map(({ receiver, attempt }) => [receiver, attempt])).toEqual([
      ['pager', 1],
      ['pager', 2],
    ]);
  });

  it('delays no page while ClickHouse is away', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    world.tables.isAway = true;
    await world.emit({ id: 'a' });
    await world.clock.advance(1_000);
    expect(pager.accepted).toEqual(['a/1 opened']);
  });
});
