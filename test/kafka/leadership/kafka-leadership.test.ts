import { describe, expect, it } from 'vitest';
import { electLeader } from '../../../src/kafka/leadership/kafka-leadership.ts';

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
