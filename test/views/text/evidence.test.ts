import { describe, expect, it } from 'vitest';
import { evidenceOf } from '../../../src/views/text/evidence.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

const fixture = anomalyFixture();
const tail = anomalyFixture({
  ...{ requests: 679, baseline_ms: 108, observed_ms: 302, interval_ms: [260, 516], ratio: 2.8 },
  evidence: { ...fixture.evidence, exceedances: 486.6, expected: 6.79 },
});

describe('evidence', () => {
  it('leads with how many requests were slow, and how many were expected', () => {
    expect(evidenceOf(tail).sentences).toEqual([
      '487 of 679 requests were slower than the slowest 1 % of normal, 108 ms; 7 were expected',
      'p99: 302 ms (95 % interval 260 ms to 516 ms), 2.8x its baseline of 108 ms',
      'baseline: 2026-11-01 11:00:00Z to 2026-11-01 11:58:50Z',
    ]);
  });

  it.each([
    ['a tail', tail],
    [
      'a rate',
      {
        ...tail,
        rate: {
          ...{ unit: 'failures per request' as const, observed: 0.7, baseline: 0.01, ratio: 70 },
          interval: [0.6, 0.8] as [number, number],
        },
      },
    ],
  ])('of %s says since when the history is known, where it is short', (_, event) => {
    const evidence = { ...event.evidence, history_from: '2026-11-01T11:14:00.000Z' };
    expect(evidenceOf({ ...event, evidence }).sentences.at(-1)).toBe(
      'baseline: 2026-11-01 11:00:00Z to 2026-11-01 11:58:50Z; known since 2026-11-01 11:14 UTC only: the history before was not read',
    );
  });

  it('has its statistics apart: probabilities, thresholds, dispersion', () => {
    expect(evidenceOf(tail).statistics).toEqual([
      { label: 'Probability on a normal day', text: 'at most 1 in 10^18' },
      { label: 'Threshold from the page budget', text: '1 in 50 million' },
      {
        label: 'Dispersion',
        text: '1.7x the variance of independent requests; the probability allows for it',
      },
      { label: 'Windows', text: '2, and 351 of the baseline' },
    ]);
  });

  it('names the series that it is of, and the stage that was measured', () => {
    const scope = { affected: 4, unresolved: 4, total: 8, common: [], values: [] };
    const evidence = { ...tail.evidence, measured_stage: 'queue', expected: 0.3 };
    const incident = { ...tail, quantile: 0.9, scope, evidence };
    expect(evidenceOf(incident).sentences[0]).toBe(
      '487 of 679 requests of ranker (search, eu-west-1) were slower in queue than the slowest 10 % of normal, 108 ms; fewer than 1 was expected',
    );
  });

  it('counts what a rate counts', () => {
    const rate = {
      ...{ observed: 0.2, baseline: 0.01, ratio: 20 },
      interval: [0.18, 0.22] as [number, number],
    };
    const of = (unit: 'failures per request' | 'requests per second') =>
      evidenceOf({ ...tail, kind: 'error_rate', rate: { ...rate, unit } });
    expect(of('failures per request').sentences[0]).toBe(
      '487 of 679 requests failed; 7 were expected',
    );
    expect(of('requests per second').sentences[0]).toBe('487 requests arrived; 7 were expected');
    expect(of('failures per request').statistics[0]?.text).toBe('at most 1 in 10^18');
  });
});
