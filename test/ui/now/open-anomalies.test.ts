import { describe, expect, it } from 'vitest';
import type { AnomalyRow } from '../../../src/views/answers/anomalies.ts';
import { anomaliesOfModels, byUrgency } from '../../../ui/src/views/now/open-anomalies.ts';

const row = (id: string, of: Partial<AnomalyRow>): AnomalyRow => ({
  ...{ id, title: '', headline: '', summary: '', model: 'a', models: ['a'], kind: 'tail_shift' },
  ...{ severity: 'warning', state: 'opened', stage: 'queue', started_at: '2026-11-01T00:00:00Z' },
  ...{ resolved_at: null, ended_at: null, series: 1, tail: null, accepted_by: [] },
  ...of,
});
const tail = (ratio: number) => ({
  ...{ stage: 'total', quantile: 0.99, observed_ms: 100 * ratio, baseline_ms: 100, ratio },
  ...{ measured_at: null, cold_start: false },
});

describe('anomalies of models', () => {
  const rows = [
    row('over', { severity: 'critical', state: 'resolved', resolved_at: '2026-11-01T01:00:00Z' }),
    row('warning', { model: 'b', models: ['b', 'c'], tail: tail(9) }),
    row('critical', { model: 'd', models: ['d'], severity: 'critical', tail: tail(2) }),
    row('less', { model: 'b', models: ['b'], tail: tail(3) }),
  ];
  const anomalies = anomaliesOfModels(rows);

  it('put the most severe open one first, then the largest ratio', () => {
    expect(rows.toSorted(byUrgency).map(({ id }) => id)).toEqual([
      ...['critical', 'over', 'warning', 'less'],
    ]);
    expect(['d', 'b', 'c', 'a', 'none'].map((model) => anomalies.rankOf(model))).toEqual([
      ...[0, 1, 1, 3, 3],
    ]);
    expect(anomalies.openOf('b')?.id).toBe('warning');
    expect(anomalies.openOf('a')).toBeUndefined();
  });

  it('are of each model that they affect, those that are over too', () => {
    expect(anomalies.of('a').map(({ id }) => id)).toEqual(['over']);
    expect(anomalies.of('c').map(({ id }) => id)).toEqual(['warning']);
  });
});
