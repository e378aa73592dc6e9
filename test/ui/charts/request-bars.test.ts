import { describe, expect, it } from 'vitest';
import {
  listedMilestones,
  milestoneTicksOf,
} from '../../../ui/src/charts/geometry/request-bars.ts';

describe('the ticks of a request', () => {
  it('are where its milestones are reached, and never beyond its bar', () => {
    const milestones = [
      { stage: 'first_token', ms: 300 },
      { stage: 'time_to_close', ms: 1_010 },
    ];
    expect(milestoneTicksOf(milestones, 1_000)).toEqual([
      { stage: 'first_token', ms: 300, at: 0.3 },
      { stage: 'time_to_close', ms: 1_010, at: 1 },
    ]);
    expect(milestoneTicksOf(milestones, 0)).toEqual([]);
  });

  it('have one entry a name in the legend', () => {
    const one = (...names: string[]) => ({ milestones: names.map((stage) => ({ stage, ms: 1 })) });
    expect(listedMilestones([one('ttft'), one(), one('first_token', 'ttft')])).toEqual([
      'first_token',
      'ttft',
    ]);
  });
});
