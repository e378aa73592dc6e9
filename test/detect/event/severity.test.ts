import { describe, expect, it } from 'vitest';
import { severity } from '../../../src/detect/event/severity.ts';

/** A tail of whole requests; a tenth of its series' own requests is slower. */
const whole = { isWaitedFor: true, seriesShare: 0.1, isHistoryShort: false, isUsualInPart: true };
const failures = { isUsualInPart: false };

describe('severity', () => {
  it.each([
    [{ ratio: 2, affectedShare: 0.05 }, 'critical'],
    [{ ratio: 1.99, affectedShare: 0.9 }, 'warning'],
    [{ ratio: 4.9, affectedShare: 0.049 }, 'warning'],
    [{ ratio: 5, affectedShare: 0.01 }, 'critical'],
    [{ ratio: 50, affectedShare: 0.009, seriesShare: 1 }, 'warning'],
    [{ ratio: 50, affectedShare: 0.9, isWaitedFor: false }, 'warning'],
  ] as const)('of %o is %s', (input, expected) => {
    expect(severity({ ...whole, ...input })).toBe(expected);
  });

  it.each([
    // A daily peak of everything, and an hourly job of some requests.
    [{ ratio: 4.9, affectedShare: 0.95, seriesShare: 0.95 }, 'warning'],
    [{ ratio: 8, affectedShare: 0.3, seriesShare: 0.49 }, 'warning'],
    // Most requests, of all or of a model with little of the traffic.
    [{ ratio: 5, affectedShare: 0.5, seriesShare: 0.5 }, 'critical'],
    [{ ratio: 5, affectedShare: 0.01, seriesShare: 0.5 }, 'critical'],
    [{ ...failures, ratio: 4.9, affectedShare: 0.3, seriesShare: 0.49 }, 'warning'],
    // All of a model of which a quarter fails every day.
    [{ ...failures, ratio: 4, affectedShare: 0.05, seriesShare: 0.75 }, 'critical'],
    [{ ...failures, ratio: 50, affectedShare: 0.049, seriesShare: 0.49 }, 'warning'],
    [{ ...failures, ratio: 5, affectedShare: 0.05 }, 'critical'],
    [{ ...failures, ratio: 5, affectedShare: 0.01, seriesShare: 0.5 }, 'critical'],
    [{ ratio: 50, affectedShare: 0.009, seriesShare: 1 }, 'warning'],
    [{ ratio: 50, affectedShare: 0.9, isWaitedFor: false }, 'warning'],
  ] as const)('of %o, where the history is short, is %s', (input, expected) => {
    expect(severity({ ...whole, isHistoryShort: true, ...input })).toBe(expected);
  });
});
