import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { rejoinOnLogChange } from '../../../../src/kafka/patches/group/rejoin-on-log-change.ts';

const load = createRequire(import.meta.url);
const { isRebalancing } = load('kafkajs/src/errors') as {
  isRebalancing: (error: unknown) => boolean;
};

const errorOf = (type: string) => Object.assign(new Error(type), { type });

/** Result of a consumer group's recovery from `error`, where fetching metadata fails too. */
async function recoveryFrom(error: Error, failure: Error | undefined): Promise<unknown> {
  class ConsumerGroup {
    async recoverFromFetch(_error: unknown): Promise<void> {
      if (failure !== undefined) throw failure;
    }
  }
  rejoinOnLogChange(ConsumerGroup);
  rejoinOnLogChange(ConsumerGroup);
  return new ConsumerGroup().recoverFromFetch(error).then(
    () => 'recovered',
    (thrown: unknown) => thrown,
  );
}

describe('rejoinOnLogChange', () => {
  it('makes kafkajs join where a topic is gone and its metadata cannot be fetched', async () => {
    const gone = errorOf('UNKNOWN_TOPIC_OR_PARTITION');
    const thrown = await recoveryFrom(gone, gone);
    expect(isRebalancing(gone)).toBe(false);
    expect(isRebalancing(thrown)).toBe(true);
    expect(thrown).toMatchObject({ message: gone.message, cause: gone });
  });

  it('leaves kafkajs alone where it joins by itself, and with other errors', async () => {
    expect(await recoveryFrom(errorOf('UNKNOWN_TOPIC_OR_PARTITION'), undefined)).toBe('recovered');
    const other = errorOf('NOT_LEADER_FOR_PARTITION');
    expect(await recoveryFrom(other, other)).toBe(other);
  });

  it('makes kafkajs join where an offset is out of range, and keep the commit', async () => {
    const { KafkaJSOffsetOutOfRange } = load('kafkajs/src/errors') as {
      KafkaJSOffsetOutOfRange: new (error: Error, partition: object) => Error;
    };
    const cause = errorOf('OFFSET_OUT_OF_RANGE');
    const error = new KafkaJSOffsetOutOfRange(cause, { topic: 't', partition: 0 });
    // Otherwise it would "recover" with a commit of its own.
    expect(isRebalancing(await recoveryFrom(error, undefined))).toBe(true);
  });

  it("patches kafkajs' own class", () => {
    const group: Parameters<typeof rejoinOnLogChange>[0] = load(
      'kafkajs/src/consumer/consumerGroup',
    );
    expect(group.prototype.recoverFromFetch).toBeTypeOf('function');
  });
});
