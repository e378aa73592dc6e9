import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueNow } from '../../../src/alert/outbox/due-now.ts';
import type { Route } from '../../../src/alert/routing/route.ts';
import { minuteMs } from '../../../src/base/time.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import type { Mute } from '../../../src/sink/anomalies/mute-store.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { away, fine, resolved, World } from './world.ts';

const shapes = ['pager', 'chat', 'revisions'] as const;

const routeOf = (receiver: FakeReceiver): Route => ({
  receiver,
  name: receiver.name,
  unmet: ({ model }) => (model === 'nobody' ? 'nobody' : undefined),
  ignoresMutes: false,
});

/** What is due at a receiver of the one anomaly `a`, by the tables. */
async function dueAt(world: World, receiver: FakeReceiver) {
  const nowMs = world.clock.nowMs();
  const { tables } = world;
  const since = new Map(tables.since);
  const { settled } = await tables.load([receiver.name], 0);
  const registeredMs = since.get(receiver.name);
  const of = settled.find(({ id }) => id === 'a');
  const mutes = tables.mutes.filter(({ untilMs }) => untilMs > nowMs);
  return dueNow(routeOf(receiver), {
    events: tables.events,
    settled: of,
    given: tables.rows.filter((row) => row.receiver === receiver.name),
    registeredMs,
    mutes,
    nowMs,
  });
}

const muteOf = (nowMs: number): Mute => ({
  ...{ id: 'm1', fromMs: nowMs, untilMs: nowMs + 60 * minuteMs, why: 'load test', who: 'ann' },
  ...{ models: ['*'], kinds: [], dimensions: {} },
});

/** What one step of a history does. */
const actions = ['fine', 'away', 'refuses', 'opened', 'updated', 'rises', 'ends'] as const;
const steps = fc.array(
  fc.constantFrom(...actions, 'mute' as const, 'unmute' as const, 'restart' as const),
  { minLength: 1, maxLength: 10 },
);

const answers = {
  fine,
  away,
  refuses: () => ({ outcome: 'unacceptable', answer: '400 Bad Request' }) as const,
};

/** Plays a history of one anomaly; returns the receiver's world. */
async function played(
  receiver: FakeReceiver,
  history: readonly ((typeof actions)[number] | 'mute' | 'unmute' | 'restart')[],
): Promise<World> {
  const world = await World.started(receiver);
  let last: AnomalyEvent | undefined;
  const next = async (changed: Partial<AnomalyEvent>) => {
    const isAfter = last !== undefined && last.state !== 'resolved';
    if (isAfter === (changed.state === 'opened')) return;
    const { severity = 'warning', revision = 0 } = last ?? {};
    last = await world.emit({ id: 'a', revision: revision + 1, severity, ...changed });
  };
  for (const step of history) {
    if (step === 'fine' || step === 'away' || step === 'refuses') receiver.answer = answers[step];
    else if (step === 'mute') world.tables.mutes = [muteOf(world.clock.nowMs())];
    else if (step === 'unmute') world.tables.mutes = [];
    else if (step === 'restart') await world.restart(minuteMs);
    else if (step === 'opened' && last !== undefined) continue;
    else if (step === 'opened') await next({ state: 'opened' });
    else if (step === 'updated') await next({ state: 'updated' });
    else if (step === 'rises') await next({ state: 'updated', severity: 'critical' });
    else await next(resolved);
    await world.clock.advance(10_000);
  }
  return world;
}

describe('what is due now', () => {
  it('is what an outbox that starts now delivers first, after any history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...shapes), steps, async (shape, history) => {
        const receiver = new FakeReceiver('on-call', shape);
        const world = await played(receiver, history);
        if (world.tables.events.length === 0) return;
        const { notices } = await dueAt(world, receiver);
        receiver.answer = away;
        receiver.attempts.length = 0;
        await world.restart();
        const [first] = receiver.attempts;
        const [due] = notices;
        const expected = due && `a/${due.event.revision} ${due.change} failed`;
        expect([history, first]).toEqual([history, expected]);
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, Parameters<typeof played>[1], string[], string]>([
    ['nothing was given', ['away', 'opened'], ['opened'], 'it meets match'],
    [
      'the opening was accepted',
      ['opened', 'updated'],
      [],
      'what is new since the last delivery is no news for it',
    ],
    ['the end was accepted', ['opened', 'ends'], [], 'its end was accepted'],
    [
      'the opening was refused',
      ['refuses', 'opened'],
      [],
      'revision 1 was refused: 400 Bad Request',
    ],
    [
      'the end was refused',
      ['opened', 'refuses', 'ends'],
      [],
      'its end was refused: 400 Bad Request',
    ],
    [
      'it was away over the end',
      ['away', 'opened', 'ends'],
      [],
      'its end was skipped: over before it could be delivered',
    ],
    ['it rose since', ['opened', 'away', 'rises'], ['risen'], 'it meets match'],
    ['it is muted', ['mute', 'opened'], [], 'muted by m1: load test'],
    [
      'it was over while it was muted',
      ['mute', 'opened', 'ends'],
      [],
      'its end was skipped: over while it was muted',
    ],
    [
      'it was accepted before a mute',
      ['opened', 'mute', 'away', 'ends'],
      ['resolved'],
      'it meets match',
    ],
  ])('where %s', async (_, history, changes, why) => {
    const receiver = new FakeReceiver('on-call', 'pager');
    const world = await played(receiver, history);
    const due = await dueAt(world, receiver);
    expect(due.notices.map(({ change }) => change)).toEqual(changes);
    expect(due.why).toBe(why);
  });

  it('of a receiver that no process has run with is what is open, and nothing of what is over', async () => {
    const world = await played(new FakeReceiver('on-call', 'pager'), ['opened', 'updated']);
    const added = new FakeReceiver('added', 'pager');
    expect((await dueAt(world, added)).notices.map(({ change }) => change)).toEqual(['opened']);
    await world.emit({ id: 'a', revision: 3, ...resolved });
    await world.clock.advance(1_000);
    const later = new FakeReceiver('later', 'pager');
    expect(await dueAt(world, later)).toEqual({
      notices: [],
      why: 'it was over before this receiver was configured',
    });
  });

  it('of a receiver that is sent open alerts again and again is a repetition, and nothing new', async () => {
    const receiver = new FakeReceiver('on-call', 'renewed');
    const world = await played(receiver, ['opened', 'updated']);
    expect(await dueAt(world, receiver)).toEqual({
      notices: [],
      why: 'it was accepted, and is sent again at intervals',
    });
  });

  it('carries what the last delivery remembered', async () => {
    const receiver = new FakeReceiver('on-call', 'chat');
    receiver.answer = () => ({ ...fine(), memory: '{"ts":"1"}' });
    const world = await played(receiver, ['opened', 'away', 'updated']);
    const { notices } = await dueAt(world, receiver);
    expect(notices.map(({ memory, change }) => [memory, change])).toEqual([
      ['{"ts":"1"}', 'updated'],
    ]);
  });
});
