import { describe, expect, it } from 'vitest';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { besideVerdict, leadingVerdict } from '../../../src/detect/tail/leading-stage.ts';
import type { OpenTail } from '../../../src/detect/tail/open-tail.ts';
import { withTotalFactor } from '../../../src/detect/tail/shift-test.ts';
import type { ShiftVerdict } from '../../../src/detect/tail/shift-verdict.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

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

  it('is a milestone before the parts, as users wait for it, and not before the total', () => {
    const total = verdict({ stage: 'total', logP: -21, ...opening });
    const first = verdict({ stage: 'first_token', logP: -25, ...opening });
    const prefill = verdict({ stage: 'prefill', logP: -50, ...opening });
    expect(leadingVerdict([prefill, first])).toBe(first);
    expect(leadingVerdict([prefill, first, total])).toBe(total);
    const table = new StageTable({ first_token: { milestone: false } });
    expect(leadingVerdict([prefill, first], { stages: table })).toBe(prefill);
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

describe('besideVerdict', () => {
  const options = detectOptions();
  const beside = (stage: string) =>
    verdict({ stage, opensBeside: true, startedAtMs: 600_000 } as Partial<ShiftVerdict>);
  /** An open anomaly that owns one stage, from the beginning. */
  const owning = (stage: string) =>
    ({
      startedAtMs: 0,
      owns: (one: string) => one === stage,
      ownsAny: (isWanted: (one: string) => boolean) => isWanted(stage),
    }) as unknown as OpenTail;

  it('is no milestone of which a part has an open anomaly already', () => {
    const [first, decode] = [beside('first_token'), beside('decode')];
    expect(besideVerdict([first], [owning('prefill')], options)).toBeUndefined();
    expect(besideVerdict([first, decode], [owning('prefill')], options)).toBe(decode);
    expect(besideVerdict([first], [owning('decode')], options)).toBe(first);
    expect(besideVerdict([first], [owning('total')], options)).toBe(first);
  });
});
