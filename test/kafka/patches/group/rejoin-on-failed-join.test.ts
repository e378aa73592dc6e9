import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { rejoinOnFailedJoin } from '../../../../src/kafka/patches/group/rejoin-on-failed-join.ts';

const load = createRequire(import.meta.url);
const { isRebalancing } = load('kafkajs/src/errors') as {
  isRebalancing: (error: unknown) => boolean;
};

/** A consumer group whose joins fail as long as the test wants. */
function group() {
  class ConsumerGroup {
    isReachable = true;
    heartbeats = 0;

    async joinAndSync(): Promise<void> {
      if (!this.isReachable) throw new Error('Closed connection');
    }

    async heartbeat(_options: unknown): Promise<void> {
      this.heartbeats++;
    }
  }
  rejoinOnFailedJoin(ConsumerGroup);
  rejoinOnFailedJoin(ConsumerGroup);
  return new ConsumerGroup();
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('rejoinOnFailedJoin', () => {
  it('makes kafkajs join again at the next heartbeat, until a join succeeds', async () => {
    const member = group();
    await member.joinAndSync();
    await member.heartbeat({});
    member.isReachable = false;
    const failure = await failureOf(member.joinAndSync());
    expect(failure).toMatchObject({ message: 'Closed connection' });
    for (let i = 0; i < 2; i++) {
      const error = await failureOf(member.heartbeat({}));
      expect(isRebalancing(error)).toBe(true);
      expect(error).toMatchObject({ message: 'Closed connection', cause: failure });
    }
    expect(member.heartbeats).toBe(1);
    member.isReachable = true;
    await member.joinAndSync();
    await member.heartbeat({});
    expect(member.heartbeats).toBe(2);
  });

  it('separates groups', async () => {
    const [one, another] = [group(), group()];
    one.isReachable = false;
    await failureOf(one.joinAndSync());
    expect(await failureOf(another.heartbeat({}))).toBeUndefined();
  });

  it("patches kafkajs' own class", () => {
    const { prototype }: Parameters<typeof rejoinOnFailedJoin>[0] = load(
      'kafkajs/src/consumer/consumerGroup',
    );
    expect(prototype.joinAndSync).toBeTypeOf('function');
    expect(prototype.heartbeat).toBeTypeOf('function');
  });
});
