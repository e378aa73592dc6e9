import { expect, it } from 'vitest';
import { prepareJoin } from '../../../../src/kafka/patches/group/prepare-join.ts';

it('prepares a member for a join before it joins, and nobody who is no member', async () => {
  const done: string[] = [];
  class ConsumerGroup {
    memberId: string | null = null;
    readonly assigners = [{ prepareJoin: async () => void done.push('prepared') }, {}];
    async joinAndSync() {
      done.push('joined');
      this.memberId = 'm';
    }
  }
  prepareJoin(ConsumerGroup);
  const group = new ConsumerGroup();
  await group.joinAndSync();
  expect(done).toEqual(['joined']);
  await group.joinAndSync();
  expect(done).toEqual(['joined', 'prepared', 'joined']);
});
