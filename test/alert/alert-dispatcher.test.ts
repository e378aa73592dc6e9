import { describe, expect, it } from 'vitest';
import { AlertDispatcher } from '../../src/alert/alert-dispatcher.ts';
import type { AlertTarget } from '../../src/alert/alert-target.ts';
import type { AnomalyEvent } from '../../src/detect/event/anomaly-event.ts';
import { anomalyFixture } from '../detect/anomaly-fixture.ts';

/** A target that holds each delivery until the test ends it. */
class HeldTarget implements AlertTarget {
  readonly name: string;
  readonly started: string[] = [];
  readonly #ends = new Map<string, { take: () => void; refuse: (error: Error) => void }>();

  constructor(name: string) {
    this.name = name;
  }

  deliver(event: AnomalyEvent): Promise<void> {
    const label = labelOf(event);
    this.started.push(label);
    return new Promise((take, refuse) => {
      this.#ends.set(label, { take, refuse });
    });
  }

  take(label: string): void {
    this.#ends.get(label)?.take();
  }

  refuse(label: string, error: Error): void {
    this.#ends.get(label)?.refuse(error);
  }
}

const labelOf = (event: AnomalyEvent) => `${event.dedup_key}/${event.revision}`;
const event = (key: string, revision: number) => anomalyFixture({ dedup_key: key, revision });
const free = (name: string, seen: string[] = []): AlertTarget => ({
  name,
  deliver: async (one) => void seen.push(labelOf(one)),
});

/** Runs everything that needs no outside help. */
const settle = () => new Promise((done) => setImmediate(done));

describe('AlertDispatcher', () => {
  it('delivers to all targets though one fails, and counts the failure once', async () => {
    const failures: string[] = [];
    const seen: string[] = [];
    const error = new Error('no');
    const dispatcher = new AlertDispatcher({
      targets: [{ name: 'bad', deliver: () => Promise.reject(error) }, free('good', seen)],
      onFailure: ({ target }, one) => failures.push(`${target} ${labelOf(one)}`),
    });
    expect(await dispatcher.dispatch(event('a', 1))).toEqual([{ target: 'bad', error }]);
    expect(seen).toEqual(['a/1']);
    expect(failures).toEqual(['bad a/1']);
  });

  it('does not hold a target back for a slow one', async () => {
    const slow = new HeldTarget('slow');
    const seen: string[] = [];
    const dispatcher = new AlertDispatcher({ targets: [slow, free('quick', seen)] });
    const outcomes = [dispatcher.dispatch(event('a', 1)), dispatcher.dispatch(event('a', 2))];
    await settle();
    expect(seen).toEqual(['a/1', 'a/2']);
    slow.take('a/1');
    await settle();
    slow.take('a/2');
    expect(await Promise.all(outcomes)).toEqual([[], []]);
  });

  it('keeps the order of a dedup key, after a failure too, and lets other keys overtake', async () => {
    const held = new HeldTarget('held');
    const dispatcher = new AlertDispatcher({ targets: [held] });
    const events = [event('a', 1), event('a', 2), event('b', 1)];
    const outcomes = events.map((one) => dispatcher.dispatch(one));
    await settle();
    expect(held.started).toEqual(['a/1', 'b/1']);
    held.refuse('a/1', new Error('down'));
    await settle();
    expect(held.started).toEqual(['a/1', 'b/1', 'a/2']);
    held.take('b/1');
    held.take('a/2');
    const failed = (await Promise.all(outcomes)).map((failures) => failures.length);
    expect(failed).toEqual([1, 0, 0]);
  });

  it('has eight deliveries under way at most, and fails events that find the queue full', async () => {
    const held = new HeldTarget('held');
    const dispatcher = new AlertDispatcher({ targets: [held], maxQueued: 2 });
    const outcomes = Array.from({ length: 11 }, (_, i) => dispatcher.dispatch(event(`k${i}`, 1)));
    await settle();
    expect(held.started).toHaveLength(8);
    const [failure] = (await outcomes[10]) ?? [];
    expect(failure?.error.message).toBe('held has 2 events waiting: its queue is full');
    for (let i = 0; i < 10; i++) {
      held.take(`k${i}/1`);
      await settle();
    }
    expect((await Promise.all(outcomes)).flat()).toEqual([failure]);
    expect(held.started).toHaveLength(10);
  });
});
