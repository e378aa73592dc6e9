import { describe, expect, it } from 'vitest';
import { runIncident } from './run-incident.ts';

describe('runIncident', () => {
  // The total hardly shows it, and is quiet for minutes: its stage holds the page open, and is blamed.
  it('gives one page of a day in which one request in ten waits five times as long for a stage', () => {
    const { told } = runIncident('independent', 201, 'tail ×5');
    expect(told.map(({ state, stage }) => [state, stage])).toEqual([
      ['opened', 'features'],
      ['updated', 'features'],
      ['resolved', 'features'],
    ]);
    expect(told.map(({ evidence }) => evidence.measured_stage)).toEqual([
      ...['features', 'total', 'total'],
    ]);
  });
});
