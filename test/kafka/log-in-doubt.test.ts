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
 * A run that took ten records, then was held up with the eleventh. One batch waits behind it and one
 * more before that, so that nothing is fetched for so long.
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
  it('the log is asked about once before records are taken', async () => {
    const { kafka, run, asked } = await heldUp(6_000);
    await run.pass(10);
    expect(run.taken).toEqual(offsets(0, 15));
    expect(asked.map(({ topic, partition }) => `${topic}/${partition}`)).toEqual(['t/0']);
    kafka.append(0, 3);
    await run.pass(5);
    expect(run.taken).toEqual(offsets(0, 18));
    expect(asked).toHaveLength(1);
  });

  it('that was short nobody is asked', async () => {
    const { run, asked } = await heldUp(4_000);
    await run.pass(10);
    expect(run.taken).toEqual(offsets(0, 15));
    expect(asked).toEqual([]);
  });

  it('a log that is another is placed anew, and nothing is taken before', async () => {
    const { kafka, run } = await heldUp(6_000);
    const lost: Claim[] = [];
    run.onDoubt = (claim) => {
      lost.push(claim);
      // The place that it is given next.
      kafka.committed.set(0, 3);
      return true;
    };
    await run.pass(10);
    expect(lost.map(({ isLost }) => isLost)).toEqual([true]);
    expect(run.taken).toEqual([...offsets(0, 13), ...offsets(3, 15)]);
  });

  it('it is asked until there is an answer', async () => {
    const { run } = await heldUp(6_000);
    let failures = 3;
    run.onDoubt = () => {
      if (failures-- > 0) throw new Error('away');
      return false;
    };
    await run.pass(20);
    expect(run.taken).toEqual(offsets(0, 15));
    expect(failures).toBe(-1);
  });
});
