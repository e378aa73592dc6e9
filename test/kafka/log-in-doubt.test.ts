import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Claim } from '../../src/source/source.ts';
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
 * that, so nothing is fetched for so long.
 */
async function heldUp(ms: number) {
  const kafka = new FakeKafka();
  kafka.append(0, 10);
  const run = new WatchedRun(kafka);
  await run.begin();
  const asked: Claim[] = [];
  run.onDoubt = (claim) => {
    asked.push(claim);
    return false;
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
  return { kafka, run, asked };
}

const offsets = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `0@${from + i}`);

describe('after a time without a fetch', () => {
  it('the bounds of the log are read once before more records', async () => {
    const { kafka, run, asked } = await heldUp(6_000);
    await run.pass(10);
    expect(run.handled).toEqual(offsets(0, 15));
    expect(asked.map(({ topic, partition }) => `${topic}/${partition}`)).toEqual(['t/0']);
    kafka.append(0, 3);
    await run.pass(5);
    expect(run.handled).toEqual(offsets(0, 18));
    expect(asked).toHaveLength(1);
  });

  it('of less than the limit nothing is checked', async () => {
    const { run, asked } = await heldUp(4_000);
    await run.pass(10);
    expect(run.handled).toEqual(offsets(0, 15));
    expect(asked).toEqual([]);
  });

  it('a replaced log is placed again before anything is read', async () => {
    const { kafka, run } = await heldUp(6_000);
    const lost: Claim[] = [];
    run.onDoubt = (claim) => {
      lost.push(claim);
      // Its next start position.
      kafka.committed.set(0, 3);
      return true;
    };
    await run.pass(10);
    expect(lost.map(({ isLost }) => isLost)).toEqual([true]);
    expect(run.handled).toEqual([...offsets(0, 13), ...offsets(3, 15)]);
  });

  it('it is checked until there is a response', async () => {
    const { run } = await heldUp(6_000);
    let failures = 3;
    run.onDoubt = () => {
      if (failures-- > 0) throw new Error('away');
      return false;
    };
    await run.pass(20);
    expect(run.handled).toEqual(offsets(0, 15));
    expect(failures).toBe(-1);
  });
});
