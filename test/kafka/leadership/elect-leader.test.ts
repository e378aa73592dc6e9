import { describe, expect, it } from 'vitest';
import { electLeader } from '../../../src/kafka/leadership/elect-leader.ts';

const member = (memberId: string, leads = false) => ({ memberId, leads });

describe('electLeader', () => {
  it('gives nobody the lead where there is nobody', () => {
    expect(electLeader([])).toBeUndefined();
  });

  it('leaves it with who has it, whoever comes or goes', () => {
    expect(electLeader([member('a'), member('c', true), member('b')])).toBe('c');
    expect(electLeader([member('c', true)])).toBe('c');
  });

  it('gives it to the first by name where nobody has it, or two say that they do', () => {
    expect(electLeader([member('b'), member('a'), member('c')])).toBe('a');
    expect(electLeader([member('c', true), member('a'), member('b', true)])).toBe('b');
  });
});
