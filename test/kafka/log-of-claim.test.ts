import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeKafka } from './fake-kafka.ts';
import { WatchedRun } from './watched-run.ts';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: 1_790_000_000_000,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * A run with ten records that was held up at the eleventh. One batch waits behind it and one more before
 * that, so nothing is fetched for so long. Then its log is looked up.
 */
async function heldUp(ms: number) {
  const kafka = new FakeKafka();
  kafka.append(0, 10);
  const run = new WatchedRun(kafka);
  await run.begin();
  let lookups = 0;
  kafka.onAdmin = () => {
    lookups++;
  };
  run.meddle = (_claim, { records }) =>
    records.current?.offset === 10
      ? new Promise((resolve) => setTimeout(resolve, ms + 3_000))
      : undefined;
  for (let batch = 0; batch < 3; batch++) {
    kafka.append(0, 1);
    await run.pass(1);
  }
  kafka.append(0, 2);
  return { kafka, run, lookups: () => lookups };
}

const offsets = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `0@${from + i}`);

describe('after a time without a fetch', () => {
  it('the log is looked up once before more records', async () => {
    const { kafka, run, lookups } = await heldUp(6_000);
    await run.pass(10);
    expect(run.handled).toEqual(offsets(0, 15));
    const asked = lookups();
    expect(asked).toBeGreaterThan(0);
    kafka.append(0, 3);
    await run.pass(5);
    expect(run.handled).toEqual(offsets(0, 18));
    expect(lookups()).toBe(asked);
  });

  it('of less than the limit nothing is looked up', async () => {
    const { run, lookups } = await heldUp(4_000);
    await run.pass(10);
    expect(run.handled).toEqual(offsets(0, 15));
    expect(lookups()).toBe(0);
  });

  it.each([
    ['recreated', { topicId: 'other' }],
    ['truncated', { remains: 12 }],
  ])('a log that was %s gets another start position before anything is read', async (_, change) => {
    const { kafka, run } = await heldUp(6_000);
    Object.assign(kafka, change);
    run.onClaim = () => {
      kafka.remains = undefined;
      kafka.committed.set(0, 3);
    };
    await run.pass(10);
    expect(run.handled).toEqual([...offsets(0, 13), ...offsets(3, 15)]);
  });

  it('it is looked up until there is a response', async () => {
    const { kafka, run } = await heldUp(6_000);
    let failures = 3;
    kafka.onAdmin = () => {
      if (failures-- > 0) throw new Error('away');
    };
    await run.pass(20);
    expect(run.handled).toEqual(offsets(0, 15));
    expect(failures).toBeLessThan(0);
  });
});

describe('a start position that was long in coming', () => {
  /** A run that learns where to begin after so long, while the topic is recreated; how often it learns it. */
  async function placedAfter(ms: number, change: Partial<FakeKafka>) {
    const kafka = new FakeKafka();
    kafka.append(0, 10);
    const run = new WatchedRun(kafka);
    let claims = 0;
    run.onClaim = async () => {
      if (++claims > 1) return;
      await new Promise((resolve) => setTimeout(resolve, ms));
      Object.assign(kafka, change);
    };
    await run.begin();
    await run.pass(10);
    return { handled: run.handled, claims };
  }

  it('is resolved again before anything is read, where the topic was recreated meanwhile', async () => {
    const { handled, claims } = await placedAfter(6_000, { topicId: 'other' });
    expect(handled).toEqual(offsets(0, 10));
    expect(claims).toBe(2);
  });

  it('is kept where the topic is the same', async () => {
    const { handled, claims } = await placedAfter(6_000, {});
    expect(handled).toEqual(offsets(0, 10));
    expect(claims).toBe(1);
  });
});

describe('where another leader wrote the next records', () => {
  it.each([
    ['alone', 0],
    ['after some of its predecessor', 4],
  ])('they come %s: the log is looked up before they are used', async (_, overlap) => {
    const kafka = new FakeKafka();
    kafka.overlap = overlap;
    kafka.append(0, 10);
    const run = new WatchedRun(kafka);
    await run.begin();
    kafka.remains = 8;
    kafka.committed.set(0, 8);
    run.onClaim = () => {
      kafka.remains = undefined;
    };
    kafka.leaderEpoch = 1;
    kafka.append(0, 2);
    await run.pass(5);
    expect(run.handled).toEqual([...offsets(0, 10), ...offsets(8, 12)]);
  });

  it('so it is where reading began at the last record that was read before', async () => {
    const kafka = new FakeKafka();
    kafka.append(0, 9);
    kafka.leaderEpoch = 1;
    kafka.append(0, 3);
    kafka.committed.set(0, 10);
    // The first leader's records end before the last one that was read.
    kafka.remains = 9;
    const run = new WatchedRun(kafka);
    run.readBack = 1;
    let claims = 0;
    run.onClaim = () => {
      if (++claims === 1) return;
      run.readBack = 0;
      kafka.remains = undefined;
      kafka.committed.set(0, 9);
    };
    await run.begin();
    expect(run.handled).toEqual(offsets(9, 12));
    expect(claims).toBe(2);
  });

  it('so it is where they are among those that are read once more', async () => {
    const kafka = new FakeKafka();
    kafka.append(0, 7);
    kafka.leaderEpoch = 1;
    kafka.append(0, 5);
    // Ten were read, of the first leader; it has seven by now.
    kafka.committed.set(0, 10);
    kafka.remains = 7;
    const run = new WatchedRun(kafka);
    run.readBack = 5;
    let claims = 0;
    run.onClaim = () => {
      if (++claims === 1) return;
      run.readBack = 0;
      kafka.remains = undefined;
      kafka.committed.set(0, 7);
    };
    await run.begin();
    expect(run.handled).toEqual(offsets(7, 12));
    expect(claims).toBe(2);
  });

  it('markers of it before them are no reason to read again', async () => {
    const kafka = new FakeKafka();
    kafka.append(0, 8);
    kafka.leaderEpoch = 1;
    kafka.append(0, 1, true);
    // The first leader's records end where the marker stands.
    kafka.remains = 8;
    const run = new WatchedRun(kafka);
    let claims = 0;
    run.onClaim = () => {
      claims++;
    };
    await run.begin();
    kafka.append(0, 2);
    await run.pass(5);
    expect(run.handled).toEqual([...offsets(0, 8), ...offsets(9, 11)]);
    expect(claims).toBe(1);
  });
});
