import { describe, expect, it } from 'vitest';
import { ReceiverWatch } from '../../src/alert/receiver-watch.ts';
import type { Answer, Notice, Receiver } from '../../src/alert/receivers/receiver.ts';
import type { DeliveryRow, GivenUp } from '../../src/sink/anomalies/delivery-store.ts';
import { anomalyFixture } from '../detect/anomaly-fixture.ts';
import { FakeReceiver } from './outbox/fake-receiver.ts';

const startMs = Date.UTC(2026, 10, 1, 12);
const hourMs = 3_600_000;
const notice: Notice = {
  event: anomalyFixture(),
  change: 'opened',
  severities: ['critical'],
  memory: '',
  isTest: false,
};
const row: DeliveryRow = {
  ...{ receiver: 'pager', id: 'a1', revision: 1, attempt: 2, outcome: 'refused', form: 'minimal' },
  ...{ state: 'opened', severity: 'critical', answer: '400 no such key', memory: '' },
  atMs: startMs,
};

interface Before {
  readonly outages?: ReadonlyMap<string, number>;
  readonly givenUp?: readonly GivenUp[];
}

async function watched(receiver: Receiver, { outages = new Map(), givenUp = [] }: Before = {}) {
  const time = { nowMs: startMs };
  const stored: DeliveryRow[] = [];
  const { name } = receiver;
  const watch = new ReceiverWatch({
    routes: [{ receiver, name, unmet: () => undefined, ignoresMutes: false }],
    nowMs: () => time.nowMs,
    store: {
      add: async (rows) => {
        stored.push(...rows);
      },
      load: async () => ({ events: [], settled: [], sinceMs: new Map() }),
      outages: async () => new Map(outages),
      givenUp: async () => [...givenUp],
    },
  });
  await watch.start();
  const [route] = watch.routes;
  if (route === undefined) throw new Error('no route');
  return { watch, time, stored, receiver: route.receiver };
}

describe('a watched receiver', () => {
  const away: Answer = { outcome: 'failed', answer: '503 Service Unavailable' };
  const failing = (answer: Answer = away) => {
    const receiver = new FakeReceiver('pager', 'pager');
    receiver.answer = () => answer;
    return receiver;
  };

  it('that fails is named, since its first failure after the last acceptance', async () => {
    const pager = failing();
    const { watch, time, receiver } = await watched(pager);
    expect(watch.notes()).toEqual([]);
    await receiver.send(notice, 'full');
    time.nowMs += 2 * hourMs;
    pager.answer = () => ({ outcome: 'rejected', answer: '401 Unauthorized' });
    await receiver.send(notice, 'full');
    expect(watch.notes()).toEqual([
      'alert: pager has accepted nothing for 2 h, since 2026-11-01T12:00:00Z; it is tried again. Its last answer: 401 Unauthorized',
    ]);
    pager.answer = () => ({ outcome: 'accepted', answer: '202' });
    await receiver.send(notice, 'full');
    expect(watch.notes()).toEqual([]);
    pager.answer = () => away;
    await receiver.send(notice, 'full');
    expect(watch.notes().join()).toContain('for 0 s, since 2026-11-01T14:00:00Z');
  });

  it('has been away for as long as a predecessor saw, until it accepts', async () => {
    const outages = new Map([['pager', startMs - 30 * hourMs]]);
    const pager = failing();
    const { watch, receiver } = await watched(pager, { outages });
    // It may be back: nobody has asked it yet.
    expect(watch.notes()).toEqual([]);
    await receiver.send(notice, 'full');
    expect(watch.notes().join()).toContain('for 30 h, since 2026-10-31T06:00:00Z');
    pager.answer = () => ({ outcome: 'accepted', answer: '202' });
    await receiver.send(notice, 'full');
    pager.answer = () => away;
    await receiver.send(notice, 'full');
    expect(watch.notes().join()).toContain('for 0 s');
  });

  it('is away too where it throws or misses heartbeats, and not where it refuses content', async () => {
    const refusing = failing({ outcome: 'unacceptable', answer: '400' });
    const unacceptable = await watched(refusing);
    await unacceptable.receiver.send(notice, 'full');
    expect(unacceptable.watch.notes()).toEqual([]);

    const throwing = failing();
    throwing.answer = () => Promise.reject(new Error('socket hang up'));
    const thrown = await watched(throwing);
    await expect(thrown.receiver.send(notice, 'full')).rejects.toThrow('socket hang up');
    expect(thrown.watch.notes().join()).toContain('Its last answer: socket hang up');

    const beating = Object.assign(failing(), {
      heartbeat: { everyMs: 60_000, send: async () => away },
    });
    const beaten = await watched(beating);
    await beaten.receiver.heartbeat?.send();
    expect(beaten.watch.notes()).toHaveLength(1);
  });

  it('that did not get something is named for a day, with the last', async () => {
    const before: GivenUp = {
      ...{ receiver: 'pager', id: 'a0', revision: 3, outcome: 'expired' },
      ...{ answer: 'not accepted for too long', atMs: startMs - 20 * hourMs },
    };
    const { watch, time, stored } = await watched(failing(), { givenUp: [before] });
    expect(watch.notes()).toEqual([
      'alert: pager did not get an event in the last 24 h (see `tailmark anomalies --deliveries`); the last: anomaly a0, expired at 2026-10-31T16:00:00Z: not accepted for too long',
    ]);
    // A row is stored again after an outage of ClickHouse, and counts once.
    const failed = { ...row, id: 'a2', outcome: 'failed' };
    for (let i = 0; i < 2; i++) await watch.store.add([row, failed]);
    expect(stored).toHaveLength(4);
    expect(watch.notes()).toEqual([
      'alert: pager did not get 2 events in the last 24 h (see `tailmark anomalies --deliveries`); the last: anomaly a1, refused at 2026-11-01T12:00:00Z: 400 no such key',
    ]);
    time.nowMs += 5 * hourMs;
    expect(watch.notes().join()).toContain('did not get an event');
    time.nowMs += 20 * hourMs;
    expect(watch.notes()).toEqual([]);
  });

  it('shows all that the receiver is', async () => {
    const renewed = await watched(new FakeReceiver('am', 'renewed'));
    expect(renewed.receiver).toMatchObject({
      ...{ name: 'am', feed: 'state', wantsPast: false, wantsUpdates: false },
      renewal: { everyMs: 60_000, afterEndMs: 15 * 60_000 },
    });
    const plain = await watched(new FakeReceiver('topic', 'revisions'));
    expect([plain.receiver.feed, plain.receiver.renewal, plain.receiver.heartbeat]).toEqual([
      ...['revisions', undefined, undefined],
    ]);
    expect(plain.receiver.preview(notice, 'full')).toEqual([]);
  });
});
