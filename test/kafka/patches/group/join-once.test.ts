import { describe, expect, it } from 'vitest';
import { joinOnce } from '../../../../src/kafka/patches/group/join-once.ts';

/** A consumer group whose joins get their responses from the test. */
function group() {
  class ConsumerGroup {
    readonly responses: ((error?: Error) => void)[] = [];

    joinAndSync(): Promise<void> {
      return new Promise((resolve, reject) => {
        this.responses.push((error) => (error === undefined ? resolve() : reject(error)));
      });
    }
  }
  joinOnce(ConsumerGroup);
  joinOnce(ConsumerGroup);
  return new ConsumerGroup();
}

describe('joinOnce', () => {
  it('makes concurrent joins wait for the one in progress', async () => {
    const member = group();
    const loops = [member.joinAndSync(), member.joinAndSync()];
    expect(member.responses).toHaveLength(1);
    member.responses[0]?.();
    await Promise.all(loops);
    const next = member.joinAndSync();
    expect(member.responses).toHaveLength(2);
    member.responses[1]?.();
    await next;
  });

  it('fails all of them, and lets the next one try', async () => {
    const member = group();
    const loops = Promise.allSettled([member.joinAndSync(), member.joinAndSync()]);
    const failure = new Error('Closed connection');
    member.responses[0]?.(failure);
    const reason = failure;
    expect(await loops).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    void member.joinAndSync();
    expect(member.responses).toHaveLength(2);
  });

  it('separates groups', () => {
    const members = [group(), group()];
    for (const member of members) void member.joinAndSync();
    expect(members.map(({ responses }) => responses.length)).toEqual([1, 1]);
  });
});
