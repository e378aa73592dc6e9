import { describe, expect, it } from 'vitest';
import { runIncident } from './run-incident.ts';

describe('runIncident', () => {
  // The total hardly shows it: it exceeds in some windows of that day by chance, and never becomes the
  // leader.
  it('gives one page of a day in which one request in ten waits five times as long for a stage', () => {
    const { emitted } = runIncident('independent', 201, 'tail ×5');
    expect(emitted.map(({ state, stage }) => [state, stage])).toEqual([
      ['opened', 'features'],
      // Each is half as large again as all before: a minute's p99 varies more than that of five.
      ['updated', 'features'],
      ['updated', 'features'],
      ['updated', 'features'],
      ['resolved', 'features'],
    ]);
    expect(new Set(emitted.map(({ evidence }) => evidence.measured_stage))).toEqual(
      new Set(['features']),
    );
  });

  // The night's baseline is adjusted to the morning by the day before.
  it('ends with an incident that started in the night, when that ends in the morning', () => {
    const { emitted, overAfterMs = Number.NaN, moved } = runIncident('diurnal', 1, 'stage ×2', 8);
    expect(emitted.map(({ state }) => state)).toEqual(['opened', 'resolved']);
    expect(overAfterMs).toBeGreaterThan(0);
    expect(overAfterMs).toBeLessThan(15 * 60_000);
    expect(moved).toBeLessThan(0.03);
  });

  // It was opened at its worst. Held against that alone, it seemed over each hour.
  it('gives one page of hours in which one request in ten waits three times as long', () => {
    const { emitted } = runIncident('independent', 1, 'tail ×3', 4);
    expect(emitted.filter(({ state }) => state !== 'updated').map(({ state }) => state)).toEqual([
      'opened',
      'resolved',
    ]);
  });
});
