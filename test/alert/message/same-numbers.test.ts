import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anomalyMessage } from '../../../src/alert/message/anomaly-message.ts';
import { lookFirst } from '../../../src/alert/message/look-first.ts';
import { anomalyText } from '../../../src/cli/commands/anomalies.ts';
import { renderExplanation } from '../../../src/cli/text/render-explanation.ts';
import {
  type AnomalyEvent,
  anomalyEventSchema,
  type Scope,
  type ScopeMember,
} from '../../../src/contract/anomaly-event.ts';
import { withAsOf } from '../../../src/contract/as-of.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { anomalySummary } from '../../../src/detect/event/anomaly-summary.ts';
import { classedStage, splitExcess } from '../../../src/detect/event/blame.ts';
import { bottleneck } from '../../../src/detect/event/bottleneck.ts';
import { incidentSummary } from '../../../src/detect/incident/incident-summary.ts';
import { failures, proportionSummary } from '../../../src/detect/proportion/proportion.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { noticeOf } from '../receivers/kit/notices.ts';

const standardStages = ['queue', 'forward', 'features', 'ingress', 'parse', 'postprocess'];
const stages = [...standardStages, 'decode', 'prefill', 'rerank'];
const measuredAt = '2026-11-01T12:09:50.000Z';
const ms = fc.double({ min: 0.05, max: 90_000, noNaN: true });

/** A series whose blame adds up, as the detector makes it: measured against a baseline that is faster. */
const measured = fc
  .record({
    region: fc.constantFrom('eu-west-1', 'us-east-1', 'ap-south-1'),
    version: fc.constantFrom('v1', 'v2', 'v3'),
    baseline_ms: ms,
    ratio: fc.double({ min: 1.05, max: 40, noNaN: true }),
    quantile: fc.constantFrom(0.95, 0.99, 0.999),
    requests: fc.integer({ min: 50, max: 5_000_000 }),
    before: fc.array(ms, { minLength: 3, maxLength: 3 }),
    names: fc.uniqueArray(fc.constantFrom(...stages), { minLength: 3, maxLength: 3 }),
    growth: fc.array(fc.double({ min: 0.6, max: 9, noNaN: true }), { minLength: 3, maxLength: 3 }),
    rest: fc.double({ min: 0, max: 500, noNaN: true }),
  })
  .filter(({ before, growth, rest }) => {
    const rise = before.reduce((sum, each, i) => sum + each * ((growth[i] ?? 1) - 1), rest);
    return rise > 0.1;
  })
  .map(({ names, before, growth, rest, ...fields }) => {
    const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
    const now = before.map((each, i) => each * (growth[i] ?? 1));
    const meansOf = (values: readonly number[]) =>
      new Map(names.map((name, i) => [name, values[i] ?? 0]));
    const blame = splitExcess(
      { totalMs: sum(now) + rest, stagesMs: meansOf(now) },
      { totalMs: sum(before), stagesMs: meansOf(before) },
      StageTable.standard,
    );
    const parts = blame ?? [];
    const { fixture } = { fixture: anomalyFixture() };
    const event = {
      ...fixture,
      ...fields,
      observed_ms: fields.baseline_ms * fields.ratio,
      interval_ms: [fields.baseline_ms, fields.baseline_ms * fields.ratio * 2] as [number, number],
      blame: parts,
      stage: parts[0]?.stage ?? 'total',
      bottleneck: bottleneck({ blame: parts, coldStart: false, medianRatio: 2 }),
      evidence: { ...fixture.evidence, exceedances: fields.requests / 3, expected: 1.5 },
    };
    return dated(event, anomalySummary(event));
  });

/** A stage that got slow on its own, as a second cause next to an open anomaly is measured. */
const secondCause = measured.map((event) => {
  const { stage, baseline_ms, observed_ms } = event;
  const own = { ...classedStage(stage, StageTable.standard), excess_ms: observed_ms - baseline_ms };
  const evidence = { ...event.evidence, measured_stage: stage };
  const second = { ...event, evidence, blame: [{ ...own, share: 1 }] };
  return dated({ ...second, dedup_key: `${event.dedup_key}/${stage}` }, anomalySummary(second));
});

/** A series in which requests fail: its latency is beside that. */
const failing = fc
  .tuple(measured, fc.double({ min: 1e-4, max: 0.1, noNaN: true }), fc.integer({ min: 2, max: 9 }))
  .map(([event, baseline, times]) => {
    const observed = Math.min(1, baseline * times);
    const interval: [number, number] = [observed / 2, Math.min(1, observed * 2)];
    const unit = 'failures per request' as const;
    const rate = { unit, observed, baseline, ratio: observed / baseline, interval };
    const exceedances = Math.round(event.requests * observed);
    const expected = event.requests * baseline;
    const failed = {
      ...event,
      ...{
        kind: 'error_rate' as const,
        rate,
        blame: [],
        stage: 'total',
        bottleneck: 'unknown' as const,
      },
      evidence: { ...event.evidence, exceedances, expected },
    };
    return dated(failed, proportionSummary(failures, failed, rate, []));
  });

/** With the time of its measurement, as the detector dates it. */
function dated<Event extends Pick<AnomalyEvent, 'observed_ms' | 'ratio'>>(
  event: Event,
  summary: string,
) {
  const { observed_ms, ratio } = event;
  const peak = { observed_ms: 2 * observed_ms, ratio: 2 * ratio, at: '2026-11-01T12:05:10.000Z' };
  return { ...event, measured_at: measuredAt, peak, summary: withAsOf(summary, measuredAt) };
}

const state = fc.constantFrom('opened' as const, 'updated' as const, 'resolved' as const);

/** An incident of two to ten series, as the detector publishes it: its own numbers are those of the first. */
const incidentOf = (series: fc.Arbitrary<AnomalyEvent>) =>
  fc
    .record({
      lead: series,
      others: fc.array(series, { minLength: 1, maxLength: 9 }),
      worstAt: fc.nat(),
      state,
      more: fc.nat(20),
      recovered: fc.nat(1),
    })
    .map(({ lead, others, worstAt, state: is, more, recovered }): AnomalyEvent => {
      const all = [lead, ...others];
      const first = all[worstAt % all.length] ?? lead;
      const affected = [first, ...all.filter((each) => each !== first)];
      const isOver = is === 'resolved';
      const scope: Scope = {
        affected: affected.length,
        unresolved: isOver ? 0 : Math.max(1, affected.length - recovered),
        total: affected.length + more,
        common: [],
        values: [],
      };
      const { interval_ms, requests, evidence, blame, bottleneck: kind, sql } = first;
      const summary = { state: is, scope, models: ['ranker'], detail: first.summary };
      return {
        ...lead,
        ...timesOf(is),
        scope,
        members: affected.map((event, i) => memberOf(event, `${i}`.padStart(32, '0'))),
        worst: { interval_ms, requests, evidence, blame, bottleneck: kind, sql },
        summary: incidentSummary(summary),
      };
    });

const incident = incidentOf(measured);

const aloneOf = (series: fc.Arbitrary<AnomalyEvent>) =>
  fc.tuple(series, state).map(([event, is]): AnomalyEvent => ({ ...event, ...timesOf(is) }));

function timesOf(is: AnomalyEvent['state']) {
  const times = { state: is, emitted_at: '2026-11-01T12:10:00.000Z' };
  if (is !== 'resolved') return times;
  const resolved_at = '2026-11-01T12:10:00.000Z';
  return { ...times, resolved_at, resolution: 'recovered' as const };
}

function memberOf(event: AnomalyEvent, id: string): ScopeMember {
  const { service, model, version, request_type, region, host, tenant, cold_start } = event;
  const { stage, quantile, severity, observed_ms, baseline_ms, ratio, started_at } = event;
  const series = { service, model, version, request_type, region, host, tenant, cold_start };
  const { rate, measured_at, peak, evidence } = event;
  const own = { stage, quantile, severity, observed_ms, baseline_ms, ratio, rate, started_at };
  const times = { measured_at, peak, resolved_at: null };
  return { id, ...series, ...own, ...times, measured_stage: evidence.measured_stage };
}

interface Shown {
  readonly title: string;
  readonly facts: ReadonlyMap<string, string>;
  readonly explained: string;
  readonly listed: string;
}

function shownOf(event: AnomalyEvent): Shown {
  const change = event.state;
  const { title, facts } = anomalyMessage(noticeOf(change, { event }), 'full', {});
  const parts = { timeline: [], drivers: [], mix: null, members: [], slowest: [], lengths: null };
  const io = { color: false };
  const nowMs = Date.parse('2026-11-01T13:00:00.000Z');
  return {
    title,
    facts: new Map(facts.map(({ label, text }) => [label, text])),
    explained: renderExplanation({ events: [event], ...parts }, io, nowMs),
    listed: anomalyText(event, io),
  };
}

const found = (pattern: RegExp, text = '') => [...text.matchAll(pattern)].map(([, part]) => part);

/** Texts that say the same of one event: each list must have one value at most. */
function claimsOf(event: AnomalyEvent): Readonly<Record<string, readonly (string | undefined)[]>> {
  const { title, facts, explained, listed } = shownOf(event);
  const [blame = '', what = '', how = ''] = ['Blame', 'What', 'How far'].map(
    (label) => facts.get(label) ?? '',
  );
  const summary = facts.get('Now') ?? what;
  const one = facts.get('Most affected') ?? facts.get('Was') ?? what;
  // At the end the present value is the summary's.
  const open = event.state === 'resolved' ? '' : title;
  const everywhere = [one, explained, listed, event.scope === undefined ? '' : summary];
  return {
    ratio: [
      ...found(/([\d.]+x) its baseline/g, open),
      ...everywhere.flatMap((text) => found(/([\d.]+x) its baseline/g, text)),
      ...found(/baseline [\d.,]+ m?s, ([\d.]+x)/g, one),
    ],
    observed: [
      ...found(/ p[\d.]+(?: of \w+)? ([\d.,]+ m?s), [\d.]+x its/g, open),
      ...everywhere.flatMap((text) => found(/ is ([\d.,]+ m?s), [\d.]+x its/g, text)),
      ...found(/p[\d.]+ of \w+ ([\d.,]+ m?s) \(/g, one),
      ...found(/: ([\d.,]+ m?s) \(95 % interval/g, explained),
    ],
    baseline: [
      ...everywhere.flatMap((text) => found(/its baseline of ([\d.,]+ m?s)/g, text)),
      ...found(/, baseline ([\d.,]+ m?s)/g, one),
      ...found(/exceeded ([\d.,]+ m?s)/g, explained),
    ],
    'as of': [title, one, what, explained, listed].flatMap((text) =>
      found(/as of (?:\d{4}-\d\d-\d\d )?(\d\d:\d\d)/g, text),
    ),
    peak: [
      ...found(/^([\d.,]+ m?s|[\d.]+ %),/g, facts.get('Peak')),
      ...found(
        /(?:at its worst until then|peak: ) +([\d.,]+ m?s|[\d.]+ %),/g,
        `${explained}\n${listed}`,
      ),
    ],
    'failed share': [
      ...[open, one, ...everywhere].flatMap((text) => found(/([\d.]+ %) of requests fail/g, text)),
      ...found(/rate: ([\d.]+ %) \(95 %/g, explained),
    ],
    'failed share of the baseline': [
      ...[one, ...everywhere].flatMap((text) => found(/baseline ([\d.]+ %)/g, text)),
    ],
    'times as many failures': [
      ...found(/fail, ([\d.]+x) the baseline/g, open),
      ...found(/baseline [\d.]+ %, ([\d.]+x);/g, one),
    ],
    series: [title, how, summary, explained, listed].flatMap((text) =>
      found(/(\d+ of \d+)(?: ranker)? series/g, text),
    ),
    requests: [...found(/; ([\d,]+) requests/g, one), ...found(/of ([\d,]+) requests/g, explained)],
    rise: [
      ...found(/: mean \+([\d.,]+ m?s)/g, `${blame}\n${explained}\n${listed}`),
      ...found(/the mean by ([\d.,]+ m?s)/g, `${summary}\n${explained}\n${listed}`),
    ],
    'slowest part': [
      ...found(/slowest ([\d.]+ %)/g, `${blame}\n${summary}\n${explained}\n${listed}`),
    ],
    'excess of the blamed stage': [
      ...found(/; (?:unaccounted time|\w+) \+([\d.,]+ m?s) \(/g, `${blame}\n${listed}`),
      ...found(/(?:unaccounted|\w+) rose by ([\d.,]+ m?s)/g, `${summary}\n${explained}\n${listed}`),
      ...found(/mean excess +share\n +(?:unaccounted time|\w+) +\+([\d.,]+ m?s)/g, explained),
    ],
    'blamed stage': [
      ...found(/, blame ([\w ]+?)(?:;|$)/g, open),
      ...found(/; (unaccounted time|\w+) \+[\d.,]+ m?s \(/g, `${blame}\n${listed}`),
      ...found(/mean excess +share\n +(unaccounted time|\w+) +\+/g, explained),
    ],
    'where to look': [
      ...(facts.has('Look first')
        ? [facts.get('Look first')?.replace(/; other series blame .*/, '')]
        : []),
      ...found(/ look: +(.+)/g, `${explained}\n${listed}`),
    ],
  };
}

describe('title, facts and console of one event', () => {
  it.each([
    ['of one series', aloneOf(measured)],
    ['of an incident', incident],
    ['of a second cause', aloneOf(secondCause)],
    ['of failures', aloneOf(failing)],
    ['of an incident of failures', incidentOf(failing)],
  ])('%s say the same number for the same thing', (_, events) => {
    fc.assert(
      fc.property(events, (event) => {
        expect(anomalyEventSchema.safeParse(event).error?.issues).toBeUndefined();
        for (const [what, texts] of Object.entries(claimsOf(event))) {
          expect([what, ...new Set(texts)]).toHaveLength(texts.length === 0 ? 1 : 2);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    [
      'slow requests',
      incident,
      ['failed share', 'failed share of the baseline', 'times as many failures'],
    ],
    [
      'failures',
      incidentOf(failing),
      [
        ...['ratio', 'observed', 'rise', 'slowest part', 'excess of the blamed stage'],
        ...['blamed stage', 'baseline'],
      ],
    ],
  ])('are all there, so that the comparison compares something: %s', (_, events, absent) => {
    const [event] = fc.sample(
      events.filter((each) => each.state === 'updated'),
      { numRuns: 1, seed: 5 },
    );
    if (event === undefined) throw new Error('no sample');
    const compared = Object.entries(claimsOf(event)).filter(([, texts]) => texts.length > 1);
    const missing = Object.keys(claimsOf(event)).filter(
      (what) => !compared.some(([name]) => name === what),
    );
    expect(missing.filter((what) => !absent.includes(what))).toEqual([]);
  });
});

describe('where to look first', () => {
  const lookOf = (
    blame: readonly (readonly [string, number])[],
    changed: Partial<AnomalyEvent> = {},
  ) => {
    const parts = blame.map(([stage, share]) => ({
      ...classedStage(stage, StageTable.standard),
      ...{ excess_ms: 1_000 * share, share },
    }));
    const kind = bottleneck({ blame: parts, coldStart: false, medianRatio: 2 });
    const stage = parts[0]?.stage ?? 'total';
    return lookFirst(anomalyFixture({ blame: parts, stage, bottleneck: kind, ...changed }));
  };

  it.each([
    [
      [['rerank', 1.01]],
      'what rerank does and calls, and what was released last (stages.rerank.class of the configuration would say more)',
    ],
    [[['queue', 0.8]], 'queue depth, concurrency and replicas of the model server'],
    [[['unaccounted', 0.7]], 'traces of the slowest requests: no stage accounts for their time'],
    [
      [
        ['features', 0.4],
        ['parse', 0.3],
        ['postprocess', 0.3],
      ],
      'features first: the feature store: its latency, timeouts and cache hits; then request and response sizes, parsing, garbage collection',
    ],
    [
      [
        ['prefill', 0.4],
        ['queue', 0.3],
        ['forward', 0.3],
      ],
      'prefill first: prompts: their lengths, prefix-cache hits, and what is batched with them; then what changed for several stages at once: hosts, releases, load',
    ],
  ] as const)('follows from the blame of %j', (blame, look) => {
    expect(lookOf(blame)).toBe(look);
  });

  it('never claims that no stage accounts for the time where one does', () => {
    fc.assert(
      fc.property(measured, (event) => {
        const isUnaccounted = event.stage === 'unaccounted';
        expect(lookFirst(event).includes('no stage accounts')).toBe(isUnaccounted);
      }),
    );
  });

  it.each(['cold_start', 'traffic_mix'] as const)('is the requests themselves for %s', (kind) => {
    const look = lookOf([['forward', 0.9]], { bottleneck: kind });
    expect(look).toMatch(kind === 'cold_start' ? /^model loads/ : /^what clients send/);
  });
});
