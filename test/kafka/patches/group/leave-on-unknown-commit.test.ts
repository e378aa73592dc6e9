import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { Logins } from '../../../../src/kafka/login/logins.ts';
import { leaveOnUnknownCommit } from '../../../../src/kafka/patches/group/leave-on-unknown-commit.ts';

const load = createRequire(import.meta.url);
const { isRebalancing } = load('kafkajs/src/errors') as {
  isRebalancing: (error: unknown) => boolean;
};

/** A member of a group that records its requests, and under which name. */
function member() {
  class ConsumerGroup {
    readonly groupId = 'g';
    memberId: string | null = 'm1';
    coordinator: unknown = 'old';
    readonly asked: string[] = [];
    commitFailure: Error | undefined;
    coordinatorFailure: Error | undefined;
    joinFailure: Error | undefined;
    readonly cluster = {
      findGroupCoordinator: async () => {
        if (this.coordinatorFailure !== undefined) throw this.coordinatorFailure;
        return 'new';
      },
    };

    async commitOffsets(_offsets: unknown): Promise<void> {
      if (this.commitFailure !== undefined) throw this.commitFailure;
    }

    async heartbeat(_options: unknown): Promise<void> {
      this.asked.push(`heartbeat ${this.memberId}`);
    }

    async joinAndSync(): Promise<void> {
      this.asked.push(`join ${this.memberId}`);
      if (this.joinFailure !== undefined) throw this.joinFailure;
      this.memberId = 'm2';
    }

    async leave(): Promise<void> {
      this.asked.push(`leave ${this.memberId} at ${this.coordinator}`);
      this.memberId = null;
    }
  }
  leaveOnUnknownCommit(ConsumerGroup);
  leaveOnUnknownCommit(ConsumerGroup);
  return new ConsumerGroup();
}

function away(): Error {
  const error = new kafkajs.KafkaJSConnectionError('connect ECONNREFUSED');
  return Object.assign(error, { code: 'ECONNREFUSED' });
}

function refusedLogin(): Error {
  const logins = new Logins();
  const error = new Error('invalid_token');
  logins.accepted();
  logins.refused(error);
  return error;
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('leaveOnUnknownCommit', () => {
  it('makes a member whose commit got no response leave, and return as another', async () => {
    const one = member();
    one.commitFailure = new Error('Closed connection');
    expect(await failureOf(one.commitOffsets({}))).toBe(one.commitFailure);
    expect(isRebalancing(await failureOf(one.heartbeat({})))).toBe(true);
    await one.joinAndSync();
    await one.heartbeat({});
    expect(one.asked).toEqual(['leave m1 at new', 'join null', 'heartbeat m2']);
    await one.joinAndSync();
    expect(one.asked.at(-1)).toBe('join m2');
  });

  it('makes it join as another also where it cannot leave, and until it has joined', async () => {
    const one = member();
    one.commitFailure = new Error('Request timed out');
    one.coordinatorFailure = new Error('away');
    one.joinFailure = new Error('away');
    await failureOf(one.commitOffsets({}));
    await failureOf(one.joinAndSync());
    expect(isRebalancing(await failureOf(one.heartbeat({})))).toBe(true);
    one.joinFailure = undefined;
    await one.joinAndSync();
    expect(one.asked).toEqual(['join null', 'join null']);
    expect(await failureOf(one.heartbeat({}))).toBeUndefined();
  });

  it.each([
    ['no connection', away],
    ['no login', refusedLogin],
  ])('leaves a member alone whose commit was not sent: there was %s', async (_, failure) => {
    const one = member();
    one.commitFailure = failure();
    expect(await failureOf(one.commitOffsets({}))).toBe(one.commitFailure);
    await one.heartbeat({});
    expect(one.asked).toEqual(['heartbeat m1']);
  });

  it('leaves a member alone whose commits get responses, of any kind', async () => {
    const one = member();
    await one.commitOffsets({});
    one.commitFailure = Object.assign(new Error('loading'), { type: 'GROUP_LOAD_IN_PROGRESS' });
    await failureOf(one.commitOffsets({}));
    await one.heartbeat({});
    await one.joinAndSync();
    expect(one.asked).toEqual(['heartbeat m1', 'join m1']);
  });

  it("patches kafkajs' own class", () => {
    const { prototype }: Parameters<typeof leaveOnUnknownCommit>[0] = load(
      'kafkajs/src/consumer/consumerGroup',
    );
    for (const name of ['commitOffsets', 'heartbeat', 'joinAndSync', 'leave'] as const) {
      expect(prototype[name]).toBeTypeOf('function');
    }
  });
});
