import { EventEmitter } from 'node:events';
import type { Consumer, ConsumerConfig, PartitionAssigner } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { ConsumerObserver } from '../../../src/kafka/liveness/consumer-observer.ts';

const names = [
  'GROUP_JOIN',
  'REBALANCING',
  'STOP',
  'CRASH',
  'FETCH_START',
  'FETCH',
  'START_BATCH_PROCESS',
  'END_BATCH_PROCESS',
  'COMMIT_OFFSETS',
];

/** An observed consumer that emits the events of the test. */
function observed() {
  const now = { ms: 0 };
  const emitter = new EventEmitter();
  let config: ConsumerConfig | undefined;
  const sought: object[] = [];
  const consumer = {
    events: Object.fromEntries(names.map((name) => [name, name])),
    on: (name: string, listener: (event: object) => void) => emitter.on(name, listener),
    paused: () => [{ topic: 't', partitions: [1] }],
    seek: (place: object) => {
      sought.push(place);
    },
  };
  const observer = new ConsumerObserver({ ...systemClock, elapsedMs: () => now.ms });
  const assigner: PartitionAssigner = () => ({
    name: 'a',
    version: 1,
    assign: async () => [],
    protocol: () => ({ name: 'a', metadata: Buffer.alloc(0) }),
  });
  observer
    .observed({
      admin: () => {
        throw new Error('not asked for');
      },
      consumer: (given) => {
        config = given;
        return consumer as unknown as Consumer;
      },
    })
    .consumer({ groupId: 'g', rebalanceTimeout: 30_000, partitionAssigners: [assigner] });
  const seek = (offset: number) =>
    (consumer as unknown as Consumer).seek({ topic: 't', partition: 0, offset: String(offset) });
  const say = (name: string, payload: object = {}) => emitter.emit(name, { payload });
  const join = (...partitions: number[]) =>
    say('GROUP_JOIN', { memberAssignment: { t: partitions } });
  const batch = (firstOffset: number, lastOffset: number, batchSize = 1, end = true) => {
    const payload = { topic: 't', partition: 0, firstOffset, lastOffset, batchSize };
    say('START_BATCH_PROCESS', payload);
    if (end) say('END_BATCH_PROCESS', payload);
  };
  const commit = (offset: number) =>
    say('COMMIT_OFFSETS', { topics: [{ topic: 't', partitions: [{ partition: 0, offset }] }] });
  const beginJoin = () => {
    const made = config?.partitionAssigners?.[0]?.({} as Parameters<PartitionAssigner>[0]);
    made?.protocol({ topics: ['t'] });
  };
  return {
    observer,
    now,
    say,
    join,
    batch,
    commit,
    beginJoin,
    seek,
    sought,
    seen: () => observer.partitions.get('t/0'),
  };
}

const fresh = {
  topic: 't',
  partition: 0,
  position: undefined,
  deliveredOffset: -1,
  committedOffset: 0,
  isInWork: false,
};

describe('an observed consumer', () => {
  it('counts a partition as standing where it is placed, until a batch has returned', () => {
    const { join, seek, sought, seen, batch } = observed();
    seek(3);
    expect(seen()).toBeUndefined();
    join(0);
    expect(seen()?.position).toBeUndefined();
    seek(0);
    expect(seen()?.position).toBe(0);
    batch(0, 7);
    expect(seen()?.position).toBe(8);
    join(0);
    expect(seen()?.position).toBeUndefined();
    expect(sought).toEqual([
      { topic: 't', partition: 0, offset: '3' },
      { topic: 't', partition: 0, offset: '0' },
    ]);
  });

  it('is a member from a join until the next one begins', () => {
    const { observer, join, beginJoin, say } = observed();
    expect({ isMember: observer.isMember, joins: observer.joins }).toEqual({
      isMember: false,
      joins: 0,
    });
    join(0);
    expect(observer.isMember).toBe(true);
    beginJoin();
    expect(observer.isMember).toBe(false);
    join(0);
    say('REBALANCING');
    expect({ isMember: observer.isMember, joins: observer.joins }).toEqual({
      isMember: false,
      joins: 2,
    });
    expect(observer.rebalanceTimeoutMs).toBe(30_000);
  });

  it('reports the error of its crash, until a batch arrives', () => {
    const { observer, join, batch, say } = observed();
    join(0);
    say('CRASH', { error: new Error('Unknown error code 129') });
    join(0);
    expect({ lastError: observer.lastError, crashes: observer.crashes }).toEqual({
      lastError: 'Unknown error code 129',
      crashes: 1,
    });
    batch(0, 9);
    expect(observer.lastError).toBeUndefined();
  });

  it('is busy with a partition from a batch until its return', () => {
    const { join, batch, commit, seen } = observed();
    join(0);
    expect(seen()).toEqual(fresh);
    batch(10, 19, 10, false);
    expect(seen()).toEqual({ ...fresh, deliveredOffset: 10, isInWork: true });
    batch(10, 19, 10);
    commit(20);
    expect(seen()).toEqual({ ...fresh, deliveredOffset: 10, position: 20, committedOffset: 20 });
  });

  it('has read filtered records, and delivered none of them', () => {
    const { join, batch, seen } = observed();
    join(0);
    batch(10, 19, 0);
    expect(seen()).toEqual({ ...fresh, position: 20 });
  });

  it('keeps the delivered and committed offsets of a partition that stays, not its position', () => {
    const { observer, join, batch, commit, seen } = observed();
    join(0, 1);
    batch(10, 19);
    commit(20);
    batch(20, 29, 10, false);
    join(0);
    expect(seen()).toEqual({ ...fresh, deliveredOffset: 20, committedOffset: 20 });
    expect([...observer.partitions.keys()]).toEqual(['t/0']);
    join(1);
    join(0);
    expect(seen()).toEqual(fresh);
  });

  it('forgets the delivered offsets of a log once another of its name is read', () => {
    const { join, batch, seen } = observed();
    join(0);
    batch(1_000_000, 1_000_009);
    batch(0, 4);
    expect(seen()).toEqual({ ...fresh, deliveredOffset: 0, position: 5 });
  });

  it('is active as long as each broker had a request or a response within 10 s', () => {
    const { observer, now, join, say } = observed();
    join(0);
    expect(observer.isFetching).toBe(false);
    say('FETCH_START', { nodeId: '1' });
    say('FETCH_START', { nodeId: '2' });
    now.ms = 10_000;
    expect(observer.isFetching).toBe(true);
    say('FETCH', { nodeId: '1' });
    now.ms = 10_001;
    expect(observer.isFetching).toBe(false);
    // After a join there may be other brokers.
    join(0);
    say('FETCH', { nodeId: '1' });
    expect(observer.isFetching).toBe(true);
  });

  it('reads the paused partitions from the consumer', () => {
    const { observer } = observed();
    expect([0, 1].map((partition) => observer.isPaused('t', partition))).toEqual([false, true]);
  });
});
