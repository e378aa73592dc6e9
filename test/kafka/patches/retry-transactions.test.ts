import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { retryTransactions } from '../../../src/kafka/patches/retry-transactions.ts';

const load = createRequire(import.meta.url);
const { createErrorFromCode } = load('kafkajs/src/protocol/error') as {
  createErrorFromCode: (code: number) => Error;
};
const concurrentTransactions = 51;
const fenced = 47;

/** A broker that refuses so many requests, and a clock on which waits take no time. */
function refusing(times: number, code: number) {
  const asked: object[] = [];
  const respond = async (request: object) => {
    asked.push(request);
    if (asked.length <= times) throw createErrorFromCode(code);
    return 'done';
  };
  const prototype = { addPartitionsToTxn: respond, addOffsetsToTxn: respond, endTxn: respond };
  let elapsedMs = 0;
  const sleep = async (ms: number) => {
    elapsedMs += ms;
  };
  const clock = { ...systemClock, elapsedMs: () => elapsedMs, sleep };
  retryTransactions({ prototype }, clock);
  return { broker: prototype, asked, waitedMs: () => elapsedMs };
}

it.each(['addPartitionsToTxn', 'addOffsetsToTxn', 'endTxn'] as const)(
  '%s is asked again while the transaction before has not ended',
  async (method) => {
    const { broker, asked, waitedMs } = refusing(3, concurrentTransactions);
    const request = { transactionalId: 'g.replay' };
    expect(await broker[method](request)).toBe('done');
    expect(asked).toEqual([request, request, request, request]);
    expect(waitedMs()).toBe(20 + 40 + 80);
  },
);

it('is given up after half a minute', async () => {
  const { broker, waitedMs } = refusing(Number.POSITIVE_INFINITY, concurrentTransactions);
  await expect(broker.endTxn({})).rejects.toMatchObject({ type: 'CONCURRENT_TRANSACTIONS' });
  expect(waitedMs()).toBeGreaterThan(28_000);
  expect(waitedMs()).toBeLessThanOrEqual(30_000);
});

it('leaves every other refusal as it is', async () => {
  const { broker, asked } = refusing(1, fenced);
  await expect(broker.addOffsetsToTxn({})).rejects.toMatchObject({
    type: 'INVALID_PRODUCER_EPOCH',
  });
  expect(asked).toHaveLength(1);
});
