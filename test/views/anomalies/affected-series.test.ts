import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { scopeMember } from '../../../src/contract/scope-member.ts';
import { affectedSeries } from '../../../src/views/anomalies/affected-series.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

const regions = ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'];
const warm = { dimension: 'cold_start' as const, value: 'false' };
const search = { dimension: 'request_type' as const, value: 'search' };
const scope = { affected: 8, unresolved: 4, total: 10, common: [warm, search], values: [] };

function rowOf(region: string, changed: Partial<AnomalyEvent> = {}): AnomalyEvent {
  return anomalyFixture({ id: region, region, incident_id: 'incident', ...changed });
}

const rows = regions.map((region) => rowOf(region));
const event = anomalyFixture({ scope, members: rows.map((row) => scopeMember(row)) });
const ended = { ended_at: '2026-11-01T12:03:00.000Z', resolved_at: '2026-11-01T12:05:10.000Z' };
const recovered = (row: AnomalyEvent): AnomalyEvent => ({ ...row, state: 'resolved', ...ended });

describe('the affected series of an incident', () => {
  it('are counted as its newest event does, where nothing changed since', () => {
    const { title, count, listed, common } = affectedSeries(event, rows);
    expect(title).toBe('8 of 10 series affected, 8 not recovered');
    expect([count, listed.length, common]).toEqual([8, 8, [warm, search]]);
  });

  it('are listed with those that joined since, and share what these share too', () => {
    const cold = ['r8', 'r9'].map((region) => rowOf(region, { cold_start: true }));
    const { title, count, listed, common } = affectedSeries(event, [...cold, ...rows]);
    expect(title).toBe('8 of 10 series affected at the last update, 10 now, 10 not recovered');
    expect([count, common]).toEqual([10, [search]]);
    expect(listed.map(({ region }) => region)).toEqual([...regions, 'r8', 'r9']);
  });

  it('have recovered as they stand now, with the numbers that the title has', () => {
    const now = rows.map((row, i) => (i === 7 ? { ...row, ratio: 9 } : recovered(row)));
    const { title, listed } = affectedSeries(event, now);
    expect(title).toBe('8 of 10 series affected, 1 not recovered');
    expect(listed[0]).toMatchObject(ended);
    expect(listed[7]).toMatchObject({ resolved_at: null, ratio: event.ratio });
  });

  it('count one that is affected again once, by its newest anomaly', () => {
    const again = rowOf('r0', { id: 'again', started_at: '2026-11-01T12:20:00.000Z' });
    const others = rows.slice(1).map(recovered);
    const { title, listed } = affectedSeries(event, [again, recovered(rowOf('r0')), ...others]);
    expect(title).toBe('8 of 10 series affected, 1 not recovered');
    expect(listed[0]).toMatchObject({ resolved_at: null, started_at: again.started_at });
  });

  it('put those with most affected requests first among the ones that the event does not list', () => {
    const { evidence } = event;
    const many = rowOf('r9', { evidence: { ...evidence, exceedances: 900 }, ratio: 1.4 });
    const few = rowOf('r8', { evidence: { ...evidence, exceedances: 15 }, ratio: 60 });
    const { listed } = affectedSeries(event, [few, many, ...rows]);
    expect(listed.slice(8).map(({ region }) => region)).toEqual(['r9', 'r8']);
  });

  it('are the one of an incident of one series, and as the event says where no rows are kept', () => {
    const alone = affectedSeries(anomalyFixture(), []);
    expect(alone.title).toBe('1 series affected, 1 not recovered');
    expect(alone.listed).toMatchObject([{ measured_stage: 'total', quantile: 0.99 }]);
    expect(affectedSeries(event, []).title).toBe('8 of 10 series affected, 4 not recovered');
  });
});
