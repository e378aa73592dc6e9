import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { ofWorstSeries } from '../../../src/contract/worst-series.ts';
import { IncidentGrouper } from '../../../src/detect/incident/incident-grouper.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { affected, at, contextAt, isPage, opened, resolved, run } from './incident-story.ts';

const first = opened('ranker/eu', 0, { ratio: 4 });
const second = opened('ranker/us', 20, affected(60));

describe('a later event of an incident', () => {
  const measuredAt = (second: number) => ({ measured_at: at(second) });
  const third = opened('ranker/ap', 200, { ...measuredAt(210), ...affected(50) });
  const [one, two] = [first, second].map((event) => ({ ...event, ...measuredAt(10) }));
  if (one === undefined || two === undefined) throw new Error('no anomalies');
  /** The first series is nearly back, and the second one is worse than it was. */
  const now: [AnomalyEvent, Partial<AnomalyEvent>][] = [
    [one, { ratio: 1.1, affected_share: 0.0001, ...affected(1) }],
    [two, { ratio: 6, affected_share: 0.003, ...affected(90) }],
    [third, { ratio: 2, affected_share: 0.002, ...affected(20) }],
  ];
  const presentAs = (isClear: boolean) =>
    new Map(
      now.map(([event, changed]) => [
        event.id,
        { event: { ...event, ...measuredAt(400), ...changed }, isClear },
      ]),
    );
  const present = presentAs(false);
  const numbersOf = (event: AnomalyEvent | undefined) =>
    event?.members?.map(({ region, ratio, measured_at }) => `${region} ${ratio} ${measured_at}`);

  it('says how each open series is at its own time, the worst of then first', () => {
    const emitted = run({ 12: [one, two], 210: [third] });
    const grouper = new IncidentGrouper(detectOptions());
    for (const [second, events] of [
      [12, [one, two]],
      [210, [third]],
    ] as const) {
      grouper.group(events, contextAt(second));
    }
    const [update] = grouper.group([], { ...contextAt(400), present });
    expect(emitted.filter(isPage)).toHaveLength(1);
    expect(numbersOf(update)).toEqual([
      ...[`us 6 ${at(400)}`, `ap 2 ${at(400)}`, `eu 1.1 ${at(400)}`],
    ]);
    expect(update).toMatchObject({ ratio: 1.1, ...measuredAt(400), affected_share: 0.0051 });
    expect(ofWorstSeries(update ?? one)).toMatchObject({ region: 'us', ...measuredAt(400) });
  });

  it('keeps the numbers of a series that has recovered, and counts none of its requests', () => {
    const grouper = new IncidentGrouper(detectOptions());
    grouper.group([one, two], contextAt(12));
    grouper.group([third, resolved(one, 210)], contextAt(210));
    const [update] = grouper.group([], { ...contextAt(400), present });
    expect(numbersOf(update)?.at(-1)).toBe(`eu 4 ${at(10)}`);
    expect(update?.affected_share).toBe(0.005);
  });

  it('is held back while no window shows any of it', () => {
    const grouper = new IncidentGrouper(detectOptions());
    grouper.group([one, two], contextAt(12));
    grouper.group([third], contextAt(210));
    expect(grouper.group([], { ...contextAt(400), present: presentAs(true) })).toEqual([]);
    expect(grouper.group([], { ...contextAt(410), present })).toHaveLength(1);
  });

  it('of its end has the last numbers that were published of each series', () => {
    const grouper = new IncidentGrouper(detectOptions());
    grouper.group([one, two], contextAt(12));
    grouper.group([third], contextAt(210));
    grouper.group([], { ...contextAt(400), present });
    const ends = [one, two, third].map((event) => resolved(event, 700));
    const end = grouper.group(ends, contextAt(700)).find(isPage);
    expect(end).toMatchObject({ state: 'resolved', ratio: 1.1, ...measuredAt(400) });
    expect(numbersOf(end)).toEqual([
      ...[`us 6 ${at(400)}`, `ap 2 ${at(400)}`, `eu 1.1 ${at(400)}`],
    ]);
  });

  it('of its end has numbers of one time of the worst series, also of one that was not the worst before', () => {
    const grouper = new IncidentGrouper(detectOptions());
    const worst = { ...third, ratio: 7, ...affected(500) };
    grouper.group([one, two], contextAt(12));
    grouper.group([worst], contextAt(210));
    grouper.group([], { ...contextAt(400), present });
    const ends = [one, two, worst].map((event) => resolved(event, 700));
    const end = grouper.group(ends, contextAt(700)).find(isPage);
    expect(numbersOf(end)).toEqual([
      ...[`ap 7 ${at(210)}`, `us 6 ${at(400)}`, `eu 1.1 ${at(400)}`],
    ]);
    expect(ofWorstSeries(end ?? one)).toMatchObject({ ratio: 7, evidence: worst.evidence });
  });

  it('is no more frequent because the present differs from what was published', () => {
    const grouper = new IncidentGrouper(detectOptions());
    grouper.group([one, two], contextAt(12));
    const emitted = [330, 340, 900, 910, 2_000].flatMap((second) =>
      grouper.group([], { ...contextAt(second), present }),
    );
    expect(emitted).toEqual([]);
  });

  it.each([
    [
      'one series',
      { severity: 'critical', affected_share: 0.06, ratio: 3 },
      'ranker (ap): 6 % of all requests affected, 3.0x the baseline; critical from 5 % and 2.0x',
    ],
    [
      'all together',
      { affected_share: 0.05, ratio: 3 },
      '5.2 % of all requests affected, 3 series each at least 2.0x the baseline; critical from 5 % and 2.0x',
    ],
  ] as const)('says why the severity rose: %s', (_, changed, reason) => {
    const worse = opened('ranker/ap', 60, changed);
    const [, update] = run({ 12: [one, two], 70: [worse] }).filter(isPage);
    expect(update).toMatchObject({ severity: 'critical', severity_reason: reason });
  });
});
