// Covers src/roles/detect/completeness/arrival-log.ts and
// src/roles/detect/completeness/partition-track.ts.

import { describe, expect, it } from 'vitest';
import { hourMs } from '../../../../src/base/time.ts';
import { SimulatedPipeline } from '../simulated-pipeline.ts';

/** A flush each 5 s, an observation each second: the lag stays below this while all is well. */
const normalLagSeconds = 6;

describe('ArrivalCompleteness', () => {
  it('is complete up to where all arrived records are stored', async () => {
    const world = new SimulatedPipeline(4);
    await world.pass(30);
    for (let n = 0; n < 20; n++) {
      await world.pass(1);
      expect(world.second - world.completeSecond).toBeLessThanOrEqual(normalLagSeconds);
      expect(world.last).toMatchObject({ hasAllTraffic: true, behind: [], displaced: [] });
      // No earlier record is missing.
      for (const { records, stored } of world.partitions) {
        expect(records.slice(stored).every((ms) => ms >= (world.last?.completeMs ?? 0))).toBe(true);
      }
    }
  });

  it.each([
    ['sparse: an event each 20 s', { everyMs: 20_000 }],
    ['silent', { everyMs: 0 }],
    ['of garbage alone', { isGood: false }],
    ['of events of five hours ago', { delayMs: 5 * hourMs }],
    ['of events of five hours ago, each 20 s', { everyMs: 20_000, delayMs: 5 * hourMs }],
    ['of a clock that is 4 min ahead', { delayMs: -240_000 }],
  ])('does not wait for a partition that is read to its end: %s', async (_, traffic) => {
    const world = new SimulatedPipeline(4, (n) => (n === 3 ? traffic : {}));
    await world.pass(70);
    for (let n = 0; n < 60; n++) {
      await world.pass(1);
      expect(world.second - world.completeSecond).toBeLessThanOrEqual(normalLagSeconds);
      expect(world.completeSecond).toBeLessThanOrEqual(world.second);
    }
  });

  it('counts a flush as stored only with the last of its records', async () => {
    const world = new SimulatedPipeline(1);
    await world.pass(30);
    world.set(0, { mostPerFlush: 4 });
    await world.pass(5);
    const { records, stored } = world.partitions[0] ?? { records: [], stored: 0 };
    // A record a second, and of the last five one is not stored: complete up to the second before it.
    expect(records.length - stored).toBeGreaterThan(0);
    expect(world.last?.completeMs).toBe(records[stored - 1]);
  });

  it('waits for late events, up to the limit', async () => {
    for (const [delayMs, heldSeconds] of [
      [20_000, 20],
      [29_000, 29],
      [31_000, 0],
    ] as const) {
      const world = new SimulatedPipeline(3, (n) => (n === 2 ? { delayMs } : {}));
      await world.pass(120);
      const heldUp = world.second - world.completeSecond;
      expect(heldUp).toBeGreaterThanOrEqual(heldSeconds);
      expect(heldUp).toBeLessThanOrEqual(heldSeconds + normalLagSeconds);
    }
  });

  it('concludes no traffic only from a log that is read to its end', async () => {
    const world = new SimulatedPipeline(2);
    await world.pass(30);
    for (const at of [0, 1]) world.set(at, { everyMs: 0 });
    await world.pass(6);
    // The last second of Kafka is known, and no window past the last event is evaluated.
    expect(world.last?.knownMs).toBe(world.nowMs);
    expect(world.completeSecond).toBe(30);
    await world.pass(600);
    expect(world.last?.knownMs).toBe(world.nowMs);
    expect(world.completeSecond).toBe(30);
  });

  it('concludes nothing while the store is away, nor before all that came meanwhile is stored', async () => {
    const world = new SimulatedPipeline(3);
    await world.pass(30);
    world.isStoreAway = true;
    await world.pass(480);
    expect(world.last).toMatchObject({ knownMs: undefined, storeOutage: {} });
    expect(world.last?.behind[0]?.behindMs).toBeGreaterThan(470_000);
    expect(world.completeSecond).toBeLessThanOrEqual(30);
    // Back, at 40 records a flush of each partition: a minute and more to catch up.
    world.isStoreAway = false;
    for (const at of [0, 1, 2]) world.set(at, { mostPerFlush: 40 });
    let wasBehind = 0;
    for (let n = 0; n < 90; n++) {
      await world.pass(1);
      const { completeMs = 0, knownMs, hasAllTraffic } = world.last ?? {};
      expect(hasAllTraffic).toBe(true);
      for (const { records, stored } of world.partitions) {
        expect(records.slice(stored).every((ms) => ms >= completeMs)).toBe(true);
      }
      const lag = world.partitions.reduce(
        (sum, each) => sum + each.records.length - each.stored,
        0,
      );
      if (lag > 0) expect(knownMs).toBeUndefined();
      if (world.last?.behind.length !== 0) wasBehind++;
    }
    expect(wasBehind).toBeGreaterThan(30);
    expect(world.second - world.completeSecond).toBeLessThanOrEqual(normalLagSeconds);
  });

  it('concludes nothing while nothing is ingested', async () => {
    const world = new SimulatedPipeline(3);
    await world.pass(30);
    for (const at of [0, 1, 2]) world.set(at, { isStored: false });
    for (let n = 0; n < 480; n++) {
      await world.pass(1);
      expect(world.completeSecond).toBeLessThanOrEqual(30);
      if (n > normalLagSeconds) expect(world.last?.knownMs).toBeUndefined();
    }
    expect(world.last?.behind).toHaveLength(3);
    expect(world.last?.behind.some(({ isGivenUp }) => isGivenUp)).toBe(false);
    for (const at of [0, 1, 2]) world.set(at, { isStored: true });
    await world.pass(normalLagSeconds);
    expect(world.last).toMatchObject({ hasAllTraffic: true, behind: [] });
  });

  it('waits for a partition that stands still no longer than the limit, and then says that part is missing', async () => {
    const world = new SimulatedPipeline(3);
    await world.pass(60);
    world.set(1, { isStored: false });
    await world.pass(30);
    expect(world.completeSecond).toBeLessThanOrEqual(60);
    expect(world.last?.hasAllTraffic).toBe(true);
    await world.pass(15);
    expect(world.second - world.completeSecond).toBeLessThanOrEqual(normalLagSeconds);
    expect(world.last).toMatchObject({ hasAllTraffic: false, knownMs: undefined });
    expect(world.last?.behind).toMatchObject([{ name: 't/1', isGivenUp: true }]);
    await world.pass(600);
    expect(world.second - world.completeSecond).toBeLessThanOrEqual(normalLagSeconds);
    world.set(1, { isStored: true });
    await world.pass(normalLagSeconds + 1);
    expect(world.last).toMatchObject({ hasAllTraffic: true, behind: [] });
  });

  it('never moves back', async () => {
    const world = new SimulatedPipeline(3);
    let before = Number.NEGATIVE_INFINITY;
    for (let n = 0; n < 400; n++) {
      if (n === 60) world.set(1, { isStored: false });
      if (n === 150) world.set(1, { isStored: true, mostPerFlush: 7 });
      if (n === 250) world.set(2, { delayMs: 25_000 });
      await world.pass(1);
      expect(world.last?.completeMs).toBeGreaterThanOrEqual(before);
      before = world.last?.completeMs ?? before;
    }
  });

  it('waits for a partition that catches up by a tenth of its lag, and not for a slower one', async () => {
    for (const [mostPerFlush, isGivenUp] of [
      [20, false],
      [5, true],
    ] as const) {
      const world = new SimulatedPipeline(3);
      await world.pass(30);
      world.isStoreAway = true;
      await world.pass(480);
      world.isStoreAway = false;
      world.set(2, { mostPerFlush });
      let gaveUp = false;
      for (let n = 0; n < 60; n++) {
        await world.pass(1);
        gaveUp ||= world.last?.hasAllTraffic === false;
      }
      expect([mostPerFlush, gaveUp]).toEqual([mostPerFlush, isGivenUp]);
    }
  });

  it('goes by watermarks through a backlog of before anybody looked', async () => {
    const world = new SimulatedPipeline(3, () => ({ isStored: false }));
    await world.pass(600, false);
    for (const at of [0, 1, 2]) world.set(at, { isStored: true, mostPerFlush: 40 + at * 20 });
    for (let n = 0; n < 120; n++) {
      await world.pass(1);
      for (const { records, stored } of world.partitions) {
        expect(records.slice(stored).every((ms) => ms >= (world.last?.completeMs ?? 0))).toBe(true);
      }
    }
    expect(world.second - world.completeSecond).toBeLessThanOrEqual(normalLagSeconds);
  });

  it('follows watermarks where nothing is live, as in a replay, and does not count its end as silence', async () => {
    const world = new SimulatedPipeline(2, (n) => ({ delayMs: 24 * hourMs + n * 8_000 }));
    await world.pass(100);
    const leastMs = Math.min(...world.partitions.map(({ watermarkMs }) => watermarkMs));
    expect(world.last).toMatchObject({ completeMs: leastMs, hasAllTraffic: true, displaced: [] });
    for (const at of [0, 1]) world.set(at, { everyMs: 0 });
    await world.pass(100);
    expect(world.last?.knownMs).toBeUndefined();
    const mostMs = Math.max(...world.partitions.map(({ watermarkMs }) => watermarkMs));
    expect(world.last?.completeMs).toBe(mostMs);
  });

  it('names a partition whose events are of another time, while it has events', async () => {
    const world = new SimulatedPipeline(3, (n) => (n === 2 ? { delayMs: 5 * hourMs } : {}));
    await world.pass(60);
    expect(world.last).toMatchObject({ hasAllTraffic: false, displaced: [{ name: 't/2' }] });
    world.set(2, { everyMs: 0 });
    await world.pass(130);
    expect(world.last).toMatchObject({ hasAllTraffic: true, displaced: [] });
  });

  it('reports the age of the events of a partition that was live before', async () => {
    const world = new SimulatedPipeline(3);
    await world.pass(60);
    world.set(2, { delayMs: 5 * hourMs });
    await world.pass(60);
    expect(world.last).toMatchObject({ hasAllTraffic: false, displaced: [{ name: 't/2' }] });
    expect(Math.abs((world.last?.displaced[0]?.delayMs ?? 0) - 5 * hourMs)).toBeLessThan(20_000);
  });

  it('takes a recreated topic for another log', async () => {
    const world = new SimulatedPipeline(2);
    await world.pass(60);
    const recreated = world.partitions[1];
    if (recreated === undefined) throw new Error('no partition');
    // The ledger still ends at the old log's offset, far from the new one.
    recreated.records.length = 0;
    recreated.stored = 0;
    world.set(1, { isStored: false, everyMs: 2_000 });
    await world.pass(20);
    expect(world.last?.behind.map(({ name }) => name)).toEqual(['t/1']);
    expect(world.completeSecond).toBeLessThan(65);
    world.set(1, { isStored: true });
    await world.pass(10);
    expect(world.last).toMatchObject({ hasAllTraffic: true, behind: [] });
    expect(world.second - world.completeSecond).toBeLessThanOrEqual(normalLagSeconds);
  });

  it('follows the ledger where Kafka is unreachable for longer than the limit, and concludes nothing', async () => {
    const world = new SimulatedPipeline(2);
    await world.pass(60);
    world.isKafkaAway = true;
    await world.pass(20);
    expect(world.completeSecond).toBeLessThanOrEqual(60);
    expect(world.last).toMatchObject({ knownMs: undefined, kafkaOutage: {} });
    await world.pass(20);
    expect(world.last?.hasAllTraffic).toBe(false);
    expect(world.second - world.completeSecond).toBeLessThanOrEqual(normalLagSeconds);
    world.isKafkaAway = false;
    await world.pass(normalLagSeconds);
    expect(world.last).toMatchObject({ hasAllTraffic: true, kafkaOutage: undefined });
  });

  it('after a takeover knows at once which windows may be evaluated', async () => {
    const world = new SimulatedPipeline(3, (n) => (n === 2 ? { delayMs: 5 * hourMs } : {}));
    await world.pass(60);
    const next = await world.newDetector().probe();
    expect(world.nowMs - next.completeMs).toBeLessThanOrEqual(normalLagSeconds * 1000);
  });
});
