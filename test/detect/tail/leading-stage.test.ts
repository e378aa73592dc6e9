import { describe, expect, it } from 'vitest';
import { leadingVerdict } from '../../../src/detect/tail/leading-stage.ts';
import { withTotalFactor } from '../../../src/detect/tail/shift-test.ts';
import type { ShiftVerdict } from '../../../src/detect/tail/shift-verdict.ts';

const verdict = (of: Partial<ShiftVerdict>) =>
  ({ logP: -30, logAlpha: -20, recurs: false, ...of }) as ShiftVerdict;
const small = { opens: false, opensWithTotal: false, isClear: false } as const;
const nearly = { ...small, opensWithTotal: true } as const;
const opening = { opens: true, opensWithTotal: true, isClear: true } as const;

describe('leadingVerdict', () => {
  it('is absent where nothing opens', () => {
    expect(leadingVerdict([])).toBeUndefined();
    const total = verdict({ stage: 'total', ...small });
    expect(leadingVerdict([total, verdict({ stage: 'features', ...nearly })])).toBeUndefined();
  });

  it('is the total before its stages, and then the clearest of these', () => {
    const total = verdict({ stage: 'total', logP: -21, ...opening });
    const features = verdict({ stage: 'features', logP: -40, ...opening });
    const forward = verdict({ stage: 'forward', logP: -50, ...opening });
    expect(leadingVerdict([features, forward, total])).toBe(total);
    expect(leadingVerdict([features, forward])).toBe(forward);
  });

  it('is not the total for a daily recurrence at this time', () => {
    const total = verdict({ stage: 'total', ...opening });
    const features = verdict({ stage: 'features', recurs: true, ...small });
    const forward = verdict({ stage: 'forward', ...opening });
    expect(leadingVerdict([total, features])).toBeUndefined();
    expect(leadingVerdict([total, features, forward])).toBe(forward);
    expect(leadingVerdict([total, features, { ...forward, ...nearly }])).toBeUndefined();
  });

  it('is a stage that is nearly clear where the total is clear and too small: by its threshold then', () => {
    const total = verdict({ stage: 'total', ...small, isClear: true });
    const features = verdict({ stage: 'features', logP: -18, ...nearly });
    expect(leadingVerdict([total, features])).toEqual({
      ...features,
      logAlpha: -20 * withTotalFactor,
    });
    // A stage that is clear by itself needs no help.
    const forward = verdict({ stage: 'forward', logP: -22, ...opening });
    expect(leadingVerdict([total, features, forward])).toBe(forward);
  });
});
