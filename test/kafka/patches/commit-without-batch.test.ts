import { expect, it } from 'vitest';
import { commitOnce, commitWithoutBatch } from '../../../src/kafka/patches/commit-without-batch.ts';

/** A consumer group that notes its commits, and whose broker may refuse them. */
class ConsumerGroup {
  readonly cluster = {};
  readonly asked: unknown[] = [];
  refusal: Error | undefined;

  async joinAndSync(): Promise<void> {}

  async commitOffsets(offsets: unknown): Promise<void> {
    this.asked.push(offsets);
    if (this.refusal !== undefined) throw this.refusal;
  }
}
commitWithoutBatch(ConsumerGroup);

const commit = { topic: 't', partition: 3, offset: '7', metadata: 'm' };

it('commits by the group that has joined with the cluster, once', async () => {
  const [one, other] = [new ConsumerGroup(), new ConsumerGroup()];
  await Promise.all([one.joinAndSync(), other.joinAndSync()]);
  await commitOnce(one.cluster, commit);
  const partitions = [{ partition: 3, offset: '7', metadata: 'm' }];
  expect([one.asked, other.asked]).toEqual([[{ topics: [{ topic: 't', partitions }] }], []]);
  one.refusal = new Error('ILLEGAL_GENERATION');
  await expect(commitOnce(one.cluster, commit)).rejects.toBe(one.refusal);
  expect(one.asked).toHaveLength(2);
});

it('does not commit before the first join', async () => {
  await expect(commitOnce(new ConsumerGroup().cluster, commit)).rejects.toThrow('BUG');
});
