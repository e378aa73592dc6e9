import { describe, expect, it } from 'vitest';
import { renderComparison } from '../../../src/cli/text/render-comparison.ts';
import type { ComparedMinute } from '../../../src/compare/compared-minute.ts';
import { compareVersions } from '../../../src/compare/verdict/compare-versions.ts';
import type { Bands } from '../../../src/series/series-window.ts';
import { TDigest } from '../../../src/sketch/t-digest.ts';
import { minutesOf, startMs, type Traffic, withStage } from '../traffic.ts';

const names = { candidate: 'v2', baseline: 'v1' };
const v1: Traffic = { requests: 300 };
const compare = (minutes: readonly ComparedMinute[]) => compareVersions({ ...names, minutes });
const nothing = { verdict: 'inconclusive', missing_requests: 500, minutes: 0, stages: [] };

describe('two versions', () => {
  const neverBoth = 'no minute has requests of both version v2 and version v1';
  const notInRange = (version: string) => `no request of version ${version} in the compared range`;
  it.each([
    ['no minute', neverBoth, []],
    ['no baseline', notInRange('v1'), minutesOf('a', 20, v1, undefined)],
    ['no candidate', notInRange('v2'), minutesOf('a', 20, undefined, v1)],
    ['no requests', neverBoth, minutesOf('a', 20, { requests: 0 }, { requests: 0 })],
    ['none of the baseline', notInRange('v1'), minutesOf('a', 20, v1, { requests: 0 })],
    [
      'never both',
      neverBoth,
      [...minutesOf('a', 1, v1, undefined), { startMs: 0, ...minutesOf('b', 1, undefined, v1)[0] }],
    ],
  ] as const)('with %s have no verdict', (_, reason, minutes) => {
    const distinct = minutes.map((minute, i) => ({ ...minute, startMs: startMs + i * 60_000 }));
    const compared = compare(distinct);
    expect({ ...compared, stages: [] }).toMatchObject(nothing);
    expect(compared.reason).toBe(reason);
    expect(compared.quantiles.map(({ ratio_low, ratio_high }) => [ratio_low, ratio_high])).toEqual(
      Array(4).fill([null, null]),
    );
  });

  const seen = (...versions: readonly string[]) => ({ versions, models: [] });
  it.each([
    [
      'an unknown baseline',
      seen('v2', 'v11', 'canary'),
      'no request of version v1 of model ranker in the last 30 d; known versions: v11, canary',
    ],
    [
      'an unknown version of many',
      seen('v1', 'a', 'b', 'v22', 'd', 'e', 'f', 'g'),
      'no request of version v2 of model ranker in the last 30 d; known versions: v22, a, b, d, e and 2 more',
    ],
    [
      'both unknown, and requests without a version',
      seen(''),
      'no request of versions v2 and v1 of model ranker in the last 30 d; known versions: (none)',
    ],
    [
      'no version but its own',
      seen('v2'),
      'no request of version v1 of model ranker in the last 30 d; known versions: v2',
    ],
    [
      'an unknown model',
      { versions: [], models: ['search', 'rankers'] },
      'no request of model ranker in the last 30 d; known models: rankers, search',
    ],
    [
      'nothing stored at all',
      { versions: [], models: [] },
      'no request of model ranker in the last 30 d',
    ],
    ['versions of another time', seen('v1', 'v2'), neverBoth],
  ])('with %s say so, and what is known', (_, known, reason) => {
    const compared = compareVersions({
      ...{ ...names, minutes: [] },
      known: { model: 'ranker', days: 30, ...known },
    });
    expect(compared).toMatchObject({ verdict: 'inconclusive', reason });
  });

  it.each([
    ['a minute of NaN requests', { requests: Number.NaN, failed: 0, stages: new Map() }],
    ['-1 of 5 requests failed', { requests: 5, failed: -1, stages: new Map() }],
    ['6 of 5 requests failed', { requests: 5, failed: 6, stages: new Map() }],
    ['NaN of 5 requests failed', { requests: 5, failed: Number.NaN, stages: new Map() }],
  ])('are refused with %s', (message, candidate) => {
    expect(() => compare([{ startMs, candidate }])).toThrow(message);
  });

  it('are refused with a minute twice', () => {
    const minutes = minutesOf('twice', 1, v1, v1);
    expect(() => compare([...minutes, ...minutes])).toThrow('two minutes start at');
  });

  it('of one minute say how many requests are missing', () => {
    const compared = compare(minutesOf('one', 1, v1, v1));
    expect(compared).toMatchObject({ verdict: 'inconclusive', minutes: 1 });
    expect(compared.missing_requests).toBeGreaterThanOrEqual(5 * 300);
    expect(compared.reason).toMatch(
      /^needs about [\d,]+ more requests of version v2 while version v1 serves too$/,
    );
  });

  it('say why one fails: by how much, and which stage', () => {
    const totals = [10, 90];
    const bands = (share: number): Bands => ({
      bands: [20, 30],
      amounts: totals.map((n) => n * share),
    });
    const stagesOf = (queue: number, forward: number) =>
      new Map([
        ['total', { bands: bands(1), bandsMs: bands(queue + forward) }],
        ['queue', { bands: bands(queue), bandsMs: bands(0) }],
        ['forward', { bands: bands(forward), bandsMs: bands(0) }],
      ]);
    const compared = compareVersions({
      ...names,
      minutes: minutesOf('slow', 20, { requests: 300, factor: 2 }, v1),
      bands: { candidate: stagesOf(80, 35), baseline: stagesOf(40, 30) },
    });
    expect(compared).toMatchObject({ verdict: 'fail', missing_requests: 0, minutes: 20 });
    expect(compared.reason).toMatch(
      /^p99 is 1\.\d+ times that of version v1 \(\d+ ms against [\d.]+ ms\); queue explains 89 % of its rise \(slowest 1 %: mean \+45 ms\)$/,
    );
    expect(compared.stages.map(({ stage, excess_ms }) => [stage, excess_ms])).toEqual([
      ['queue', 40],
      ['forward', 5],
    ]);
    const [queue, forward] = compared.stages.map(({ quantiles }) => quantiles.at(-1));
    expect(queue?.ratio_low).toBeGreaterThan(1.5);
    expect(queue?.ratio_high).toBeLessThan(2.5);
    expect(forward?.ratio_low).toBeLessThan(1);
    expect(forward?.ratio_high).toBeGreaterThan(1);
    expect(compared.failed_at).toBe(new Date(startMs + 6 * 60_000).toISOString());
  });

  it('name the rise that a stage is a part of: of all that rose, never more than all of it', () => {
    const totals = [10, 90];
    const bands = (share: number): Bands => ({
      bands: [20, 30],
      amounts: totals.map((n) => n * share),
    });
    const stagesOf = (queue: number, forward: number) =>
      new Map([
        ['total', { bands: bands(1), bandsMs: bands(queue + forward) }],
        ['queue', { bands: bands(queue), bandsMs: bands(0) }],
        ['forward', { bands: bands(forward), bandsMs: bands(0) }],
      ]);
    const compared = compareVersions({
      ...names,
      minutes: minutesOf('slow', 20, { requests: 300, factor: 2 }, v1),
      bands: { candidate: stagesOf(90, 20), baseline: stagesOf(40, 27) },
    });
    const [queue] = compared.stages;
    expect(queue?.stage).toBe('queue');
    expect(queue?.excess_ms).toBeCloseTo(50, 9);
    expect(queue?.share_of_excess).toBe(1);
    expect(compared.reason).toMatch(
      /; queue explains 100 % of its rise \(slowest 1 %: mean \+43 ms\)$/,
    );
    const shown = renderComparison(
      {
        ...{ ...compared, model: 'ranker', version: 'v2', baseline: 'v1' },
        ...{ mix: [], like_with_like: null },
      },
      { color: false, columnCount: 120 },
    );
    expect(shown).toMatch(/^queue .* 100 %$/m);
    expect(shown).toMatch(/^forward .* 0 %$/m);
    expect(shown).toMatch(/^p99 of stage .* of the rise$/m);
  });

  it('list the time that no stage measured, so that the shares add up, and no milestone', () => {
    const only = (ms: number) => ({
      bands: { bands: [20], amounts: [ms] },
      bandsMs: { bands: [], amounts: [] },
    });
    const stagesOf = (queue: number, total: number) =>
      new Map([
        [
          'total',
          {
            bands: { bands: [20], amounts: [100] },
            bandsMs: { bands: [20], amounts: [100 * total] },
          },
        ],
        ['queue', only(100 * queue)],
        ['first_token', only(100 * (queue + 5))],
      ]);
    const { stages } = compareVersions({
      ...names,
      minutes: minutesOf('slow', 20, { requests: 300, factor: 2 }, v1),
      bands: { candidate: stagesOf(40, 80), baseline: stagesOf(10, 40) },
    });
    const shares = stages.flatMap(({ stage, share_of_excess: share }) =>
      share === null ? [] : [[stage, share] as const],
    );
    expect(shares.map(([stage]) => stage)).toEqual(['queue', 'unaccounted']);
    expect(shares.map(([, share]) => share)).toEqual([0.75, 0.25]);
  });

  it('say why one passes', () => {
    const compared = compare(minutesOf('equal', 60, v1, v1));
    expect(compared).toMatchObject({
      verdict: 'pass',
      missing_requests: 0,
      failed_at: null,
      failed_by: null,
      failed_stage: null,
      tested_stages: ['total'],
    });
    expect(compared.reason).toMatch(
      /^p99 is \d.* times that of version v1 \(.*\); within 1.3 times or 5 ms at p50, p95 and p99$/,
    );
    const p99 = compared.quantiles.at(-1);
    expect(p99?.ratio_low).toBeLessThan(1);
    expect(p99?.ratio_high).toBeGreaterThan(1);
    expect(p99?.ratio_high).toBeLessThan(1.3);
  });

  it('all of whose requests fail, fail; of both, do not', () => {
    const failing = { requests: 300, failing: 1 };
    const compared = compare(minutesOf('all', 20, failing, v1));
    expect(compared).toMatchObject({ verdict: 'fail', failed_by: 'failures' });
    expect(compared.reason).toBe('100 % of requests fail, against 0 % of version v1');
    expect(compare(minutesOf('all', 60, failing, failing)).verdict).not.toBe('fail');
  });

  it('say when one failed that is as fast as the other by now', () => {
    const later = minutesOf('now', 200, v1, v1).map((minute) => ({
      ...minute,
      startMs: minute.startMs + 10 * 60_000,
    }));
    const compared = compare([
      ...minutesOf('then', 10, { requests: 300, factor: 2 }, v1),
      ...later,
    ]);
    expect(compared.verdict).toBe('fail');
    expect(compared.reason).toMatch(/; failed at 2026-11-01T12:06:00.000Z$/);
  });

  it('are compared in the order of time, whatever the order of the minutes', () => {
    const minutes = minutesOf('order', 20, { requests: 300, factor: 1.2 }, v1);
    expect(compare(minutes.toReversed())).toEqual(compare(minutes));
  });

  it('without a total are compared by the stage with most requests', () => {
    const minutes = minutesOf('stage', 20, { requests: 300, factor: 2 }, v1);
    for (const { candidate, baseline } of minutes) {
      for (const version of [candidate, baseline]) {
        const stages = version?.stages as Map<string, unknown> | undefined;
        stages?.delete('total');
        stages?.delete('forward');
      }
    }
    expect(compare(minutes)).toMatchObject({ verdict: 'fail', stages: [] });
  });

  it('need fewer requests the more there are, and none without need', () => {
    const minutes = minutesOf('missing', 20, { requests: 300, factor: 1.6 }, v1);
    const missing = minutes.map((_, i) => compare(minutes.slice(0, i + 1)).missing_requests);
    expect(missing[0]).toBeGreaterThan(missing[5] as number);
    expect(missing.at(-1)).toBe(0);
    // At least what any traffic needs: a minute at most doubles the evidence, and 1 in 50 takes 5.6 of them.
    for (const [i, more] of missing.slice(0, 5).entries()) {
      expect(more).toBeGreaterThanOrEqual(300 * (Math.log2(50) - (i + 1)));
    }
  });

  it('keep the names of versions as they are', () => {
    const compared = compareVersions({ candidate: 'a\n<b>', baseline: '%', minutes: [] });
    expect(compared.reason).toBe('no minute has requests of both version a\n<b> and version %');
  });
});

describe('two versions of a language model', () => {
  const served = (factor: number, count = 40) =>
    withStage(withStage(minutesOf('llm', count, v1, v1), { stage: 'first_token', factor }), {
      stage: 'time_per_output_token',
      medianMs: 20,
    });
  const asked = (minutes: readonly ComparedMinute[], tested?: readonly string[]) =>
    compareVersions({ ...names, minutes, tested });

  it('fail by the milestone, which is named as users name it, with its interval', () => {
    const compared = asked(served(1.5));
    expect(compared).toMatchObject({
      ...{ verdict: 'fail', failed_stage: 'first_token' },
      tested_stages: ['total', 'first_token', 'time_per_output_token'],
    });
    expect(compared.reason).toMatch(
      /^TTFT \(first_token\) p99 is 1\.\d+ times that of version v1 \([\d,]+ ms against \d+ ms; interval 1\.\d\d to [12]\.\d\d\); p99 of whole requests is (0\.9|1\.0)?\d* times$/,
    );
    const stage = compared.stages.find(({ stage }) => stage === 'first_token');
    expect(stage?.quantiles.map(({ q }) => q)).toEqual([0.5, 0.95, 0.99]);
    expect(stage?.quantiles[0]?.ratio_low).toBeGreaterThan(1.3);
  });

  it('pass where all that decides is within the margin', () => {
    const compared = asked(served(1));
    expect(compared.verdict).toBe('pass');
    expect(compared.reason).toMatch(
      /; within 1\.3 times or 5 ms at p50, p95 and p99 of total and TTFT \(first_token\); within 1\.3 times at p50, p95 and p99 of TPOT \(time_per_output_token\)$/,
    );
  });

  it('are judged by the stages that were chosen, and by no others', () => {
    const slow = served(1.5);
    expect(asked(slow, ['total'])).toMatchObject({ verdict: 'pass', tested_stages: ['total'] });
    const ofFirst = asked(slow, ['first_token']);
    expect(ofFirst).toMatchObject({ verdict: 'fail', tested_stages: ['first_token'] });
    const ofTokens = asked(slow, ['time_per_output_token']);
    expect(ofTokens.verdict).toBe('pass');
    expect(ofTokens.reason).toMatch(
      /^TPOT \(time_per_output_token\) p99 is [\d.]+ times that of version v1 \([\d.]+ ms against [\d.]+ ms per token; interval 0\.\d\d to 1\.\d\d\); within 1\.3 times at p50, p95 and p99 of TPOT \(time_per_output_token\)$/,
    );
    expect(() => asked(slow, ['first_tokn'])).toThrow('none has "first_tokn"');
  });

  it('say of which stage least is known, and which one is not there', () => {
    expect(asked(served(1.2, 12)).reason).toMatch(
      /^needs about [\d,]+ more requests of version v2 while version v1 serves too; least is known of TTFT \(first_token\) p\d+$/,
    );
    const minutes = withStage(minutesOf('llm', 40, v1, v1), {
      ...{ stage: 'first_token', only: 'baseline' },
    });
    expect(asked(minutes, ['total', 'first_token'])).toMatchObject({
      verdict: 'inconclusive',
      reason: 'no minute has durations of TTFT (first_token) of both version v2 and version v1',
    });
  });
});

describe('blocks of minutes', () => {
  it('hold the same requests, and leave out the last one until it is complete', () => {
    const minutes = minutesOf('blocks', 23, v1, v1);
    const compared = compareVersions({ ...names, minutes }, { blockMinutes: 5 });
    expect(compared).toMatchObject({ minutes: 4, requests: { candidate: 6_000, baseline: 6_000 } });
    const whole = compareVersions({ ...names, minutes: minutes.slice(0, 20) });
    const p99 = (of: typeof whole) => of.quantiles.at(-1)?.candidate_ms ?? 0;
    expect(p99(compared) / p99(whole)).toBeCloseTo(1, 2);
  });

  it('of both versions leave out minutes of one', () => {
    const minutes = minutesOf('blocks', 10, v1, v1).map((minute, i) =>
      i % 2 === 0 ? minute : { startMs: minute.startMs, baseline: minute.baseline },
    ) as ComparedMinute[];
    expect(compareVersions({ ...names, minutes }, { blockMinutes: 5 })).toMatchObject({
      minutes: 2,
      requests: { candidate: 1_500, baseline: 1_500 },
    });
  });
});

describe('durations that tie', () => {
  const minutesWith = (candidate: readonly number[], baseline: readonly number[]) => {
    const of = (values: readonly number[]) => ({
      requests: values.length * 100,
      failed: 0,
      stages: new Map([
        ['total', TDigest.fromValues(Array.from({ length: 100 }, () => values).flat())],
      ]),
    });
    return Array.from({ length: 30 }, (_, i) => ({
      startMs: startMs + i * 60_000,
      candidate: of(candidate),
      baseline: of(baseline),
    }));
  };
  const mostlyZero = [0, 0, 0, 0, 0, 1];

  it.each([
    ['0 ms against 0 ms', [0], [0], 'pass'],
    ['0 ms against a microsecond', [0.001], [0], 'pass'],
    ['0 ms and a few of 1 ms, both', mostlyZero, mostlyZero, 'pass'],
    ['1 ms against 0 ms, within the margin', [1], [0], 'pass'],
    ['0 ms against 1 ms', [0], [1], 'pass'],
    ['20 ms against 0 ms', [20], [0], 'fail'],
    ['0 ms and one in six of 20 ms, against 0 ms', [0, 0, 0, 0, 0, 20], [0], 'fail'],
    ['50 ms against 50 ms', [50], [50], 'pass'],
    ['70 ms against 50 ms', [70], [50], 'fail'],
    ['2 ms against 1 ms, within the margin', [2], [1], 'pass'],
  ])('%s', (_, candidate, baseline, verdict) => {
    const minutes = minutesWith(candidate, baseline);
    expect(compareVersions({ candidate: 'B', baseline: 'A', minutes }).verdict).toBe(verdict);
  });

  it('at 0 ms are said to be equal', () => {
    const compared = compareVersions({
      ...{ candidate: 'v2', baseline: 'v1', minutes: minutesWith([0], [0]) },
    });
    expect(compared.reason).toBe(
      'p99 is that of version v1 (0 ms against 0 ms); within 1.3 times or 5 ms at p50, p95 and p99',
    );
  });
});

describe('ranges that lie in the past', () => {
  const phrases = { candidate: 'B', baseline: 'A' };
  const past = (count: number, traffic: Traffic, more: object = {}) =>
    compareVersions({
      ...{ candidate: '', baseline: '', phrases, remainingMinutes: 0 },
      ...{ minutes: minutesOf('past', count, traffic, v1), ...more },
    });

  it.each([
    [
      'of few minutes',
      () => past(4, { requests: 300, factor: 3 }),
      '4 minutes have requests of both, and it takes at least 6',
    ],
    [
      'of few requests',
      () => past(40, { requests: 8 }),
      'it has 320 requests of B and 12,000 of A, and it takes 500 of each',
    ],
    [
      'of a difference at the margin',
      () => past(7, { requests: 300, factor: 1.3 }),
      '7 minutes of both show neither that the difference is beyond the margin nor that it is within it',
    ],
    [
      'in longer blocks',
      () => past(4, v1, { minutesEach: 5 }),
      '4 blocks of 5 minutes have requests of both, and it takes at least 6',
    ],
  ])('%s ask for no more requests', (_, compared, rest) => {
    expect(compared()).toMatchObject({
      ...{ verdict: 'inconclusive', missing_requests: 0 },
      reason: `too short for a release verdict: ${rest}`,
    });
  });

  it('ask for those that can still come, and for no others', () => {
    const going = (remainingMinutes: number) => past(4, v1, { remainingMinutes }).missing_requests;
    const wanted = past(4, v1, { remainingMinutes: Number.POSITIVE_INFINITY }).missing_requests;
    expect(wanted).toBeGreaterThan(300);
    const minutes = wanted / 300;
    expect([going(minutes + 1), going(minutes - 1)]).toEqual([wanted, 0]);
  });

  it('have the verdict that they give all the same', () => {
    expect(past(20, { requests: 300, factor: 3 })).toMatchObject({ verdict: 'fail' });
    expect(past(20, v1)).toMatchObject({ verdict: 'pass', missing_requests: 0 });
  });
});
