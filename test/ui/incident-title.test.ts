import { describe, expect, it } from 'vitest';
import { incidentTitle } from '../../ui/src/views/incident/incident-title.ts';
import { anomalyFixture } from '../contract/anomaly-fixture.ts';

const zone = { utc: true, nowMs: Date.parse('2026-11-28T20:00:00Z') };
const headline = 'ranker p99 512 ms, 2.1x its baseline, blame features';
const times = { started_at: '2026-11-28T10:17:00Z', ended_at: null, resolved_at: null };
const titleOf = (changed: Parameters<typeof anomalyFixture>[0]) =>
  incidentTitle({ headline, event: anomalyFixture({ ...times, ...changed }) }, zone);

describe('the title of an incident', () => {
  it('says since when it is open', () => {
    expect(titleOf({})).toBe(`${headline}; since 10:17:00`);
    // The tail has fallen, and the episode waits for more of the same.
    expect(titleOf({ ended_at: '2026-11-28T10:27:00Z' })).toBe(`${headline}; since 10:17:00`);
  });

  it('says as of when its numbers are, in its own zone', () => {
    expect(titleOf({ measured_at: '2026-11-28T10:19:20Z' })).toBe(
      `${headline}; since 10:17:00, as of 10:19:20`,
    );
  });

  it('says in event time how long it lasted, however late that was noticed', () => {
    expect(titleOf({ ended_at: '2026-11-28T10:27:00Z', resolved_at: '2026-11-28T19:30:12Z' })).toBe(
      `${headline}; 10:17:00 to 10:27:00 (10 min)`,
    );
  });

  it('says when the end was noticed where none is known, and counts no time from it', () => {
    expect(titleOf({ resolved_at: '2026-11-28T19:30:12Z' })).toBe(
      `${headline}; since 10:17:00, resolved 19:30:12`,
    );
  });
});
