import { expect, test } from 'vitest';
import { LedgerProgressReader } from '../../../../src/roles/serve/dashboard/ledger-progress.ts';
import type { PartitionProgress } from '../../../../src/sink/windows/window-progress.ts';

/** A reader whose readings the test ends, in order. */
function readerAt() {
  const time = { ms: 0 };
  /** Ends of the waits for readings, in their order. */
  const waits: (() => void)[] = [];
  const readings: { end(flushedMs: number): void; fail(): void }[] = [];
  const reader = new LedgerProgressReader({
    readProgress: () =>
      new Promise((resolve, reject) => {
        readings.push({
          end: (flushedMs) => resolve([{ flushedMs, watermarkMs: 1 } as PartitionProgress]),
          fail: () => reject(new Error('away')),
        });
      }),
    completeness: async () => ({ completeMs: 0 }) as never,
    readEvaluatedMs: async () => undefined,
    readFirstMs: async () => undefined,
    allowedLatenessMs: 0,
    clock: {
      elapsedMs: () => time.ms,
      sleep: (ms) => {
        expect(ms).toBe(8_000);
        return new Promise((resolve) => waits.push(resolve));
      },
    },
  });
  /** What a question has at once; undefined where it waits. */
  const now = async () => {
    let flushedMs: number | undefined;
    const asked = reader.read().then(
      (progress) => {
        flushedMs = progress.flushedMs;
      },
      () => undefined,
    );
    await Promise.race([asked, new Promise(setImmediate)]);
    return flushedMs;
  };
  return { time, readings, waits, reader, now };
}

const settled = () => new Promise(setImmediate);

test('the first question waits, and all that come meanwhile have the same reading', async () => {
  const { reader, readings } = readerAt();
  const asked = [reader.read(), reader.read()];
  await settled();
  readings[0]?.end(7);
  expect((await Promise.all(asked)).map(({ flushedMs }) => flushedMs)).toEqual([7, 7]);
  expect(readings).toHaveLength(1);
});

test('nobody waits for the next reading while the last one is younger than three seconds', async () => {
  const { time, readings, now } = readerAt();
  await now();
  readings[0]?.end(7);
  await settled();
  time.ms = 999;
  expect(await now()).toBe(7);
  expect(readings).toHaveLength(1);
  time.ms = 1_000;
  expect(await now()).toBe(7);
  time.ms = 2_999;
  expect(await now()).toBe(7);
  expect(readings).toHaveLength(2);
  time.ms = 3_000;
  expect(await now()).toBe(undefined);
  readings[1]?.end(8);
  await settled();
  // Begun at 1,000 ms: it is as old as that.
  expect(await now()).toBe(8);
  expect(readings).toHaveLength(3);
});

test('a reading that fails is the answer to those that wait for it, and is tried again', async () => {
  const { time, readings, reader, now } = readerAt();
  const waiting = reader.read();
  await settled();
  readings[0]?.fail();
  await expect(waiting).rejects.toThrow('away');
  await now();
  expect(readings).toHaveLength(2);
  readings[1]?.end(7);
  await settled();
  time.ms = 1_500;
  await now();
  readings[2]?.fail();
  await settled();
  expect(await now()).toBe(7);
  expect(readings).toHaveLength(4);
});

test('a reading that takes longer than an answer may is waited for once, and the next begins after it', async () => {
  const { reader, readings, waits, now } = readerAt();
  const asked = reader.read();
  waits[0]?.();
  const late = 'ClickHouse has not answered within 8 s.';
  await expect(asked).rejects.toMatchObject({ status: 503, message: late });
  // The next request fails at once.
  await expect(reader.read()).rejects.toMatchObject({ status: 503, message: late });
  expect(readings).toHaveLength(1);
  readings[0]?.fail();
  await settled();
  const next = reader.read();
  expect(readings).toHaveLength(2);
  readings[1]?.end(9);
  expect((await next).flushedMs).toBe(9);
  expect(await now()).toBe(9);
});
