import { describe, expect, it } from 'vitest';
import type { AnomalyEvent, Rate } from '../../../src/contract/anomaly-event.ts';
import { incidentSeverity } from '../../../src/detect/incident/incident-severity.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

const history_from = '2026-11-01T11:14:00.000Z';

interface Member {
  readonly ratio: number;
  /** Share of all requests that the series affects, and of its own. */
  readonly affected: number;
  readonly own: number;
}

/** So many series alike that fail, each a warning by itself. */
function seriesOf(count: number, { ratio, affected, own }: Member, isShort: boolean) {
  const { evidence } = anomalyFixture();
  const rate: Rate = {
    ...{ unit: 'failures per request', observed: own, baseline: own / ratio, ratio },
    interval: [own, own],
  };
  const event = anomalyFixture({
    ...{ kind: 'error_rate', severity: 'warning', rate, requests: 1_000, affected_share: affected },
    evidence: {
      ...{ ...evidence, expected: 0, exceedances: 1_000 * own },
      ...(isShort && { history_from }),
    },
  });
  return Array.from({ length: count }, (): AnomalyEvent => event);
}

describe('the severity of an incident', () => {
  it.each<[string, number, Member, string, string]>([
    [
      'everything that fails three times as often',
      200,
      { ratio: 3, affected: 0.005, own: 0.4 },
      'critical',
      'warning',
    ],
    [
      'an hourly job of a part of the traffic',
      4,
      { ratio: 8, affected: 0.01, own: 0.2 },
      'critical',
      'warning',
    ],
    [
      'a part that is wide and deep',
      20,
      { ratio: 8, affected: 0.005, own: 0.2 },
      'critical',
      'critical',
    ],
    [
      'all requests of a model with 2 % of the traffic',
      20,
      { ratio: 300, affected: 0.001, own: 1 },
      'critical',
      'critical',
    ],
    ['a few requests', 3, { ratio: 300, affected: 0.001, own: 1 }, 'warning', 'warning'],
  ])('of %s (%i series) goes by how much is known', (_, count, member, whole, short) => {
    expect(incidentSeverity(seriesOf(count, member, false))).toBe(whole);
    expect(incidentSeverity(seriesOf(count, member, true))).toBe(short);
  });

  it.each([
    [0.4, 'warning'],
    [0.6, 'critical'],
  ])('of slow tails goes by the part of their requests: %f', (own, severity) => {
    const failing = seriesOf(20, { ratio: 8, affected: 0.02, own }, true);
    const slow = failing.map(({ rate, ...event }): AnomalyEvent => {
      return { ...event, kind: 'tail_shift', ratio: 8 };
    });
    expect(incidentSeverity(failing)).toBe('critical');
    expect(incidentSeverity(slow)).toBe(severity);
  });

  it.each([
    ['total', 'critical'],
    ['first_token', 'critical'],
    ['time_per_output_token', 'critical'],
    ['queue', 'warning'],
  ])(
    'of series that are slow in %s goes by what somebody waits for',
    (measured_stage, severity) => {
      const failing = seriesOf(20, { ratio: 8, affected: 0.02, own: 0.4 }, false);
      const slow = failing.map(({ rate, ...event }): AnomalyEvent => {
        const evidence = { ...event.evidence, measured_stage };
        return { ...event, kind: 'tail_shift', ratio: 8, evidence };
      });
      expect(incidentSeverity(slow)).toBe(severity);
    },
  );

  it('is that of its worst series, whatever is known of the others', () => {
    const [known] = seriesOf(1, { ratio: 3, affected: 0.1, own: 0.4 }, false);
    const others = seriesOf(5, { ratio: 3, affected: 0.005, own: 0.4 }, true);
    const critical = { ...(known as AnomalyEvent), severity: 'critical' as const };
    expect(incidentSeverity([critical, ...others])).toBe('critical');
  });
});
