import { describe, expect, it } from 'vitest';
import type { Notice } from '../../../src/alert/receiver.ts';
import { hourMs, minuteMs } from '../../../src/base/time.ts';
import type { Mute } from '../../../src/sink/anomalies/mute-store.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { away, fine, resolved, World } from './world.ts';

describe('what a receiver gets', () => {
  it('is the opening, a rise and the end for a pager, and each once', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const seen: Notice[] = [];
    pager.answer = (notice) => {
      seen.push(notice);
      return fine();
    };
    const world = await World.started(pager);
    await world.emit({ id: 'a', severity: 'warning' });
    await world.emit({ id: 'a', revision: 2, state: 'updated', severity: 'warning' });
    await world.emit({ id: 'a', revision: 3, state: 'updated', severity: 'critical' });
    await world.emit({ id: 'a', revision: 4, state: 'updated', severity: 'critical' });
    await world.emit({ id: 'a', revision: 5, severity: 'critical', ...resolved });
    await world.clock.advance(hourMs);
    expect(pager.accepted).toEqual(['a/1 opened', 'a/3 risen', 'a/5 resolved']);
    expect(seen.map((notice) => notice.severities)).toEqual(
      [
        ['warning', 'critical'],
        ['warning', 'critical'],
        ['warning', 'critical'],
      ].map((list, i) => (i === 0 ? list.slice(0, 1) : list)),
    );
  });

  it('is the newest state alone after an outage; what is over wakes nobody, and is one message in a chat', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const chat = new FakeReceiver('chat', 'chat');
    const hook = new FakeReceiver('hook', 'revisions');
    const world = await World.started(pager, chat, hook);
    for (const receiver of [pager, chat, hook]) receiver.answer = away;
    await world.emit({ id: 'over', severity: 'warning' });
    await world.emit({ id: 'open', severity: 'warning' });
    await world.emit({ id: 'over', revision: 2, ...resolved });
    await world.emit({ id: 'open', revision: 2, state: 'updated' });
    await world.clock.advance(30 * minuteMs);
    for (const receiver of [pager, chat, hook]) receiver.answer = fine;
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['open/2 opened']);
    expect(chat.accepted.sort()).toEqual(['open/2 opened', 'over/2 past']);
    expect(hook.accepted.filter((each) => each.startsWith('over'))).toEqual([
      'over/1 opened',
      'over/2 resolved',
    ]);
    expect(world.rowsOf('pager').at(-1)).toMatch(/^(over\/2 skipped 0|open\/2 accepted \d+)$/);
    expect(world.rowsOf('pager').filter((row) => row.includes('skipped'))).toEqual([
      'over/2 skipped 0',
    ]);
  });

  it('is nothing of what it does not match, until it does', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    await world.emit({ id: 'a', model: 'nobody' });
    await world.emit({ id: 'b', model: 'nobody' });
    await world.emit({ id: 'a', revision: 2, state: 'updated', model: 'ranker' });
    await world.emit({ id: 'a', revision: 3, model: 'nobody', ...resolved });
    await world.emit({ id: 'b', revision: 2, model: 'nobody', ...resolved });
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['a/2 opened', 'a/3 resolved']);
  });

  it('is repeated each minute where it must be, and for a quarter of an hour after the end', async () => {
    const manager = new FakeReceiver('am', 'renewed');
    const world = await World.started(manager);
    await world.emit({ id: 'a' });
    await world.clock.advance(10 * minuteMs - 1_000);
    expect(manager.accepted).toHaveLength(10);
    await world.emit({ id: 'a', revision: 2, ...resolved });
    await world.clock.advance(hourMs);
    expect(manager.accepted.slice(10)).toHaveLength(16);
    // Renewals are no rows: a day of them says nothing new.
    expect(world.rowsOf('am')).toEqual(['a/1 accepted 1', 'a/2 accepted 1']);
  });

  it('is repeated by a successor at once, unless its end is long ago', async () => {
    const manager = new FakeReceiver('am', 'renewed');
    const world = await World.started(manager);
    await world.emit({ id: 'open' });
    await world.emit({ id: 'past' });
    await world.emit({ id: 'past', revision: 2, ...resolved });
    await world.clock.advance(21 * minuteMs);
    await world.emit({ id: 'recent' });
    await world.emit({ id: 'recent', revision: 2, ...resolved });
    manager.accepted.length = 0;
    await world.restart(10_000);
    expect(manager.accepted.sort()).toEqual(['open/1 updated', 'recent/2 resolved']);
  });

  it('is the end of one anomaly before the next of the same key', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const manager = new FakeReceiver('am', 'renewed');
    const world = await World.started(pager, manager);
    await world.emit({ id: 'a1', dedup_key: 'k' });
    pager.answer = ({ event }) => (event.id === 'a1' ? away() : fine());
    await world.emit({ id: 'a1', dedup_key: 'k', revision: 2, ...resolved });
    await world.emit({ id: 'a2', dedup_key: 'k' });
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['a1/1 opened']);
    pager.answer = fine;
    await world.clock.advance(minuteMs);
    expect(pager.accepted).toEqual(['a1/1 opened', 'a1/2 resolved', 'a2/1 opened']);
    // The end of the first is not repeated beside the second, which has its labels.
    const afterSecond = manager.accepted.slice(manager.accepted.indexOf('a2/1 opened'));
    expect(afterSecond.filter((each) => each.startsWith('a1'))).toEqual([]);
  });
});

describe('a restart', () => {
  it('delivers what its predecessor did not, and nothing twice', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const hook = new FakeReceiver('hook', 'revisions');
    const world = await World.started(pager, hook);
    await world.emit({ id: 'a', severity: 'warning' });
    hook.answer = away;
    pager.answer = away;
    await world.emit({ id: 'a', revision: 2, state: 'updated' });
    await world.emit({ id: 'b' });
    hook.answer = fine;
    pager.answer = fine;
    await world.restart(minuteMs);
    expect(pager.accepted).toEqual(['a/1 opened', 'a/2 risen', 'b/1 opened']);
    expect(hook.accepted).toEqual(['a/1 opened', 'a/2 updated', 'b/1 opened']);
    await world.restart();
    expect(pager.accepted).toHaveLength(3);
    expect(hook.accepted).toHaveLength(3);
  });

  it('remembers what a receiver asked for', async () => {
    const chat = new FakeReceiver('chat', 'chat');
    chat.answer = () => ({ outcome: 'accepted', answer: 'ok', memory: '{"ts":"17.1"}' });
    const world = await World.started(chat);
    await world.emit({ id: 'a' });
    await world.restart();
    const memories: string[] = [];
    chat.answer = ({ memory }) => {
      memories.push(memory);
      return fine();
    };
    await world.emit({ id: 'a', revision: 2, ...resolved });
    expect(memories).toEqual(['{"ts":"17.1"}']);
  });

  it('gives a new receiver what is open, and nothing of what was before', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    await world.emit({ id: 'over' });
    await world.emit({ id: 'over', revision: 2, ...resolved });
    await world.emit({ id: 'open' });
    await world.emit({ id: 'open', revision: 2, state: 'updated' });
    await world.clock.advance(40 * hourMs);
    await world.emit({ id: 'recent' });
    await world.emit({ id: 'recent', revision: 2, ...resolved });
    await world.clock.advance(minuteMs);
    const chat = new FakeReceiver('chat', 'chat');
    const hook = new FakeReceiver('hook', 'revisions');
    (world.receivers as FakeReceiver[]).push(chat, hook);
    await world.restart();
    expect(chat.accepted).toEqual(['open/2 opened']);
    await world.emit({ id: 'open', revision: 3, ...resolved });
    expect(chat.accepted).toEqual(['open/2 opened', 'open/3 resolved']);
    expect(hook.accepted).toEqual(['open/3 resolved']);
  });

  it('does not deliver twice what could not be recorded while ClickHouse was away for a while', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    world.tables.isAway = true;
    await world.emit({ id: 'a' });
    await world.emit({ id: 'b' });
    expect(pager.accepted).toEqual(['a/1 opened', 'b/1 opened']);
    await world.clock.advance(minuteMs);
    world.tables.isAway = false;
    await world.clock.advance(2_000);
    await world.restart();
    expect(pager.accepted).toHaveLength(2);
  });

  it('sends nothing once another process leads', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    world.isLeading = false;
    await world.emit({ id: 'a' });
    await world.clock.advance(minuteMs);
    expect(pager.attempts).toEqual([]);
  });
});

describe('a mute', () => {
  const mute = (world: World, changed: Partial<Mute> = {}): Mute => ({
    id: 'm',
    fromMs: world.clock.nowMs(),
    untilMs: world.clock.nowMs() + hourMs,
    models: ['ranker'],
    kinds: [],
    dimensions: {},
    why: 'load test',
    who: 'ann',
    ...changed,
  });
  const trio = () =>
    [
      new FakeReceiver('pager', 'pager'),
      new FakeReceiver('hook', 'revisions'),
      new FakeReceiver('topic', 'revisions'),
    ] as const;

  it('holds all back but the topic, and delivers what is still open when it ends', async () => {
    const [pager, hook, topic] = trio();
    const world = await World.started(pager, hook, topic);
    world.tables.mutes = [mute(world)];
    await world.clock.advance(5_000);
    await world.emit({ id: 'long' });
    await world.emit({ id: 'short' });
    await world.emit({ id: 'other', model: 'other' });
    await world.emit({ id: 'short', revision: 2, ...resolved });
    expect(pager.accepted).toEqual(['other/1 opened']);
    expect(hook.accepted).toEqual(['other/1 opened']);
    expect(topic.accepted).toHaveLength(4);
    await world.clock.advance(30 * hourMs);
    expect(pager.accepted).toEqual(['other/1 opened', 'long/1 opened']);
    expect(hook.accepted).toEqual(['other/1 opened', 'long/1 opened']);
    expect(world.rowsOf('pager').filter((row) => row.includes('skipped'))).toEqual([
      'short/2 skipped 0',
    ]);
  });

  it('lets the end of what was delivered before pass', async () => {
    const [pager, hook, topic] = trio();
    const world = await World.started(pager, hook, topic);
    await world.emit({ id: 'a', severity: 'warning' });
    world.tables.mutes = [mute(world)];
    await world.clock.advance(5_000);
    await world.emit({ id: 'a', revision: 2, state: 'updated' });
    await world.emit({ id: 'a', revision: 3, ...resolved });
    expect(pager.accepted).toEqual(['a/1 opened', 'a/3 resolved']);
    expect(hook.accepted).toEqual(['a/1 opened', 'a/3 resolved']);
    expect(topic.accepted).toEqual(['a/1 opened', 'a/2 updated', 'a/3 resolved']);
  });
});

describe('what was due before a mute began', () => {
  const muteOf = (fromMs: number, untilMs: number): Mute => ({
    ...{ id: 'm', fromMs, untilMs, models: ['ranker'], kinds: [], dimensions: {} },
    ...{ why: 'deploy', who: 'ann' },
  });

  it('and is over is not the business of the mute', async () => {
    const chat = new FakeReceiver('chat', 'chat');
    const hook = new FakeReceiver('hook', 'revisions');
    const world = await World.started(chat, hook);
    for (const receiver of [chat, hook]) receiver.answer = away;
    const detected = new Date(world.clock.nowMs()).toISOString();
    await world.emit({ id: 'a', detected_at: detected });
    await world.emit({ id: 'a', revision: 2, detected_at: detected, ...resolved });
    await world.clock.advance(minuteMs);
    world.tables.mutes = [muteOf(world.clock.nowMs(), world.clock.nowMs() + hourMs)];
    await world.clock.advance(10_000);
    for (const receiver of [chat, hook]) receiver.answer = fine;
    await world.clock.advance(minuteMs);
    expect(chat.accepted).toEqual(['a/2 past']);
    expect(hook.accepted).toEqual(['a/1 opened', 'a/2 resolved']);
  });

  it('is not given up for the time in which it was muted, also by a successor', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    world.tables.mutes = [muteOf(world.clock.nowMs(), world.clock.nowMs() + 30 * hourMs)];
    await world.clock.advance(5_000);
    await world.emit({ id: 'a' });
    pager.answer = away;
    await world.clock.advance(30 * hourMs);
    await world.restart();
    await world.clock.advance(hourMs);
    expect(world.rowsOf('pager').filter((row) => row.includes('expired'))).toEqual([]);
    pager.answer = fine;
    await world.clock.advance(10 * minuteMs);
    expect(pager.accepted).toEqual(['a/1 opened']);
  });
});
