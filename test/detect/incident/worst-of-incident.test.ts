import { describe, expect, it } from 'vitest';
import type { AnomalyEvent, Rate } from '../../../src/contract/anomaly-event.ts';
import { anomalyIdOf, dedupKeyOf } from '../../../src/contract/anomaly-identity.ts';
import { ofWorstSeries } from '../../../src/contract/worst-series.ts';
import { IncidentGrouper } from '../../../src/detect/incident/incident-grouper.ts';
import { seriesOf } from '../../../src/series/series-key.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

const beginMs = Date.parse('2026-11-01T12:00:00Z');
const at = (second: number) => new Date(beginMs + second * 1_000).toISOString();

/** An anomaly of a region with so many requests a window beyond the expected ones, over some windows. */
function anomaly(
  region: string,
  perWindow: number,
  { windows = 2, ...changed }: Partial<AnomalyEvent> & { windows?: number } = {},
): AnomalyEvent {
  const event = anomalyFixture({ region, severity: 'warning', started_at: at(0), ...changed });
  const { evidence } = event;
  const exceedances = evidence.expected + perWindow * windows;
  const dedup_key = dedupKeyOf(event.kind, seriesOf(event));
  return {
    ...event,
    ...{ dedup_key, id: anomalyIdOf(dedup_key, beginMs) },
    evidence: { ...evidence, windows, exceedances },
  };
}

function resolved(event: AnomalyEvent, second: number): AnomalyEvent {
  const times = { emitted_at: at(second), ended_at: at(second - 120), resolved_at: at(second) };
  return { ...event, ...times, revision: 2, state: 'resolved', resolution: 'recovered' };
}

/** The incident's own events of a story: events of series by second. */
function run(story: Readonly<Record<number, readonly AnomalyEvent[]>>): AnomalyEvent[] {
  const grouper = new IncidentGrouper(detectOptions());
  const emitted = Object.entries(story).flatMap(([second, events]) => {
    const nowMs = beginMs + Number(second) * 1_000;
    const startMs = Math.floor(nowMs / 10_000) * 10_000 - 10_000;
    return grouper.group(events, { startMs, nowMs, live: () => [] });
  });
  return emitted.filter(({ incident_id }) => incident_id === undefined);
}

const regionsOf = (events: readonly AnomalyEvent[]) =>
  events.map(({ members }) => members?.map(({ region }) => region));

function failures(observed: number, baseline: number): Rate {
  const unit = 'failures per request' as const;
  return {
    ...{ unit, observed, baseline, interval: [observed, observed] },
    ratio: observed / baseline,
  };
}

describe('the worst series of an incident', () => {
  it.each([
    ['a slow tail', {}, {}],
    [
      'failures',
      { kind: 'error_rate', rate: failures(0.0039, 0.0028) },
      { kind: 'error_rate', rate: failures(0.17, 0.0027) },
    ],
  ] as const)('is not the one of few cold starts, however large its ratio: %s', (_, of, ofCold) => {
    const warm = anomaly('eu', 120, { ratio: 5.1, ...of });
    const few = { windows: 30, requests: 97, cold_start: true, ratio: 14 };
    const cold = anomaly('us', 1, { ...few, ...ofCold });
    // Summed over however many windows.
    const many = anomaly('ap', 140, { windows: 30, ratio: 2, ...of });
    expect(regionsOf(run({ 12: [warm, cold, many] }))).toEqual([['ap', 'eu', 'us']]);
  });

  it('is an open one while any is open', () => {
    const [first, second, third] = [anomaly('eu', 120), anomaly('ap', 140), anomaly('us', 1)];
    const story = { 12: [first, second], 300: [resolved(second, 300)], 400: [third] };
    const ends = { 800: [resolved(first, 800), resolved(third, 800)] };
    expect(regionsOf(run({ ...story, ...ends }))).toEqual([
      ['ap', 'eu'],
      ['eu', 'us', 'ap'],
      ['ap', 'eu', 'us'],
    ]);
  });

  it('is one of cold starts where these have the most affected requests', () => {
    const cold = anomaly('us', 200, { cold_start: true, ratio: 1.5 });
    const [opening] = run({ 12: [anomaly('eu', 120, { ratio: 4 }), cold] });
    expect(ofWorstSeries(opening ?? cold)).toMatchObject({ region: 'us', cold_start: true });
  });

  it('of fallen traffic misses the most requests', () => {
    const drop = { kind: 'throughput_drop' as const, stage: '' };
    const missing = [anomaly('eu', -3, drop), anomaly('us', -5, drop)];
    expect(regionsOf(run({ 12: missing }))).toEqual([['us', 'eu']]);
  });
});
