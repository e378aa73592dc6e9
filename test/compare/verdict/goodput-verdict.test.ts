// Covers src/compare/minute-blocks.ts.
import { describe, expect, it } from 'vitest';
import { compareVersions } from '../../../src/compare/verdict/compare-versions.ts';
import { objectiveRow } from '../../../src/config/slos.ts';
import { objectivesOf } from '../../../src/contract/objectives/objective.ts';
import { minutesOf, withGoodput, withStage } from '../traffic.ts';

const thresholds = { first_token: 500, total: 10_000 };
const objectives = objectivesOf([
  { name: 'chat', objective: 0.99, all: thresholds, window: '30d' },
  { name: 'eu', objective: 0.9, all: thresholds, match: { region: 'eu*' }, window: '30d' },
  { name: 'strict', objective: 0.9, all: { total: 1 }, window: '30d' },
]);
const row = objectiveRow(thresholds);
const served = (candidate: number, count = 20) =>
  withGoodput(minutesOf('served', count, { requests: 300 }, { requests: 300 }), row, {
    ...{ candidate, baseline: 0.01 },
  });
const asked = (minutes: ReturnType<typeof served>, tested?: readonly string[], blockMinutes = 1) =>
  compareVersions(
    { candidate: 'v2', baseline: 'v1', minutes, objectives, tested },
    { blockMinutes },
  );

describe('a verdict by goodput', () => {
  it('names the objective, the thresholds and the shares of both versions', () => {
    expect(asked(served(0.1))).toMatchObject({
      ...{ verdict: 'fail', failed_by: 'goodput', failed_stage: null },
      ...{ failed_objective: 'chat, eu', tested_objectives: ['chat, eu'] },
      reason:
        'goodput is 90 %, against 99 % of version v1: 10 % of requests missed one of first_token 500 ms, total 10 s, or failed (objective chat, eu)',
    });
  });

  it('adds what is slower of the stages that have thresholds, and leaves the name to them where that suffices', () => {
    const slow = (share: number) =>
      withStage(served(0.5), { stage: 'first_token', factor: 2, share });
    expect(asked(slow(0.08))).toMatchObject({
      failed_by: 'goodput',
      reason: expect.stringMatching(
        /\(objective chat, eu\); TTFT \(first_token\) p99 is \d\.\d+ times that of version v1 \(.*; interval .*\)$/,
      ),
    });
    expect(asked(slow(1))).toMatchObject({ failed_stage: 'first_token', failed_objective: null });
  });

  it('says of both versions how many requests meet the objective where it passes', () => {
    const passed = asked(served(0.01, 30));
    expect(passed).toMatchObject({ verdict: 'pass', failed_by: null, failed_objective: null });
    expect(passed.reason).toMatch(
      /; within 1\.3 times or 5 ms at p50, p95 and p99; goodput is 99 %, against 99 % of version v1$/,
    );
  });

  it('says nothing of durations where goodput alone decides', () => {
    expect(asked(served(0.01, 30), ['goodput'])).toMatchObject({
      ...{ verdict: 'pass', tested_stages: [] },
      reason: 'goodput is 99 %, against 99 % of version v1; durations do not decide',
    });
  });

  it('says that least is known of it, or that a version has none', () => {
    expect(asked(served(0.014)).reason).toMatch(/; least is known of goodput$/);
    const ofOne = withGoodput(minutesOf('one', 20, { requests: 300 }, { requests: 300 }), row, {
      ...{ candidate: undefined, baseline: 0.01 },
    });
    expect(asked(ofOne, ['total', 'goodput'])).toMatchObject({
      verdict: 'inconclusive',
      reason: 'no minute has goodput of both version v2 and version v1',
    });
  });

  it('is left out where stages are named without it', () => {
    const compared = asked(served(0.1), ['total']);
    expect(compared).toMatchObject({ verdict: 'pass', tested_objectives: [] });
  });

  it('joins minutes to blocks', () => {
    expect(asked(served(0.1, 40), undefined, 5)).toMatchObject({
      ...{ verdict: 'fail', failed_by: 'goodput', minutes: 8 },
      reason: expect.stringMatching(/^goodput is 90 %, against 99 % of version v1/),
    });
  });

  it('is refused with more requests that missed than there are', () => {
    expect(() => asked(served(1.5))).not.toThrow();
    const [minute] = served(0.1, 1);
    const objectivesOfIt = new Map([[row, { requests: 10, bad: 11 }]]);
    const candidate = minute?.candidate && { ...minute.candidate, objectives: objectivesOfIt };
    expect(() => asked([{ startMs: 0, ...(candidate && { candidate }) }])).toThrow(
      '11 of 10 requests failed',
    );
  });
});
