import kafkajs from 'kafkajs';
import { beforeEach, describe, expect, it } from 'vitest';
import { keepMember } from '../../../../src/kafka/patches/group/keep-member.ts';
import { handClock } from '../../login/hand-clock.ts';

const refused = () =>
  Object.assign(new kafkajs.KafkaJSConnectionError('connect ECONNREFUSED'), {
    code: 'ECONNREFUSED',
  });
const typed = (type: string) => Object.assign(new Error(type), { type });

let clock: ReturnType<typeof handClock>;
let member: InstanceType<ReturnType<typeof classes>['ConsumerGroup']>;
let runner: { stop(): Promise<void> };

/** A member of a group whose requests fail as the test wants. */
function classes() {
  class ConsumerGroup {
    readonly groupId = 'g';
    generationId: number | null = 1;
    memberId: string | null = 'm1';
    coordinator: unknown = 'dead';
    offsetManager: { coordinator: unknown } | null = { coordinator: 'dead' };
    readonly asked: string[] = [];
    failure: Error | undefined;
    /** When a coordinator can be found. */
    electedMs = 9_500;
    readonly cluster = {
      refreshMetadata: async () => {
        this.asked.push('metadata');
        if (this.failure !== undefined) throw this.failure;
      },
      findBroker: async ({ nodeId }: { nodeId: number }) => {
        if (clock.elapsedMs() < this.electedMs) throw refused();
        return { nodeId, isConnected: () => true };
      },
      brokerPool: {
        findConnectedBroker: async () => ({
          findGroupCoordinator: async () => ({ coordinator: { nodeId: 2 } }),
        }),
      },
    };
    async heartbeat(_options: unknown) {
      this.asked.push(`heartbeat ${this.memberId}`);
      if (this.failure !== undefined) throw this.failure;
    }
    async commitOffsets(_offsets: unknown) {
      this.asked.push(`commit ${this.generationId}`);
      if (this.failure !== undefined) throw this.failure;
    }
    async joinAndSync() {
      this.asked.push(`join ${this.memberId}`);
      if (this.failure !== undefined) throw this.failure;
    }
    async recoverFromFetch(error: unknown): Promise<void> {
      this.asked.push('rejoin');
      throw error;
    }
  }
  class Runner {
    readonly consumerGroup: ConsumerGroup;
    constructor(group: ConsumerGroup) {
      this.consumerGroup = group;
    }
    async stop() {}
  }
  return { ConsumerGroup, Runner };
}

beforeEach(() => {
  clock = handClock();
  const { ConsumerGroup, Runner } = classes();
  keepMember(ConsumerGroup, Runner, clock);
  member = new ConsumerGroup();
  runner = new Runner(member);
});

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a member that has lost its coordinator', () => {
  it('looks for the next one, and goes on as the same member in its generation', async () => {
    member.failure = refused();
    await member.heartbeat({});
    member.failure = undefined;
    // There is nobody to send heartbeats to.
    await clock.pass(5_000);
    await member.heartbeat({});
    expect(member.asked).toEqual(['heartbeat m1']);
    await clock.pass(4_500);
    await member.heartbeat({});
    expect(member.asked).toEqual(['heartbeat m1', 'heartbeat m1']);
    expect(member.coordinator).toMatchObject({ nodeId: 2 });
    expect(member.offsetManager?.coordinator).toBe(member.coordinator);
    expect(member.generationId).toBe(1);
  });

  it.each([
    'NOT_COORDINATOR_FOR_GROUP',
    'GROUP_COORDINATOR_NOT_AVAILABLE',
    'GROUP_LOAD_IN_PROGRESS',
  ])('does so after %s, too', async (type) => {
    member.electedMs = 0;
    member.failure = typed(type);
    await member.heartbeat({});
    await clock.pass(250);
    expect(member.coordinator).toMatchObject({ nodeId: 2 });
  });

  it.each(['REBALANCE_IN_PROGRESS', 'UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION'])(
    'gets %s as before',
    async (type) => {
      member.failure = typed(type);
      expect(await failureOf(member.heartbeat({}))).toBe(member.failure);
    },
  );

  it('commits when there is one again', async () => {
    member.electedMs = 3_000;
    member.failure = refused();
    await member.heartbeat({});
    member.failure = undefined;
    let isDone = false;
    void member.commitOffsets({}).then(() => {
      isDone = true;
    });
    await clock.pass(2_900);
    expect(isDone).toBe(false);
    await clock.pass(100);
    expect(isDone).toBe(true);
    expect(member.asked).toEqual(['heartbeat m1', 'commit 1']);
  });

  it('sends no commit of an earlier generation', async () => {
    member.electedMs = 3_000;
    member.failure = refused();
    await member.heartbeat({});
    member.failure = undefined;
    const failure = failureOf(member.commitOffsets({}));
    member.generationId = 2;
    await clock.pass(3_000);
    expect(await failure).toMatchObject({ type: 'ILLEGAL_GENERATION' });
    expect(member.asked).toEqual(['heartbeat m1']);
  });

  it('says of a commit that was not sent that it may be sent again', async () => {
    member.failure = refused();
    expect(await failureOf(member.commitOffsets({}))).toMatchObject({
      type: 'GROUP_COORDINATOR_NOT_AVAILABLE',
    });
    // Nor does it wait for ever.
    const waiting = failureOf(member.commitOffsets({}));
    await clock.pass(5_000);
    expect(await waiting).toMatchObject({ type: 'GROUP_COORDINATOR_NOT_AVAILABLE' });
    expect(member.asked).toEqual(['commit 1']);
  });

  it('says of a commit that was sent what came of it', async () => {
    member.failure = new kafkajs.KafkaJSConnectionError('Connection error: read ECONNRESET');
    expect(await failureOf(member.commitOffsets({}))).toBe(member.failure);
  });

  it('joins when there is one, as the same member', async () => {
    member.failure = refused();
    let isDone = false;
    void member.joinAndSync().then(() => {
      isDone = true;
    });
    await clock.pass(9_000);
    member.failure = undefined;
    await clock.pass(1_000);
    expect(isDone).toBe(true);
    expect(new Set(member.asked)).toEqual(new Set(['join m1']));
  });

  it('gives a join up after half a minute, or as soon as the consumer stops', async () => {
    member.electedMs = 0;
    member.failure = refused();
    let failure: unknown;
    void failureOf(member.joinAndSync()).then((error) => {
      failure = error;
    });
    await clock.pass(29_000);
    expect(failure).toBeUndefined();
    await clock.pass(1_500);
    expect(failure).toBe(member.failure);
    failure = undefined;
    void failureOf(member.joinAndSync()).then((error) => {
      failure = error;
    });
    await clock.pass(1_000);
    await runner.stop();
    await clock.pass(500);
    expect(failure).toBe(member.failure);
  });
});

describe('a partition whose leader is lost or has moved', () => {
  it.each([
    refused(),
    typed('NOT_LEADER_FOR_PARTITION'),
    typed('LEADER_NOT_AVAILABLE'),
    typed('FENCED_LEADER_EPOCH'),
  ])('is looked for without a rebalance: %s', async (error) => {
    const recovered = member.recoverFromFetch(error);
    await clock.pass(250);
    await recovered;
    expect(member.asked).toEqual(['metadata']);
  });

  it('is no matter of other errors', async () => {
    const error = typed('UNKNOWN_TOPIC_OR_PARTITION');
    expect(await failureOf(member.recoverFromFetch(error))).toBe(error);
    expect(member.asked).toEqual(['rejoin']);
  });
});
