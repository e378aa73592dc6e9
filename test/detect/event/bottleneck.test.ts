import { describe, expect, it } from 'vitest';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { classedStage } from '../../../src/detect/event/blame.ts';
import { bottleneck } from '../../../src/detect/event/bottleneck.ts';

function of(shares: Record<string, number>, medianRatio = 1, coldStart = false) {
  const blame = Object.entries(shares).map(([stage, share]) => ({
    ...classedStage(stage, StageTable.standard),
    ...{ share, excess_ms: 1 },
  }));
  return bottleneck({ blame, coldStart, medianRatio });
}

describe('bottleneck', () => {
  it.each([
    ['queue', 'queue'],
    ['forward', 'compute'],
    ['features', 'feature'],
    ['ingress', 'network'],
    ['egress', 'network'],
    ['downstream', 'downstream'],
    ['parse', 'serialization'],
    ['preprocess', 'serialization'],
    ['postprocess', 'serialization'],
  ])('of %s is %s', (stage, expected) => {
    expect(of({ [stage]: 0.6, total_of_others: 0.4 })).toBe(expected);
  });

  it('adds up the stages of a class', () => {
    expect(of({ queue: 0.4, parse: 0.2, preprocess: 0.2, postprocess: 0.2 })).toBe('serialization');
  });

  it('of cold starts is cold_start for any stage', () => {
    expect(of({ forward: 1 }, 1, true)).toBe('cold_start');
  });

  it('is unknown where half lies outside the standard stages', () => {
    expect(of({ unaccounted: 0.7, queue: 0.3 })).toBe('unknown');
    expect(of({ tokenizer_v2: 0.5, queue: 0.5 })).toBe('unknown');
  });

  it('is contention with a flat median and mixed with one that moved, where no class dominates', () => {
    const shares = { queue: 0.3, forward: 0.4, features: 0.3 };
    expect(of(shares, 1.1)).toBe('contention');
    expect(of(shares, 1.11)).toBe('mixed');
  });
});
