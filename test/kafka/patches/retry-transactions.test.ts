import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { retryTransactions } from '../../../src/kafka/patches/retry-transactions.ts';

const load = createRequire(import.meta.url);
const { createErrorFromCode } = load('kafkajs/src/protocol/error') as {
  createErrorFromCode: (code: number) => Error;
};
const eosManager = readFileSync(load.resolve('kafkajs/src/producer/eosManager/index.js'), 'utf8');
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
  const asks = { addPartitionsToTxn: respond, addOffsetsToTxn: respond, endTxn: respond };
  const prototype = { ...asks, txnOffsetCommit: respond };
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

it.each([
  [14, 'COORDINATOR_LOAD_IN_PROGRESS'],
  [15, 'COORDINATOR_NOT_AVAILABLE'],
  [16, 'NOT_COORDINATOR'],
  [fenced, 'INVALID_PRODUCER_EPOCH'],
])(
  'error %i of a commit of offsets has the name by which kafkajs looks for it',
  async (code, type) => {
    const { broker, asked } = refusing(1, code);
    await expect(broker.txnOffsetCommit({})).rejects.toMatchObject({ code, type });
    expect(await broker.txnOffsetCommit({})).toBe('done');
    expect(asked).toHaveLength(2);
    // kafkajs' own lists, by its source.
    if (code !== fenced) expect(eosManager).toContain(`'${type}'`);
  },
);
