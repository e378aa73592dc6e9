import { describe, expect, it } from 'vitest';
import { demoVerdict } from '../../../src/cli/demo/demo-traffic.ts';

const found = {
  id: 'a1',
  model: 'ranker',
  region: 'eu-west-1',
  stage: 'features',
  state: 'resolved',
} as const;

describe('demoVerdict', () => {
  it('fails when nothing was found', () => {
    expect(demoVerdict([])).toEqual(['the regression was not found']);
  });

  it('fails when another stage is blamed', () => {
    expect(demoVerdict([{ ...found, stage: 'queue' }])).toEqual(['a1 blames queue, not features']);
  });

  it('fails for a false alarm beside the regression', () => {
    const other = { ...found, id: 'b2', model: 'llm', stage: 'forward' };
    expect(demoVerdict([found, other])).toEqual([
      'b2 is a false positive: llm in eu-west-1 had no fault',
    ]);
  });

  it('fails when an anomaly stays open', () => {
    expect(demoVerdict([{ ...found, state: 'opened' }])).toEqual(['a1 was not resolved']);
  });

  it('passes when every anomaly is the regression, with the right stage, and resolved', () => {
    expect(demoVerdict([found, { ...found, id: 'a2' }])).toEqual([]);
  });
});
