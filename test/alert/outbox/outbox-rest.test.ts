import { describe, expect, it } from 'vitest';
import type { Answer, Notice } from '../../../src/alert/receiver.ts';
import { hourMs, minuteMs } from '../../../src/base/time.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { away, fine, resolved, World } from './world.ts';

const partly = ({ change }: Notice): Answer => ({
  outcome: 'accepted',
  answer: '250; to be tried again for b (451)',
  memory: `rest: ${change}`,
  retryAfterMs: 30_000,
});
const later = (): Answer => ({ outcome: 'failed', answer: 'for b: 451', retryAfterMs: 30_000 });
const whole = (): Answer => ({ outcome: 'accepted', answer: '250', memory: '' });

/** A mail server that takes a mail for the rest when it is told to. */
function mailReceiver() {
  const mail = new FakeReceiver('mail', 'pager');
  const state = { isLater: true };
  mail.answer = (notice) => {
    if (notice.isRest) return state.isLater ? later() : whole();
    return state.isLater ? partly(notice) : whole();
  };
  return { mail, state };
}

describe('a delivery that some people are to get later', () => {
  it('is tried again for them alone, after the pause that their server asks for', async () => {
    const { mail, state } = mailReceiver();
    const world = await World.started(mail);
    await world.emit({ id: 'a' });
    await world.clock.advance(29_000);
    expect(mail.attempts).toEqual(['a/1 opened accepted']);
    await world.clock.advance(2_000);
    expect(mail.attempts).toEqual(['a/1 opened accepted', 'a/1 opened rest failed']);
    state.isLater = false;
    await world.clock.advance(minuteMs);
    await world.clock.advance(hourMs);
    expect(mail.accepted).toEqual(['a/1 opened', 'a/1 opened rest']);
    expect(world.rowsOf('mail')).toEqual(['a/1 accepted 1', 'a/1 failed 1', 'a/1 accepted 2']);
  });

  it('is gone on with by a successor, and nobody gets it twice', async () => {
    const { mail, state } = mailReceiver();
    const world = await World.started(mail);
    await world.emit({ id: 'a' });
    await world.restart(10_000);
    state.isLater = false;
    await world.clock.advance(minuteMs);
    await world.restart(10_000);
    await world.clock.advance(hourMs);
    expect(mail.accepted).toEqual(['a/1 opened', 'a/1 opened rest']);
  });

  it('does not delay others, nor count as an outage of the receiver', async () => {
    const { mail } = mailReceiver();
    const world = await World.started(mail);
    for (const id of ['a', 'b', 'c']) await world.emit({ id });
    await world.clock.advance(10 * minuteMs);
    mail.attempts.length = 0;
    await world.emit({ id: 'd' });
    await world.emit({ id: 'e' });
    expect(mail.attempts).toEqual(['d/1 opened accepted', 'e/1 opened accepted']);
  });

  it('gives way to the next state, which all get', async () => {
    const { mail, state } = mailReceiver();
    const world = await World.started(mail);
    await world.emit({ id: 'a' });
    state.isLater = false;
    await world.emit({ id: 'a', revision: 2, ...resolved });
    await world.clock.advance(hourMs);
    expect(mail.accepted).toEqual(['a/1 opened', 'a/2 resolved']);
  });

  it('keeps no later anomaly of its key waiting', async () => {
    const { mail } = mailReceiver();
    const world = await World.started(mail);
    await world.emit({ id: 'a1', dedup_key: 'k' });
    await world.emit({ id: 'a1', dedup_key: 'k', revision: 2, ...resolved });
    await world.emit({ id: 'a2', dedup_key: 'k' });
    await world.clock.advance(1_000);
    expect(mail.attempts).toEqual([
      'a1/1 opened accepted',
      'a1/2 resolved accepted',
      'a2/1 opened accepted',
    ]);
  });

  it('expires with what was said of them, and then stays so over a restart', async () => {
    const { mail } = mailReceiver();
    const world = await World.started(mail);
    await world.emit({ id: 'a' });
    await world.clock.advance(25 * hourMs);
    const last = world.tables.rows.at(-1);
    expect([last?.outcome, last?.revision, last?.answer]).toEqual([
      'expired',
      1,
      'not accepted for too long: for b: 451',
    ]);
    const attempts = mail.attempts.length;
    await world.restart(10_000);
    await world.clock.advance(hourMs);
    expect(mail.attempts).toHaveLength(attempts);
  });

  it('is held back by an outage like all else, and made up for', async () => {
    const { mail, state } = mailReceiver();
    const world = await World.started(mail);
    await world.emit({ id: 'a' });
    mail.answer = away;
    await world.clock.advance(10 * minuteMs);
    state.isLater = false;
    mail.answer = whole;
    await world.clock.advance(10 * minuteMs);
    expect(mail.accepted).toEqual(['a/1 opened', 'a/1 opened rest']);
  });

  it('has a row of its own for people who never get it', async () => {
    const mail = new FakeReceiver('mail', 'pager');
    mail.answer = () => ({
      ...fine(),
      answer: '250; refused for b',
      refused: 'refused for b (550)',
    });
    const world = await World.started(mail);
    await world.emit({ id: 'a' });
    await world.clock.advance(hourMs);
    expect(world.rowsOf('mail')).toEqual(['a/1 accepted 1', 'a/1 refused 1']);
    expect(world.tables.rows.at(-1)?.answer).toBe('refused for b (550)');
  });
});
