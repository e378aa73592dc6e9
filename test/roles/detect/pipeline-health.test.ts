import { describe, expect, it } from 'vitest';
import { anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import {
  type Completeness,
  nothingWrong,
} from '../../../src/roles/detect/completeness/completeness.ts';
import { PipelineHealth } from '../../../src/roles/detect/pipeline-health.ts';

const startMs = 1_790_000_000_000;
const options = { groupId: 'g', afterMs: 60_000, quantile: 0.99, runbookUrl: undefined };
const fine: Completeness = {
  ...nothingWrong,
  completeMs: startMs,
  knownMs: startMs,
  hasAllTraffic: true,
};
const behind = (seconds: number, isGivenUp = false): Completeness => ({
  ...fine,
  behind: [{ name: 't/1', behindMs: seconds * 1_000, lagMessages: 10_830, isGivenUp }],
});
const at = (seconds: number) => startMs + seconds * 1_000;
const storeAway: Completeness = {
  ...fine,
  storeOutage: { sinceMs: startMs, reason: 'connect ECONNREFUSED', error: undefined },
};
const kafkaAway: Completeness = { ...fine, kafkaOutage: { sinceMs: startMs, reason: 'no answer' } };
const displaced: Completeness = { ...fine, displaced: [{ name: 't/3', delayMs: 5 * 3_600_000 }] };

describe('PipelineHealth', () => {
  it.each([
    [
      'messages that wait in Kafka',
      behind,
      'behind',
      /^10,830 messages wait to be stored, the oldest for 60 s; .* Check the ingesters of t\/1$/,
    ],
    [
      'a store that is away',
      () => storeAway,
      'behind',
      /^ClickHouse has not responded for 60 s \(connect ECONN/,
    ],
    [
      'Kafka that is away',
      () => kafkaAway,
      'kafka',
      /^Kafka has not responded for 60 s \(no answer\)/,
    ],
    [
      'events of another time',
      () => displaced,
      'event_time',
      /^Events of t\/3 arrive up to 5 h after/,
    ],
  ])('says of %s once that it lasts, and once that it is over', (_, condition, cause, summary) => {
    const health = new PipelineHealth(options);
    for (let second = 0; second < 60; second++) {
      expect(health.observe(at(second), condition(second))).toEqual([]);
    }
    const [opened, ...others] = health.observe(at(60), condition(60));
    expect(others).toEqual([]);
    expect(anomalyEventSchema.parse(opened)).toEqual(opened);
    expect(opened).toMatchObject({
      ...{ kind: 'pipeline', state: 'opened', severity: 'warning', revision: 1 },
      started_at: new Date(startMs).toISOString(),
      detected_at: new Date(at(60)).toISOString(),
      dedup_key: expect.stringMatching(new RegExp(`^pipeline/${cause}/[0-9a-f]{16}$`)),
      summary: expect.stringMatching(summary),
    });
    // Another cause is independent.
    expect(health.observe(at(70), condition(70))).toEqual([]);
    const shown = cause === 'event_time' ? health.notes() : health.problems();
    expect(shown).toHaveLength(1);
    const [resolved, ...more] = health.observe(at(80), fine);
    expect(more).toEqual([]);
    expect(anomalyEventSchema.parse(resolved)).toMatchObject({
      ...{ id: opened?.id, dedup_key: opened?.dedup_key, revision: 2, severity: 'warning' },
      ...{ state: 'resolved', resolution: 'recovered' },
      resolved_at: new Date(at(80)).toISOString(),
      summary: expect.stringMatching(/ again after 80 s$/),
    });
    expect([...health.problems(), ...health.notes()]).toEqual([]);
    expect(health.observe(at(90), fine)).toEqual([]);
  });

  it('is one outage from the first waiting message to the last, for any cause', () => {
    const health = new PipelineHealth(options);
    const events = [
      ...health.observe(at(90), storeAway),
      ...health.observe(at(480), storeAway),
      // The store is back: records from meanwhile are still to be stored.
      ...health.observe(at(481), behind(480)),
      ...health.observe(at(520), behind(30)),
      ...health.observe(at(530), fine),
    ];
    expect(events.map(({ state }) => state)).toEqual(['opened', 'resolved']);
  });

  it('names the partitions that windows no longer wait for', () => {
    const health = new PipelineHealth(options);
    const [opened] = health.observe(at(60), behind(60, true));
    expect(opened?.summary).toContain(
      'windows are evaluated without t/1, and traffic volume is not evaluated',
    );
  });

  it('goes on with what is open by the table, and with nothing of others', () => {
    const [opened] = new PipelineHealth(options).observe(at(60), behind(60));
    if (opened === undefined) throw new Error('no event');
    const next = new PipelineHealth(options);
    next.restore([opened]);
    expect(next.observe(at(70), behind(70))).toEqual([]);
    expect(next.observe(at(80), fine)).toMatchObject([{ id: opened.id, state: 'resolved' }]);
    const other = new PipelineHealth({ ...options, groupId: 'h' });
    other.restore([opened]);
    expect(other.observe(at(80), fine)).toEqual([]);
  });
});
