// Covers src/generate/publish/published-traffic.ts.

import { describe, expect, it } from 'vitest';
import { DueQueue, PublishOrder } from '../../../src/generate/publish/publish-order.ts';
import {
  drawPublishDelay,
  publishDelay,
  publishedTraffic,
} from '../../../src/generate/publish/published-traffic.ts';
import { Random } from '../../../src/generate/random.ts';
import { generateTraffic } from '../../../src/generate/traffic.ts';

const options = { seed: 5, startMs: 1_790_000_000_000, durationMs: 300_000, ratePerSecond: 40 };

describe('a queue of what is due', () => {
  it('gives items by their time, those of one time as they came, whatever goes in between', () => {
    const random = new Random('queue');
    const queue = new DueQueue<{ dueMs: number; item: number }>();
    const model: { dueMs: number; item: number }[] = [];
    for (let n = 0; n < 5_000; n++) {
      if (random.chance(0.55)) {
        const dueMs = Math.floor(random.uniform() * 50);
        queue.add({ dueMs, item: n });
        // Behind all that are due no later.
        const later = model.findIndex((each) => each.dueMs > dueMs);
        model.splice(later < 0 ? model.length : later, 0, { dueMs, item: n });
        continue;
      }
      expect(queue.nextDueMs).toBe(model[0]?.dueMs ?? Number.POSITIVE_INFINITY);
      expect(queue.pop()?.item).toBe(model.shift()?.item);
    }
    expect(queue.size).toBe(model.length);
  });
});

describe('the order of publishing', () => {
  const orderOf = (most: number, ...items: readonly (readonly [number, number])[]) => {
    const order = new PublishOrder<{ startMs: number; dueMs: number }>(most);
    const given = items.flatMap(([startMs, dueMs]) => [...order.push({ startMs, dueMs })]);
    const early = given.length;
    return { early, dueMs: [...given, ...order.drain()].map(({ dueMs }) => dueMs) };
  };

  it('is that of when items are due, and holds one only until none can come before it', () => {
    expect(orderOf(9, [0, 50], [10, 11], [20, 21], [60, 61])).toEqual({
      early: 3,
      dueMs: [11, 21, 50, 61],
    });
  });

  it('at its limit hands on what is due first: what comes later may be late, and nothing is lost', () => {
    expect(orderOf(2, [0, 50], [10, 60], [20, 70], [30, 40])).toEqual({
      early: 2,
      dueMs: [50, 40, 60, 70],
    });
  });
});

describe('published traffic', () => {
  it('has each event of the traffic that ends and arrives in its time, in order of publishing', () => {
    const found = [...publishedTraffic(options)];
    const dues = found.map(({ dueMs }) => dueMs);
    expect(dues).toEqual([...dues].sort((a, b) => a - b));
    const endMs = options.startMs + options.durationMs;
    expect(dues.at(-1)).toBeLessThan(endMs);
    for (const { event, dueMs } of found) {
      expect(dueMs - event.ts - event.total_ms).toBeGreaterThan(0);
      expect(dueMs - event.ts - event.total_ms).toBeLessThanOrEqual(publishDelay.mostMs + 1);
    }
    const ids = new Set(found.map(({ event }) => event.id));
    const all = [...generateTraffic(options)];
    const missing = all.filter(({ id }) => !ids.has(id));
    expect(found.length + missing.length).toBe(all.length);
    expect(missing.length).toBeGreaterThan(0);
    for (const { ts, total_ms } of missing) {
      expect(ts + total_ms).toBeGreaterThan(endMs - publishDelay.mostMs);
    }
    expect([...publishedTraffic(options)]).toEqual(found);
  });

  it('at the start is the traffic itself', () => {
    const found = [...publishedTraffic(options, 'start')];
    expect(found.map(({ event }) => event)).toEqual([...generateTraffic(options)]);
    for (const { dueMs, event } of found) expect(dueMs).toBe(event.ts);
  });

  it('takes some tens of milliseconds from the end of a request to the broker, rarely longer', () => {
    const random = new Random('delay');
    const delays = Array.from({ length: 200_000 }, () => drawPublishDelay(random));
    delays.sort((a, b) => a - b);
    const at = (q: number) => delays[Math.floor(q * delays.length)] as number;
    expect(at(0.5)).toBeCloseTo(54, -0.5);
    expect(at(0.99)).toBeLessThan(110);
    expect(at(0.9999)).toBeGreaterThan(500);
    // Beyond the grace of a window, which is 2 s, come next to none.
    expect(delays.filter((ms) => ms > 2_000).length / delays.length).toBeLessThan(1e-4);
  });
});
