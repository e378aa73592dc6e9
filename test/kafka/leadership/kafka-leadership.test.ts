import { describe, expect, it } from 'vitest';
import { electLeader, isElected } from '../../../src/kafka/leadership/kafka-leadership.ts';

const member = (memberId: string, leads = false) => ({ memberId, leads });

describe('electLeader', () => {
  it('elects none where there are no members', () => {
    expect(electLeader([])).toBeUndefined();
  });

  it('keeps the leader, for any other members', () => {
    expect(electLeader([member('a'), member('c', true), member('b')])).toBe('c');
    expect(electLeader([member('c', true)])).toBe('c');
  });

  it('elects the first by name where no member leads, or two claim to', () => {
    expect(electLeader([member('b'), member('a'), member('c')])).toBe('a');
    expect(electLeader([member('c', true), member('a'), member('b', true)])).toBe('b');
  });
});

describe('isElected', () => {
  it('is one member for each database and topic that share a group, with or without a leader', () => {
    const candidate = (memberId: string, storeId: string, topic = 't', leads = false) => {
      return { memberId, storeId, topic, leads };
    };
    const all = [
      candidate('a1', 'a'),
      candidate('a2', 'a'),
      candidate('a3', 'a', 'other'),
      candidate('b1', 'b'),
      candidate('b2', 'b', 't', true),
    ];
    const elected = all.filter((each) => isElected(each, all));
    expect(elected.map(({ memberId }) => memberId)).toEqual(['a1', 'a3', 'b2']);
  });
});
