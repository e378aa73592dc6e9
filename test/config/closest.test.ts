import { describe, expect, it } from 'vitest';
import { closest } from '../../src/config/closest.ts';

describe('closest', () => {
  const words = ['brokers', 'topics', 'group_id', 'client_id'];

  it.each([
    ['broker', 'brokers'],
    ['borkers', 'brokers'],
    ['Topics', 'topics'],
    ['groupid', 'group_id'],
  ])('corrects %s to %s', (word, meant) => {
    expect(closest(word, words)).toBe(meant);
  });

  it.each(['x', 'servers', 'topology', ''])('suggests nothing for %o', (word) => {
    expect(closest(word, words)).toBeUndefined();
  });

  it('prefers the nearer of two, and counts a swap as one', () => {
    expect(closest('client_ix', ['client_id', 'client_x'])).toBe('client_id');
    expect(closest('ab', ['ba'])).toBe('ba');
  });
});
