import { describe, expect, it } from 'vitest';
import { runIncident } from './run-incident.ts';

describe('runIncident', () => {
  // The total hardly shows it: it is out for some windows of that day by chance, and never takes over.
  it('gives one page of a day in which one request in ten waits five times as long for a stage', () => {
    const { told } = runIncident('independent', 201, 'tail ×5');
    expect(told.map(({ state, stage }) => [state, stage])).toEqual([
      ['opened', 'features'],
      ['updated', 'features'],
      ['resolved', 'features'],
    ]);
    expect(new Set(told.map(({ evidence }) => evidence.measured_stage))).toEqual(
      new Set(['features']),
    );
  });

  // What was usual at night is held against the morning by what the day before had.
  it('is over with an incident that began in the night, when that ends in the morning', () => {
    const { told, overAfterMs = Number.NaN, moved } = runIncident('diurnal', 1, 'stage ×2', 8);
    expect(told.map(({ state }) => state)).toEqual(['opened', 'resolved']);
    expect(overAfterMs).toBeGreaterThan(0);
    expect(overAfterMs).toBeLessThan(15 * 60_000);
    expect(moved).toBeLessThan(0.03);
  });
});
