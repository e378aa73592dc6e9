import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeliveryOrder, type Waiting } from '../../../src/alert/outbox/delivery-order.ts';
import { Lane } from '../../../src/alert/outbox/lane.ts';
import { minuteMs } from '../../../src/base/time.ts';
import { type AnomalyEvent, severities } from '../../../src/contract/anomaly-event.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { fine, World } from './world.ts';

const agedMs = 5 * minuteMs;

function waitingOf(id: string, changed: Partial<Waiting> = {}): Waiting {
  const dueSinceMs = changed.dueSinceMs ?? 0;
  return {
    ...{ id, rank: 1, isRenewal: false, dueSinceMs, readySinceMs: dueSinceMs, lastAttemptMs: 0 },
    ...changed,
  };
}

describe('the order of deliveries', () => {
  const choices = (waiting: readonly Waiting[], nowMs: number, count: number) => {
    const order = new DeliveryOrder();
    return Array.from({ length: count }, () => order.choose(waiting, nowMs));
  };

  it('is by severity, then what is new, then by age', () => {
    const waiting = [
      waitingOf('old warning', { dueSinceMs: 1 }),
      waitingOf('renewed critical', { rank: 2, isRenewal: true, dueSinceMs: 2 }),
      waitingOf('young critical', { rank: 2, dueSinceMs: 9 }),
      waitingOf('critical', { rank: 2, dueSinceMs: 8 }),
    ];
    expect(choices(waiting, 10, 3)).toEqual(['critical', 'critical', 'critical']);
    expect(choices(waiting.slice(0, 2), 10, 1)).toEqual(['renewed critical']);
  });

  it('gives every second attempt to what has waited for five minutes', () => {
    const waiting = [
      waitingOf('info', { rank: 0 }),
      waitingOf('critical', { rank: 2, dueSinceMs: 9 }),
    ];
    expect(choices(waiting, agedMs - 1, 2)).toEqual(['critical', 'critical']);
    expect(choices(waiting, agedMs, 4)).toEqual(['critical', 'info', 'critical', 'info']);
  });

  it('does not count the time for which a failure has paused as waiting', () => {
    const waiting = [
      waitingOf('fails', { rank: 0, readySinceMs: agedMs }),
      waitingOf('critical', { rank: 2, dueSinceMs: agedMs }),
    ];
    expect(choices(waiting, agedMs + 1, 2)).toEqual(['critical', 'critical']);
  });
});

interface Given {
  readonly atMs: number;
  readonly severity: AnomalyEvent['severity'];
}

const anyBurst = fc.array(
  fc.record({
    atMs: fc.integer({ min: 0, max: 20 * minuteMs }),
    severity: fc.constantFrom(...severities),
  }),
  { minLength: 1, maxLength: 80 },
);

/** Delivers one at a time, each attempt in as long; gives when each anomaly was begun with. */
function deliver(given: readonly Given[], attemptMs: number) {
  const lane = new Lane({
    receiver: new FakeReceiver('pager', 'pager'),
    matches: () => true,
    giveUpAfterMs: 24 * 60 * minuteMs,
    onRow: () => undefined,
    random: () => 0.5,
  });
  const sorted = given
    .toSorted((a, b) => a.atMs - b.atMs)
    .map((each, i) => ({ ...each, id: `${i}` }));
  const begun: { id: string; nowMs: number }[] = [];
  let added = 0;
  for (let nowMs = 0; begun.length < sorted.length; nowMs += attemptMs) {
    for (
      let next = sorted[added];
      next !== undefined && next.atMs <= nowMs;
      next = sorted[++added]
    ) {
      const { id, severity, atMs } = next;
      lane.add(anomalyFixture({ id, dedup_key: id, severity }), atMs);
    }
    const delivery = lane.next(nowMs);
    if (delivery === undefined) continue;
    begun.push({ id: delivery.notice.event.id, nowMs });
    lane.finish(delivery, fine(), nowMs);
    lane.release(delivery, nowMs);
  }
  return { sorted, begun };
}

describe('a lane', () => {
  it('begins with a critical one before any warning that is due, but for those that have waited too long', () => {
    fc.assert(
      fc.property(anyBurst, fc.integer({ min: 1_000, max: 60_000 }), (given, attemptMs) => {
        const { sorted, begun } = deliver(given, attemptMs);
        const of = (id: string) => sorted[Number(id)] as Given;
        const beganMs = new Map(begun.map(({ id, nowMs }) => [id, nowMs]));
        begun.forEach(({ id, nowMs }, i) => {
          const { severity, atMs } = of(id);
          const isOvertaking = sorted.some(
            (each) =>
              severities.indexOf(each.severity) > severities.indexOf(severity) &&
              each.atMs <= nowMs &&
              (beganMs.get(each.id) ?? 0) > nowMs,
          );
          if (!isOvertaking) return;
          // Only by its age, and never two of those in a row.
          expect(nowMs - atMs).toBeGreaterThanOrEqual(agedMs);
          const before = begun[i - 1];
          const wasByAge = sorted.some(
            (each) =>
              before !== undefined &&
              severities.indexOf(each.severity) > severities.indexOf(of(before.id).severity) &&
              each.atMs <= before.nowMs &&
              (beganMs.get(each.id) ?? 0) > before.nowMs,
          );
          expect(wasByAge).toBe(false);
        });
      }),
    );
  });

  it('lets nothing wait for longer than five minutes and two attempts for each that was due before', () => {
    fc.assert(
      fc.property(anyBurst, fc.integer({ min: 1_000, max: 60_000 }), (given, attemptMs) => {
        const { sorted, begun } = deliver(given, attemptMs);
        for (const { id, nowMs } of begun) {
          const { atMs } = sorted[Number(id)] as Given;
          const earlier = sorted.filter((each) => each.atMs <= atMs).length;
          expect(nowMs - atMs).toBeLessThanOrEqual(agedMs + (2 * earlier + 2) * attemptMs);
        }
      }),
    );
  });

  it('lets a warning pass in a stream of critical ones that takes every attempt', () => {
    const attemptMs = 10_000;
    const criticals = Array.from({ length: 70 }, (_, i): Given => {
      return { atMs: i * attemptMs, severity: 'critical' };
    });
    const { sorted, begun } = deliver([{ atMs: 1, severity: 'warning' }, ...criticals], attemptMs);
    const id = sorted.find(({ severity }) => severity === 'warning')?.id;
    const begunMs = begun.find((each) => each.id === id)?.nowMs;
    // Five minutes, and the attempt of a critical one between.
    expect(begunMs).toBe(agedMs + 2 * attemptMs);
  });

  it('keeps the order of an anomaly, and of those with one key, whatever their severities', async () => {
    const hook = new FakeReceiver('hook', 'revisions');
    hook.answer = () => ({ outcome: 'failed', answer: 'away' });
    const world = await World.started(hook);
    await world.emit({ id: 'w', severity: 'warning' });
    await world.emit({ id: 'x', severity: 'warning', dedup_key: 'k' });
    await world.emit({
      id: 'x',
      severity: 'warning',
      dedup_key: 'k',
      revision: 2,
      state: 'updated',
    });
    await world.emit({ id: 'y', severity: 'critical', dedup_key: 'k' });
    await world.emit({ id: 'z', severity: 'warning' });
    await world.emit({ id: 'z', severity: 'critical', revision: 2, state: 'updated' });
    hook.answer = fine;
    await world.clock.advance(10 * minuteMs);
    const of = (id: string) => hook.accepted.filter((each) => each.startsWith(id));
    expect(of('z')).toEqual(['z/1 opened', 'z/2 updated']);
    expect(of('x')).toEqual(['x/1 opened', 'x/2 updated']);
  });

  it('delivers a critical page at once in a burst of warnings', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    const release: (() => void)[] = [];
    pager.answer = () => new Promise((resolve) => release.push(() => resolve(fine())));
    for (let i = 0; i < 50; i++) await world.emit({ id: `w${i}`, severity: 'warning' });
    await world.emit({ id: 'c', severity: 'critical' });
    expect(release).toHaveLength(2);
    release.shift()?.();
    await world.clock.advance(0);
    release.pop()?.();
    await world.clock.advance(0);
    expect(pager.accepted).toEqual(['w0/1 opened', 'c/1 opened']);
  });

  it('moves what a critical one of the same key waits for ahead with it', async () => {
    const pager = new FakeReceiver('pager', 'pager');
    const world = await World.started(pager);
    const release: (() => void)[] = [];
    pager.answer = () => new Promise((resolve) => release.push(() => resolve(fine())));
    for (let i = 0; i < 5; i++) await world.emit({ id: `w${i}`, severity: 'warning' });
    await world.emit({ id: 'x', severity: 'warning', dedup_key: 'k' });
    await world.emit({ id: 'y', severity: 'critical', dedup_key: 'k' });
    for (let i = 0; i < 2; i++) {
      release.pop()?.();
      await world.clock.advance(0);
    }
    expect(pager.accepted).toEqual(['w1/1 opened', 'x/1 opened']);
  });
});
