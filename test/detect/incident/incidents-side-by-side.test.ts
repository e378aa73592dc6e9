import { expect, test } from 'vitest';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { anomalyIdOf, dedupKeyOf } from '../../../src/contract/anomaly-identity.ts';
import { IncidentGrouper } from '../../../src/detect/incident/incident-grouper.ts';
import type { Series } from '../../../src/series/series-window.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';

const beginMs = Date.parse('2026-11-01T12:00:00Z');
const absent = { service: '', version: '', host: '', tenant: '', cold_start: false };
const live = ['eu', 'us'].flatMap((region) =>
  ['chat', 'search'].map((request_type) => ({ ...absent, model: 'm', region, request_type })),
);

function opened(series: Series, stage: string, second: number): AnomalyEvent {
  const startedMs = beginMs + second * 1_000;
  const dedup_key = dedupKeyOf('tail_shift', series);
  const started_at = new Date(startedMs).toISOString();
  const id = anomalyIdOf(dedup_key, startedMs);
  return anomalyFixture({
    ...series,
    ...{ dedup_key, stage, id, started_at, emitted_at: started_at },
  });
}

/** What the series of one region have in common, that decode slows at 390 s. */
function commonInEu(before: readonly AnomalyEvent[]) {
  const grouper = new IncidentGrouper(detectOptions());
  const group = (events: readonly AnomalyEvent[], second: number) => {
    const startMs = beginMs + second * 1_000;
    return grouper.group(events, { startMs, nowMs: startMs + 12_000, live: () => live });
  };
  group(before, 0);
  const inEu = live.filter(({ region }) => region === 'eu');
  const emitted = group(
    inEu.map((series) => opened(series, 'decode', 390)),
    400,
  );
  return emitted.find(({ incident_id }) => incident_id === undefined)?.scope?.common;
}

test('an incident says what its series share, where the others are well', () => {
  expect(commonInEu([])).toEqual([{ dimension: 'region', value: 'eu' }]);
});

test('not where the others have an anomaly of their own, and may be affected too', () => {
  const inUs = live.filter(({ region }) => region === 'us');
  expect(commonInEu(inUs.map((series) => opened(series, 'queue', 0)))).toEqual([]);
});
