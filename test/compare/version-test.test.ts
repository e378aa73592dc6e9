import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareDefaults } from '../../src/compare/compare-options.ts';
import type { ComparedMinute, VersionMinute } from '../../src/compare/compared-minute.ts';
import { inBlocks } from '../../src/compare/minute-blocks.ts';
import { type StageChoice, VersionTest } from '../../src/compare/version-test.ts';
import { TDigest } from '../../src/sketch/t-digest.ts';
import { DurationTable, lognormal } from '../eval/verdict/duration-law.ts';
import { runVerdict } from '../eval/verdict/run-verdict.ts';
import { verdictCases } from '../eval/verdict/verdict-cases.ts';
import {
  type AddedStage,
  minutesOf,
  scaled,
  type Traffic,
  withGoodput,
  withStage,
} from './traffic.ts';

const state = (test: VersionTest) =>
  test.failed === undefined ? (test.passes ? 'pass' : 'inconclusive') : 'fail';

/** The verdict after each minute. */
function states(minutes: readonly ComparedMinute[], options = compareDefaults): string[] {
  const test = new VersionTest(options);
  return minutes.map((minute) => {
    test.observe(minute);
    return state(test);
  });
}

const v1: Traffic = { requests: 200 };
const slower: Traffic = { requests: 200, factor: 2 };

describe('a sequential test of two versions', () => {
  it('has no verdict before six minutes, whatever they hold', () => {
    const verdicts = states(minutesOf('six', 8, { requests: 5_000, factor: 20, failing: 1 }, v1));
    expect(verdicts.slice(0, 5)).toEqual(Array(5).fill('inconclusive'));
    expect(verdicts[7]).toBe('fail');
  });

  it('has none before each version has its requests', () => {
    const minutes = minutesOf('few', 24, { requests: 25, factor: 10 }, { requests: 1_000 });
    const verdicts = states(minutes);
    expect(verdicts.slice(0, 19)).toEqual(Array(19).fill('inconclusive'));
    expect(verdicts[19]).toBe('fail');
  });

  it('passes an equal version, and keeps passing', () => {
    const verdicts = states(minutesOf('equal', 60, v1, v1));
    expect(verdicts.indexOf('pass')).toBe(11);
    expect(new Set(verdicts.slice(11))).toEqual(new Set(['pass']));
  });

  it('fails for good: a version that recovers stays failed', () => {
    const minutes = [
      ...minutesOf('bad', 10, slower, v1),
      ...minutesOf('good', 100, v1, v1).map((minute) => ({
        ...minute,
        startMs: minute.startMs + 10 * 60_000,
      })),
    ];
    const verdicts = states(minutes);
    expect(verdicts.at(9)).toBe('fail');
    expect(verdicts.at(-1)).toBe('fail');
  });

  it('fails a version that passed, once it gets slow', () => {
    const minutes = [
      ...minutesOf('good', 20, v1, v1),
      ...minutesOf('bad', 60, slower, v1).map((minute) => ({
        ...minute,
        startMs: minute.startMs + 20 * 60_000,
      })),
    ];
    const verdicts = states(minutes);
    expect(verdicts[19]).toBe('pass');
    expect(verdicts[23]).toBe('inconclusive');
    expect(verdicts.at(-1)).toBe('fail');
  });

  it('fails a version that fails more, and not one that fails half a percent more', () => {
    const failing = (share: number) => ({ requests: 400, failing: share });
    expect(states(minutesOf('f', 20, failing(0.03), failing(0.01))).at(-1)).toBe('fail');
    expect(states(minutesOf('f', 200, failing(0.0125), failing(0.01)))).not.toContain('fail');
  });

  it('does not fail a ratio of less than 5 ms', () => {
    const ofShort = (traffic: Traffic) => scaled(minutesOf('short', 60, traffic, v1), 0.02);
    expect(states(ofShort(slower))).not.toContain('fail');
    const options = { ...compareDefaults, minEffectMs: 0 };
    expect(states(ofShort(slower), options)).toContain('fail');
  });

  it.each([
    [20, 'pass'],
    [21, 'pass'],
    [40, 'fail'],
  ])(
    'of requests that all take 20 ms, and of the candidate %i ms, has the verdict %s',
    (ms, verdict) => {
      const minuteOf = (value: number) => ({
        ...{ requests: 800, failed: 0 },
        stages: new Map([['total', TDigest.fromValues(Array(800).fill(value))]]),
      });
      const minutes = Array.from({ length: 12 }, (_, i) => ({
        startMs: i * 60_000,
        ...{ candidate: minuteOf(ms), baseline: minuteOf(20) },
      }));
      expect(states(minutes).at(-1)).toBe(verdict);
    },
  );

  it('learns from minutes of the baseline alone, and ignores those of the candidate alone', () => {
    const alone = { candidate: undefined, baseline: undefined };
    const minutes = minutesOf('alone', 30, slower, v1).map((minute, i) => {
      if (i % 3 === 1) return { startMs: minute.startMs, baseline: minute.baseline };
      if (i % 3 === 2) return { startMs: minute.startMs, candidate: minute.candidate };
      return minute;
    }) as ComparedMinute[];
    const test = new VersionTest(compareDefaults);
    for (const minute of minutes) test.observe(minute);
    expect({ ...alone, minutes: test.minutes, requests: test.candidate.requests }).toEqual({
      ...alone,
      minutes: 10,
      requests: 2_000,
    });
    expect(test.failed?.at).toBeDefined();
  });

  it('is the same with all durations times a power of two, without a difference in ms', () => {
    const options = { ...compareDefaults, minEffectMs: 0 };
    const any = fc.record({
      seed: fc.nat(),
      factor: fc.constantFrom(0.7, 1, 1.15, 1.3, 2),
      power: fc.integer({ min: -6, max: 6 }),
    });
    fc.assert(
      fc.property(any, ({ seed, factor, power }) => {
        const minutes = minutesOf(`${seed}`, 12, { requests: 80, factor }, { requests: 90 });
        expect(states(scaled(minutes, 2 ** power), options)).toEqual(states(minutes, options));
      }),
      { seed: 1, numRuns: 20 },
    );
  });

  it('never goes from fail to anything else, and never passes and fails at once', () => {
    const any = fc.record({
      seed: fc.nat(),
      factors: fc.array(fc.constantFrom(0.5, 1, 1.4, 3), { minLength: 20, maxLength: 20 }),
    });
    fc.assert(
      fc.property(any, ({ seed, factors }) => {
        const minutes = factors.map((factor, i) => ({
          ...(minutesOf(`${seed} ${i}`, 1, { requests: 100, factor }, v1)[0] as ComparedMinute),
          startMs: i * 60_000,
        }));
        const verdicts = states(minutes);
        const failed = verdicts.indexOf('fail');
        if (failed >= 0) expect(new Set(verdicts.slice(failed))).toEqual(new Set(['fail']));
      }),
      { seed: 1, numRuns: 30 },
    );
  });
});

describe('a test of several stages', () => {
  const added = (count: number, ...stages: readonly AddedStage[]) =>
    stages.reduce(withStage, minutesOf('stages', count, v1, v1));
  const testOf = (minutes: readonly ComparedMinute[], choice?: StageChoice) => {
    const test = new VersionTest(compareDefaults, choice);
    for (const minute of minutes) test.observe(minute);
    return test;
  };
  const only = (...stages: readonly string[]): StageChoice => ({
    ...{ whole: 'total', decides: (stage) => stages.includes(stage), required: stages },
  });
  const first: AddedStage = { stage: 'first_token' };

  it('fails a milestone that is slow in requests that are as fast as before, and says which', () => {
    const minutes = added(30, { ...first, factor: 1.5 }, { stage: 'time_per_output_token' });
    const test = testOf(minutes);
    expect([state(test), test.failed?.stage]).toEqual(['fail', 'first_token']);
    expect(test.stages).toEqual(['total', 'first_token', 'time_per_output_token']);
    expect(state(testOf(minutes, only('total')))).toBe('pass');
  });

  it('names the same stage of minutes and of blocks of them, where several are slower', () => {
    const minutes = ['a', 'b', 'c', 'd'].map((seed) => {
      const slow = { factor: 1.7, medianMs: 60 };
      const plain = minutesOf(seed, 40, { requests: 100, factor: 1.8 }, { requests: 100 });
      const first = withStage(plain, { stage: 'first_token', ...slow });
      return withStage(first, { stage: 'time_to_tool', ...slow, factor: 1.75 });
    });
    const named = (of: readonly ComparedMinute[]) => {
      const { stage, at } = testOf(of).failed ?? {};
      return [stage, at];
    };
    for (const each of minutes) expect(named(inBlocks(each, 2))).toEqual(named(each));
  });

  it('leaves parts to explain, and lets them decide where they are chosen', () => {
    const minutes = added(30, { stage: 'retrieval', factor: 1.5 });
    expect(state(testOf(minutes))).toBe('pass');
    expect(testOf(minutes).stages).toEqual(['total']);
    const failed = testOf(minutes, only('total', 'retrieval')).failed;
    expect(failed?.stage).toBe('retrieval');
  });

  it('passes once all stages are known to be within the margin, and not before', () => {
    const minutes = added(40, first);
    const passedAfter = (choice?: StageChoice) =>
      minutes.findIndex((_, i) => testOf(minutes.slice(0, i + 1), choice).passes);
    const alone = passedAfter(only('total'));
    expect(alone).toBeGreaterThan(4);
    expect(passedAfter()).toBeGreaterThanOrEqual(alone);
    // Of the margin, which is shown neither way, not even the total makes up for a stage.
    const between = added(40, { ...first, factor: 1.25 });
    expect(state(testOf(between, only('total')))).toBe('pass');
    expect(testOf(between).passes).toBe(false);
  });

  it('does not pass without a stage that is required, and does not need one that nobody chose', () => {
    const minutes = added(30, { ...first, only: 'baseline' });
    expect(state(testOf(minutes))).toBe('pass');
    const required = testOf(minutes, only('total', 'first_token'));
    expect([state(required), required.absent]).toEqual(['inconclusive', ['first_token']]);
  });

  it('has no verdict by a stage before each version has enough requests with it', () => {
    const rare = { ...first, factor: 3, share: 0.1 };
    expect(testOf(added(24, rare)).failed).toBeUndefined();
    expect(testOf(added(25, rare)).failed?.stage).toBe('first_token');
    const equal = added(24, { ...rare, factor: 1 });
    expect([testOf(equal).passes, testOf(equal, only('total')).passes]).toEqual([false, true]);
  });

  it('counts only the ratio of a time per token', () => {
    const short = { stage: 'time_per_output_token', factor: 1.5, medianMs: 2 };
    expect(testOf(added(40, short)).failed?.stage).toBe('time_per_output_token');
    expect(testOf(added(40, { ...short, stage: 'first_token' })).failed).toBeUndefined();
  });

  it('has the evidence that it had, whenever a stage comes', () => {
    const minutes = added(12, { ...first, after: 6 }, { stage: 'ttfb', after: 8 });
    const alone = minutesOf('stages', 12, v1, v1);
    const logs = (given: readonly ComparedMinute[]) =>
      given.map((_, i) => testOf(given.slice(0, i + 1)).logWorse);
    expect(logs(minutes).slice(0, 6)).toEqual(logs(alone).slice(0, 6));
    // Half of the capital goes on as it did.
    const [whole, ofAll] = [Math.exp(logs(alone)[11] ?? 0), Math.exp(logs(minutes)[11] ?? 0)];
    expect(ofAll).toBeGreaterThan(0.5 * whole);
    const stays = added(30, { ...first, factor: 1.5, after: 10 });
    expect(testOf(stays).failed?.stage).toBe('first_token');
  });

  it('moves half of what there was before the minute in which a stage comes, whatever that minute holds', () => {
    const failing = { requests: 200, failing: 0.2 };
    const before = minutesOf('before', 6, v1, v1);
    const [last] = minutesOf('last', 1, failing, v1).map((minute) => ({
      ...minute,
      startMs: minute.startMs + 6 * 60_000,
    })) as [ComparedMinute];
    // Of equal durations the bet on "worse" loses, so that it adds nothing to what moved.
    const [same] = withStage([last], { ...first, only: 'baseline' }) as [ComparedMinute];
    const digest = same.baseline?.stages.get('first_token') as TDigest;
    const { candidate } = last;
    const stages = new Map([...(candidate?.stages ?? []), ['first_token', digest] as const]);
    const joined = { ...same, candidate: { ...candidate, stages } } as ComparedMinute;
    const capitalOf = (minutes: readonly ComparedMinute[]) => Math.exp(testOf(minutes).logWorse);
    const rest = capitalOf([...before, joined]) - 0.5 * capitalOf([...before, last]);
    expect(rest / capitalOf(before)).toBeGreaterThan(0.25);
    expect(rest / capitalOf(before)).toBeLessThan(0.5);
    expect(capitalOf([...before, last])).toBeGreaterThan(1.2 * capitalOf(before));
  });

  it('without such stages has the verdict that whole requests have', () => {
    for (const factor of [1, 1.3, 2]) {
      const minutes = minutesOf('same', 20, { requests: 200, factor }, v1);
      expect(states(minutes)).toEqual(
        minutes.map((_, i) => state(testOf(minutes.slice(0, i + 1), only('total')))),
      );
    }
  });

  it('never fails equal versions of many stages, asked every minute', () => {
    const names = ['first_token', 'ttfb', 'time_to_plan', 'time_to_tool', 'time_per_output_token'];
    const fails = Array.from({ length: 30 }, (_, seed) => {
      const minutes = minutesOf(`equal ${seed}`, 40, { requests: 30 }, { requests: 120 });
      return state(testOf(names.reduce((all, stage) => withStage(all, { stage }), minutes)));
    });
    expect(fails).not.toContain('fail');
  });
});

describe('a test of goodput', () => {
  const row = 'objective: first_token<=500';
  const other = 'objective: total<=9000';
  const choice = (...objectives: readonly string[]): StageChoice => ({
    ...{ whole: 'total', decides: (stage) => stage === 'total', objectives },
  });
  const testOf = (minutes: readonly ComparedMinute[], of = choice(row)) => {
    const test = new VersionTest(compareDefaults, of);
    for (const minute of minutes) test.observe(minute);
    return test;
  };
  const traffic = (count: number) => minutesOf('goodput', count, v1, v1);

  it('fails a version that misses an objective more often, and says which', () => {
    const missing = withGoodput(traffic(20), row, { candidate: 0.1, baseline: 0.01 });
    const minutes = withGoodput(missing, other, { candidate: 0.01, baseline: 0.01 });
    const test = testOf(minutes, choice(other, row));
    expect(test.failed).toMatchObject({ stage: undefined, at: 'goodput', objective: row });
    expect(test.objectives).toEqual([other, row]);
    expect(test.goodputOf(row)?.candidate).toMatchObject({ requests: 4_000 });
    // Nobody asked for it.
    expect(state(testOf(minutes, choice()))).toBe('pass');
    expect(state(testOf(minutes, choice(other)))).not.toBe('fail');
  });

  it('fails none that misses it as often, or by less than the margin', () => {
    const stateOf = (candidate: number, baseline: number) =>
      state(testOf(withGoodput(traffic(60), row, { candidate, baseline })));
    expect(stateOf(0.01, 0.01)).toBe('pass');
    expect(stateOf(0.5, 0.5)).toBe('pass');
    expect(stateOf(0.0125, 0.01)).not.toBe('fail');
    expect(stateOf(0.22, 0.2)).not.toBe('fail');
    expect(stateOf(0.3, 0.2)).toBe('fail');
    expect(stateOf(0, 1)).toBe('pass');
  });

  it('does not pass before goodput is known to be within the margin', () => {
    const of = (candidate: number) =>
      testOf(withGoodput(traffic(20), row, { candidate, baseline: 0.01 }), choice(row));
    expect([of(0.01).passes, of(0.025).passes]).toEqual([true, false]);
    expect(of(0.025).leastKnown).toMatchObject({ at: 'goodput', objective: row });
  });

  it('has no verdict by it before each version has enough requests that count', () => {
    const rare = (count: number) =>
      minutesOf('rare', count, { requests: 400 }, v1).map((minute) => {
        const one = { ...minute, candidate: minute.candidate as VersionMinute };
        const objectives = new Map([[row, { requests: 20, bad: 20 }]]);
        const baseline = minute.baseline as VersionMinute;
        const none = new Map([[row, { requests: 200, bad: 0 }]]);
        return {
          ...minute,
          candidate: { ...one.candidate, objectives },
          baseline: { ...baseline, objectives: none },
        };
      });
    expect(testOf(rare(24)).failed).toBeUndefined();
    expect(testOf(rare(25)).failed).toMatchObject({ at: 'goodput' });
  });

  it('decides nothing where only one version counts, unless it was required', () => {
    const minutes = withGoodput(traffic(20), row, { candidate: undefined, baseline: 0.01 });
    expect([state(testOf(minutes)), testOf(minutes).objectives]).toEqual(['pass', []]);
    const required = testOf(minutes, { ...choice(row), required: ['total', row] });
    expect([state(required), required.absent]).toEqual(['inconclusive', [row]]);
  });

  it('begins with half of the capital, or with as much as a stage has, and leaves what was bet before', () => {
    const capitalOf = (minutes: readonly ComparedMinute[], of: StageChoice) =>
      Math.exp(testOf(minutes, of).logWorse);
    // Without a bad request the bet neither wins nor loses.
    const none = { candidate: 0, baseline: 0, after: 6 };
    const before = minutesOf('before', 7, { requests: 200, failing: 0.1 }, v1);
    const counted = withGoodput(before, row, none);
    const sixMinutes = capitalOf(before.slice(0, 6), choice());
    const ofObjective = capitalOf(counted, choice(row)) - 0.5 * capitalOf(before, choice());
    expect(ofObjective / sixMinutes).toBeCloseTo(0.5, 9);

    const staged = withStage(counted, { stage: 'first_token' });
    const decides = (stage: string) => ['total', 'first_token'].includes(stage);
    const ofStage = (minutes: readonly ComparedMinute[]) =>
      capitalOf(minutes, { ...choice(), decides }) -
      0.5 * capitalOf(before.slice(0, minutes.length), choice());
    const ofBoth =
      capitalOf(staged, { ...choice(row), decides }) - 0.5 * capitalOf(before, choice());
    expect(ofBoth).toBeCloseTo((ofStage(staged) + ofStage(staged.slice(0, 6))) / 2, 9);
  });

  it('never fails equal versions with several objectives, asked every minute', () => {
    const fails = Array.from({ length: 30 }, (_, seed) => {
      const minutes = minutesOf(`equal ${seed}`, 60, { requests: 30 }, { requests: 270 });
      const rows = [0.01, 0.05, 0.3].map((share) => [`${row}, ${share} ${seed}`, share] as const);
      const counted = rows.reduce(
        (all, [name, share]) => withGoodput(all, name, { candidate: share, baseline: share }),
        minutes,
      );
      return state(testOf(counted, choice(...rows.map(([name]) => name))));
    });
    expect(fails).not.toContain('fail');
  });
});

describe('verdicts asked every minute of an hour', () => {
  const table = new DurationTable(lognormal);
  const pairs = 60;

  it.each([
    ['equal', { failed: 0, passed: 60, median: 14 }],
    ['all × 1.5', { failed: 60, passed: 0, median: 8 }],
    ['slowest 5 % × 1.5', { failed: 60, passed: 0, median: 9 }],
  ])('of versions that are %s are exactly these', (name, expected) => {
    const each = verdictCases.find(({ change }) => change.name === name);
    if (each === undefined) throw new Error(`no case ${name}`);
    expect(each).toMatchObject({
      law: lognormal,
      variation: { deviation: 0.5 },
      rates: [600, 600],
    });
    const outcomes = Array.from({ length: pairs }, (_, i) => runVerdict(each, table, i + 1));
    const minutes = outcomes
      .map(({ failedAfter, passedAfter }) => failedAfter ?? passedAfter ?? Infinity)
      .toSorted((a, b) => a - b);
    expect({
      failed: outcomes.filter(({ failedAfter }) => failedAfter !== undefined).length,
      passed: outcomes.filter(({ passedAfter }) => passedAfter !== undefined).length,
      median: minutes[pairs / 2],
    }).toEqual(expected);
  });
});
