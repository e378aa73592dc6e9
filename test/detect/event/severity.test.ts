import { describe, expect, it } from 'vitest';
import { severity } from '../../../src/detect/event/severity.ts';

describe('severity', () => {
  it.each([
    [{ totalMoved: true, ratio: 2, affectedShare: 0.05 }, 'critical'],
    [{ totalMoved: true, ratio: 1.99, affectedShare: 0.9 }, 'warning'],
    [{ totalMoved: true, ratio: 4.9, affectedShare: 0.049 }, 'warning'],
    [{ totalMoved: true, ratio: 5, affectedShare: 0.01 }, 'critical'],
    [{ totalMoved: true, ratio: 50, affectedShare: 0.009 }, 'warning'],
    [{ totalMoved: false, ratio: 50, affectedShare: 0.9 }, 'warning'],
  ] as const)('of %o is %s', (input, expected) => {
    expect(severity(input)).toBe(expected);
  });
});
