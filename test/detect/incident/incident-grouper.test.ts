import { describe, expect, it } from 'vitest';
import { type AnomalyEvent, anomalyEventSchema } from '../../../src/contract/anomaly-event.ts';
import { ofEndedSeries, ofWorstSeries } from '../../../src/contract/worst-series.ts';
import { IncidentGrouper } from '../../../src/detect/incident/incident-grouper.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import {
  affected,
  at,
  contextAt,
  isPage,
  live,
  opened,
  resolved,
  run,
  type Story,
  seriesOf,
} from './incident-story.ts';

const isOpening = (event: AnomalyEvent) => isPage(event) && event.state === 'opened';
const outline = (events: readonly AnomalyEvent[]) =>
  events
    .filter(isPage)
    .map(({ state, model, region, scope }) =>
      [state, `${model}/${region}`, ...(scope === undefined ? [] : [scope.affected])].join(' '),
    );

const first = opened('ranker/eu', 0, { ratio: 4 });
const second = opened('ranker/us', 20, affected(60));

describe('one series', () => {
  it('is emitted unchanged, from opening to resolving', () => {
    const end = resolved(first, 300);
    const updated: AnomalyEvent = { ...first, state: 'updated', revision: 2 };
    const later: AnomalyEvent = { ...end, revision: 3 };
    const emitted = run({ 12: [first], 60: [updated], 70: [], 300: [later] });
    expect(emitted).toEqual([first, updated, later]);
  });
});

describe('an incident says the numbers of one moment', () => {
  const blame = [{ stage: 'queue', excess_ms: 800, share: 1 }];
  const worse = opened('ranker/us', 20, {
    ...{ ratio: 9, observed_ms: 1_089, interval_ms: [900, 1_200], requests: 77 },
    ...{ blame, stage: 'queue', bottleneck: 'queue', affected_share: 0.02, ...affected(90) },
  });
  const grouper = new IncidentGrouper(detectOptions());
  // More series of the model become live after the last one joined.
  const later = [...live, seriesOf('ranker/af'), seriesOf('ranker/cn')];
  const emitted = [
    ...grouper.group([first], contextAt(12)),
    ...grouper.group([worse], contextAt(32)),
    ...grouper.group([], contextAt(400)),
    ...grouper.group([resolved(first, 420)], contextAt(420, later)),
    ...grouper.group([resolved(worse, 440)], contextAt(440, later)),
  ].filter(isPage);
  const [, update, end] = emitted;

  it('and counts at its end as when the last series joined', () => {
    const summaries = [update, end].map((event) => event?.summary.split('. ')[0]);
    expect(summaries).toEqual([
      '2 of 5 ranker series affected',
      '2 of 5 ranker series were affected, all resolved',
    ]);
    expect(end?.scope).toEqual({ ...update?.scope, unresolved: 0 });
  });

  it('with all that was measured in the worst series, beside what the first has', () => {
    expect(update).toMatchObject({ region: 'eu', ratio: first.ratio });
    expect(update?.members?.map(({ region }) => region)).toEqual(['us', 'eu']);
    expect(ofWorstSeries(update ?? first)).toMatchObject({
      ...{ region: 'us', ratio: 9, observed_ms: 1_089, interval_ms: [900, 1_200], requests: 77 },
      ...{ blame, stage: 'queue', bottleneck: 'queue', evidence: worse.evidence },
    });
    expect(anomalyEventSchema.safeParse(update).success).toBe(true);
  });

  it('with the part of all requests that all its series have', () => {
    expect([update, end].map((event) => event?.affected_share)).toEqual([0.021, 0.021]);
  });

  it('of the end by the tail that one of them recovered at, only when all have', () => {
    const recovered = { stage: 'queue', quantile: 0.95 };
    const story: Story = {
      12: [first],
      32: [second],
      420: [{ ...resolved(first, 420), recovered }],
      440: [resolved(second, 440)],
    };
    const pages = run(story).filter(isPage);
    expect(pages.map((event) => [event.state, event.recovered])).toEqual([
      ['opened', undefined],
      ['updated', undefined],
      ['resolved', recovered],
    ]);
  });

  it('of the end by the series whose end it was, where that is the new baseline', () => {
    const [us, eu] = end?.members ?? [];
    if (end === undefined || us === undefined || eu === undefined) throw new Error('no end');
    const ended = {
      ...end,
      members: [
        { ...us, resolved_at: at(420) },
        { ...eu, resolved_at: at(440) },
      ],
    };
    expect(ofEndedSeries({ ...ended, resolution: 'rebaselined' }).region).toBe('eu');
    expect(ofEndedSeries({ ...end, resolution: 'rebaselined' }).region).toBe('us');
    expect(ofEndedSeries(end)).toBe(end);
  });
});

describe('several series', () => {
  const story: Story = {
    12: [first],
    32: [second],
    400: [],
    420: [resolved(first, 420)],
    440: [resolved(second, 440)],
  };
  const emitted = run(story);

  it('of one cause open once, update, and resolve once', () => {
    expect(outline(emitted)).toEqual([
      'opened ranker/eu',
      'updated ranker/eu 2',
      'resolved ranker/eu 2',
    ]);
    const pages = emitted.filter(isPage);
    expect(pages.map(({ revision }) => revision)).toEqual([1, 2, 3]);
    for (const field of ['id', 'dedup_key', 'started_at', 'detected_at'] as const) {
      expect(new Set(pages.map((event) => event[field]))).toEqual(new Set([first[field]]));
    }
    expect(pages[2]).toMatchObject({ resolved_at: at(440), resolution: 'recovered' });
    expect(pages.map(({ summary }) => summary)).toEqual([
      'ranker/eu is slow',
      '2 of 5 ranker series affected. Most affected: ranker/eu is slow',
      '2 of 5 ranker series were affected, all resolved. Last: ranker/us is back',
    ]);
  });

  it("have rows of their own, each opened and resolved, with the incident's id", () => {
    const rows = emitted.filter((event) => !isPage(event));
    expect(rows.map(({ state, region, revision }) => `${state} ${region} ${revision}`)).toEqual([
      ...['opened eu 1', 'opened us 1', 'resolved eu 2', 'resolved us 2'],
    ]);
    expect(new Set(rows.map(({ incident_id }) => incident_id))).toEqual(new Set([first.id]));
    expect(rows[1]?.id).toBe(second.id);
    expect(new Set(emitted.map(({ id }) => id)).size).toBe(3);
  });

  it('are led by the one with clearly more slow requests, whatever its name', () => {
    const few = opened('ranker/eu', 0);
    const many = opened('ranker/us', 0, { affected_share: 0.002 });
    expect(run({ 12: [few, many] }).filter(isPage)[0]?.id).toBe(many.id);
  });

  it('that are equally bad keep their leader, whichever has a few more requests or was seen first', () => {
    const leads = [0.0174, 0.0175].flatMap((affected_share) =>
      [0, 10].map((second) => {
        const eu = opened('ranker/eu', 0, { affected_share: 0.01745 });
        const us = opened('ranker/us', second - 10, { affected_share });
        return run({ 12: [us, eu] }).filter(isPage)[0]?.region;
      }),
    );
    expect(leads).toEqual(['eu', 'eu', 'eu', 'eu']);
  });

  it('are whole events, with the open and worst ones listed first', () => {
    for (const event of emitted) expect(anomalyEventSchema.parse(event)).toEqual(event);
    const worse = opened('ranker/us', 20, { ratio: 9, ...affected(65) });
    const pages = run({ 12: [first], 32: [worse], 400: [] }).filter(isPage);
    expect(pages[1]?.members?.map(({ region, ratio }) => `${region} ${ratio}`)).toEqual([
      ...['us 9', 'eu 4'],
    ]);
    expect(pages[1]?.summary).toContain('Most affected: ranker/us is slow');
  });

  it('emit the same after a takeover at any stored event', () => {
    const options = detectOptions();
    const steps = Object.entries(story).map(([at, events]) => ({ at: Number(at), events }));
    let kills = 0;
    for (const [index, { at: killedAt }] of steps.entries()) {
      const before = steps
        .slice(0, index)
        .flatMap(({ at: second, events }) => ({ second, events }));
      for (let stored = 0; ; stored++) {
        const old = new IncidentGrouper(options);
        const table = before.flatMap(({ second: s, events }) => old.group(events, contextAt(s)));
        const step = old.group(steps[index]?.events ?? [], contextAt(killedAt));
        if (stored > step.length) break;
        kills++;
        table.push(...step.slice(0, stored));
        const next = new IncidentGrouper(options);
        const known = next.restore(openIn(table));
        for (const { at: second, events } of steps.slice(index)) {
          // A known open anomaly does not open again; a known resolved one does not resolve again.
          const news = events.filter(({ id, state }) => {
            if (second > killedAt) return true;
            const isOpen = known.some((event) => event.id === id);
            const was = table.some((event) => event.id === id);
            return state === 'opened' ? !was : isOpen;
          });
          for (const event of next.group(news, contextAt(second))) {
            const again = table.findIndex(
              ({ id, revision }) => id === event.id && revision === event.revision,
            );
            if (again < 0) table.push(event);
            else expect(event).toEqual(table[again]);
          }
        }
        expect(table, `killed at ${killedAt} with ${stored} of ${step.length} stored`).toEqual(
          emitted,
        );
      }
    }
    expect(kills).toBeGreaterThan(10);
  });
});

/** Open anomalies of a table, through JSON. */
function openIn(table: readonly AnomalyEvent[]): AnomalyEvent[] {
  const last = new Map(table.map((event) => [event.id, event]));
  const isOpen = (id: string) => last.get(id)?.state !== 'resolved';
  return [...last.values()]
    .filter(({ id, incident_id }) => isOpen(incident_id ?? id))
    .map((event) => anomalyEventSchema.parse(JSON.parse(JSON.stringify(event))));
}

describe('an anomaly joins', () => {
  const joins = (other: AnomalyEvent) =>
    run({ 12: [first], 2000: [other] }).filter(isOpening).length === 1;

  it.each([
    ['another stage of the model, soon after', opened('ranker/us', 90, { stage: 'queue' })],
    ['no stage of the model, five minutes on', opened('ranker/us', 300, { stage: 'unaccounted' })],
    ['an earlier start, seen later', opened('ranker/us', -300, { stage: 'queue' })],
    ['the same stage of another model, five minutes on', opened('ads/us', 300)],
    ['the same stage of the model half an hour on', opened('ranker/us', 1_800)],
  ])('by %s', (_, other) => {
    expect(joins(other)).toBe(true);
  });

  it.each([
    ['another stage of the model, later', opened('ranker/us', 100, { stage: 'queue' })],
    ['a second cause of its own series', opened('ranker/eu', 80, { stage: 'unaccounted' })],
    ['the same stage of another model, later', opened('ads/us', 310)],
    ['the same stage of the model, more than half an hour on', opened('ranker/us', 1_810)],
    ['a stage of another model', opened('ads/us', 0, { stage: 'queue' })],
    ['the same stage later, but critical', opened('ranker/us', 310, { severity: 'critical' })],
    ['another kind', opened('ranker/us', 0, { kind: 'error_rate' })],
  ])('not by %s', (_, other) => {
    expect(joins(other)).toBe(false);
  });

  it('not by the total of another model, which is no particular stage', () => {
    const total = { stage: 'total' };
    const story = { 12: [opened('ranker/eu', 0, total)], 20: [opened('ads/us', 0, total)] };
    expect(outline(run(story))).toEqual(['opened ranker/eu', 'opened ads/us']);
  });

  it('whatever has spread so far, step by step', () => {
    const story = {
      12: [first],
      1512: [opened('ranker/us', 1_500)],
      3012: [opened('ranker/ap', 3_000)],
    };
    expect(outline(run(story))).toEqual([
      ...['opened ranker/eu', 'updated ranker/eu 2', 'updated ranker/eu 3'],
    ]);
  });

  it('no page whose series have all recovered', () => {
    const story = { 12: [first], 100: [resolved(first, 100), opened('ranker/us', 80)] };
    expect(outline(run(story))).toEqual([
      ...['opened ranker/eu', 'resolved ranker/eu', 'opened ranker/us'],
    ]);
  });

  it('the page that is nearest in time', () => {
    const queue = opened('ads/eu', 250, { stage: 'queue' });
    const between = opened('ads/us', 240);
    const story = { 12: [first], 262: [queue], 270: [between], 900: [] };
    expect(outline(run(story)).slice(2)).toEqual(['updated ads/eu 2']);
  });

  it.each([
    ['cause', 1],
    ['model', 2],
    ['series', 4],
  ])('within group_by: %s', (group_by, pages) => {
    const story = {
      12: [first, opened('ranker/us', 0), opened('ads/eu', 0), opened('ads/us', 0)],
    };
    expect(run(story, detectOptions({ group_by })).filter(isPage)).toHaveLength(pages);
  });
});

describe('half of all series', () => {
  const models = ['a', 'b', 'c', 'd'];
  const all = models.flatMap((model) => ['eu', 'us', 'ap'].map((r) => seriesOf(`${model}/${r}`)));
  const stages = ['queue', 'features', 'forward', 'parse'];
  const storm = (count: number) =>
    all
      .slice(0, count)
      .map(({ model, region }) =>
        opened(`${model}/${region}`, 0, { stage: stages[models.indexOf(model)] ?? '' }),
      );

  const late = (events: AnomalyEvent[], name: string) =>
    events.map((event) => (event.model === name ? { ...event, started_at: at(120) } : event));
  it('of three models at once have one cause, whatever their stages', () => {
    expect(outline(run({ 12: storm(7) }, detectOptions(), all))).toEqual(['opened a/ap 7']);
  });

  it.each([
    ['fewer than half', storm(7), [...all, ...all.map((each) => ({ ...each, tenant: 't' }))]],
    ['two models', storm(6), all],
    ['two models, and one that began two minutes later', late(storm(7), 'c'), all],
  ])('differ from %s', (_, events, among) => {
    expect(run({ 12: events }, detectOptions(), among).filter(isPage).length).toBeGreaterThan(1);
  });
});

describe('an incident', () => {
  it('emits an update after five minutes, unless it gets worse', () => {
    const regions = ['us', 'ap', 'sa', 'me'];
    const joining = regions.map((region, n) => opened(`ranker/${region}`, 60 * n));
    const story = Object.fromEntries(joining.map((event, n) => [60 * n + 24, [event]]));
    const idle = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [10 * n + 205, []]));
    const emitted = run({ 12: [first], ...story, ...idle }).filter(isPage);
    expect(outline(emitted)).toEqual(['opened ranker/eu', 'updated ranker/eu 5']);
    expect(emitted[1]?.emitted_at).toBe(at(315));
  });

  it('emits at once when it becomes critical, by one series or by all together', () => {
    const worse = opened('ranker/us', 20, { severity: 'critical' });
    const byOne = run({ 12: [first], 32: [worse] }).filter(isPage);
    expect(byOne.map(({ severity }) => severity)).toEqual(['warning', 'critical']);
    const total = { ...first.evidence, measured_stage: 'total' };
    const part = { affected_share: 0.03, evidence: total };
    const byAll = run({ 12: [opened('ranker/eu', 0, part)], 32: [opened('ranker/us', 20, part)] });
    expect(byAll.filter(isPage).map(({ severity }) => severity)).toEqual(['warning', 'critical']);
  });

  it('emits at once when another model becomes critical, once for each', () => {
    const shared = { stage: 'features', severity: 'critical' } as const;
    const lead = opened('ranker/eu', 0, shared);
    const other = opened('ads/eu', 20, { ...shared, severity: 'warning' });
    const worse: AnomalyEvent = { ...other, state: 'updated', revision: 2, severity: 'critical' };
    const emitted = run({ 12: [lead], 32: [other], 52: [worse], 62: [], 72: [] });
    expect(outline(emitted)).toEqual(['opened ranker/eu', 'updated ranker/eu 2']);
    expect(emitted.filter(isPage).at(-1)?.emitted_at).toBe(at(52));
  });

  it('never lowers its severity, however many recover', () => {
    const worse = opened('ranker/us', 20, { severity: 'critical' });
    const story = { 12: [first], 32: [worse], 200: [resolved(worse, 200)], 900: [] };
    const emitted = run({ ...story, 950: [resolved(first, 950)] }).filter(isPage);
    expect(emitted.map(({ severity }) => severity)).toEqual(['warning', 'critical', 'critical']);
  });

  it('emits nothing for a fourteenth series when twelve are known', () => {
    const regions = Array.from({ length: 13 }, (_, n) => `r${n}`);
    const together = regions.slice(0, 12).map((region) => opened(`ranker/${region}`, 0));
    const story = { 12: together, 400: [opened('ranker/r12', 200)], 900: [] };
    expect(outline(run(story))).toEqual(['opened ranker/r0 12']);
  });

  it('emits new measurements of its leading series, at its own times', () => {
    const grown = { ...first, revision: 2, emitted_at: at(100), ratio: 8 };
    const emitted = run({ 12: [first, second], 100: [grown], 300: [], 310: [] }).filter(isPage);
    expect(emitted.map(({ emitted_at, ratio }) => `${emitted_at} ${ratio}`)).toEqual([
      ...[`${at(12)} 4`, `${at(310)} 8`],
    ]);
  });

  it('uses another key for another fault of its leading series while its page is open', () => {
    const story = { 12: [first, second], 600: [resolved(first, 600)] };
    const again = opened('ranker/eu', 4_000, { stage: 'queue' });
    const emitted = run({ ...story, 4012: [again], 5000: [resolved(again, 5_000)] }).filter(isPage);
    expect(emitted.map(({ state, dedup_key }) => `${state} ${dedup_key}`)).toEqual([
      `opened ${first.dedup_key}`,
      `opened ${first.dedup_key}.2`,
      `resolved ${first.dedup_key}.2`,
    ]);
    expect(emitted[1]?.id).toBe(again.id);
  });

  it('counts a series that is affected again once', () => {
    const again = opened('ranker/eu', 500);
    const story = { 12: [first, second], 400: [resolved(first, 400)], 512: [again], 900: [] };
    expect(outline(run(story))).toEqual(['opened ranker/eu 2']);
    const end = run({ ...story, 1000: [resolved(second, 1_000), resolved(again, 1_000)] });
    expect(outline(end)).toEqual(['opened ranker/eu 2', 'resolved ranker/eu 2']);
  });

  it('joins drifts of one model within a day, and separates those of two models', () => {
    const drift = (name: string, hour: number) =>
      opened(name, hour * 3_600, { kind: 'drift', dedup_key: `drift/${name}`, severity: 'info' });
    const story = {
      0: [drift('ranker/eu', 0)],
      36000: [drift('ads/eu', 10)],
      72000: [drift('ranker/us', 20)],
      180000: [drift('ranker/ap', 50)],
    };
    expect(outline(run(story)).filter((line) => line.startsWith('opened'))).toEqual([
      'opened ranker/eu',
      'opened ads/eu',
    ]);
    expect(outline(run(story)).at(-1)).toBe('updated ranker/eu 3');
  });
});
