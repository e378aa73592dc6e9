import { describe, expect, it } from 'vitest';
import { leftBehind } from './left-behind.ts';

// Every thread of the simulator checks this after every seed; sim.test.ts runs thousands of them.
describe('leftovers of a run', () => {
  it('contain each timer or socket that was not there before', () => {
    expect(leftBehind(['Timeout'], ['Timeout', 'Timeout', 'TCPSocketWrap'])).toBe(
      'Timeout, TCPSocketWrap',
    );
  });

  it('are empty where there is no more than before, or only turns of the event loop', () => {
    expect(leftBehind(['MessagePort', 'Timeout'], ['MessagePort', 'Immediate'])).toBe('');
  });

  it('are found in this process', () => {
    const before = process.getActiveResourcesInfo();
    const timer = setTimeout(() => undefined, 60_000);
    const left = leftBehind(before, process.getActiveResourcesInfo());
    clearTimeout(timer);
    expect(left).toBe('Timeout');
  });
});
