// Covers src/kafka/client/partition-lookup.ts.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Claim } from '../../../src/source/source.ts';
import { brokerErrors, FakeKafka, refuse } from '../fake-kafka.ts';
import { WatchedRun } from '../watched-run.ts';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: 1_790_000_000_000,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A run that keeps the records it has read until it must give its partition up. */
class KeepingRun extends WatchedRun {
  readonly kafka: FakeKafka;
  #claim: Claim | undefined;
  #nextOffset = 0;
  /** Time that storing takes. */
  storeMs = 0;
  joinsAtStore: number | undefined;
  readonly revoked: number[] = [];

  constructor(kafka: FakeKafka) {
    super(kafka);
    this.kafka = kafka;
  }

  override async onBatch(claim: Claim, batch: { nextOffset: number }): Promise<void> {
    this.#claim = claim;
    this.#nextOffset = batch.nextOffset;
  }

  async onRevoking(claims: readonly Claim[]): Promise<void> {
    this.revoked.push(...claims.map(({ partition }) => partition));
    this.joinsAtStore = this.kafka.joins;
    await new Promise((resolve) => setTimeout(resolve, this.storeMs));
    await this.#claim?.commit(this.#nextOffset, '').catch(() => undefined);
  }
}

async function rebalanced(storeMs: number): Promise<KeepingRun> {
  const kafka = new FakeKafka();
  kafka.append(0, 7);
  const run = new KeepingRun(kafka);
  run.storeMs = storeMs;
  await run.begin();
  expect(kafka.committed.get(0)).toBeUndefined();
  kafka.onHeartbeat = () => {
    kafka.onHeartbeat = () => undefined;
    refuse(brokerErrors.rebalanceInProgress);
  };
  await run.pass(2);
  return run;
}

describe('a rebalance', () => {
  it('waits until what was read is stored and committed, in the generation before', async () => {
    const run = await rebalanced(500);
    await run.pass(5);
    expect(run.joinsAtStore).toBe(1);
    expect(run.kafka.joins).toBe(2);
    expect(run.kafka.committed.get(0)).toBe(7);
    expect(run.end).toBeUndefined();
  });

  it('does not wait for longer than three seconds: others wait for it', async () => {
    const run = await rebalanced(60_000);
    expect(run.kafka.joins).toBe(1);
    await run.pass(3);
    expect(run.kafka.joins).toBe(2);
  });
});

describe('a log that is another one, or lacks what was read', () => {
  it.each([
    ['recreated', { topicId: 'other' }],
    ['truncated', { remains: 5 }],
  ])('by being %s: what is in hand is stored before the position moves', async (_, change) => {
    const kafka = new FakeKafka();
    kafka.append(0, 7);
    const run = new KeepingRun(kafka);
    run.storeMs = 500;
    await run.begin();
    Object.assign(kafka, change);
    let claimedAt: number | undefined;
    run.onClaim = () => {
      claimedAt ??= kafka.committed.get(0);
      kafka.remains = undefined;
    };
    // The next leader's records: the log is looked up before they are used.
    kafka.leaderEpoch = 1;
    kafka.append(0, 1);
    await run.pass(5);
    expect(run.revoked).toEqual([0]);
    expect([claimedAt, kafka.joins]).toEqual([7, 1]);
  });
});
