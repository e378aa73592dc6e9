import { expect, it } from 'vitest';
import { compareDefaults } from '../../src/compare/compare-options.ts';
import { type BadCount, ShareTest, shareOf } from '../../src/compare/share-test.ts';

const of = (requests: number, bad: number): BadCount => ({ requests, bad });

function testOf(minutes: readonly (readonly [BadCount | undefined, BadCount])[]): ShareTest {
  const test = new ShareTest(compareDefaults);
  for (const [candidate, baseline] of minutes) test.observe(candidate, baseline);
  return test;
}

it('a test of shares bets on minutes of both versions alone, and learns the margin from all of the baseline', () => {
  const none = testOf([
    [undefined, of(100, 50)],
    [of(0, 0), of(100, 50)],
    [of(100, 50), of(0, 0)],
  ]);
  expect([none.isPaired, none.evidence.isWorse.log, none.evidence.isNoWorse.log]).toEqual([
    ...[false, 0, 0],
  ]);
  const both = [of(100, 55), of(100, 50)] as const;
  const known = testOf([...Array(3).fill([undefined, of(100, 50)]), both]);
  const unknown = testOf([both]);
  expect(known.candidate).toEqual(of(100, 55));
  expect(known.baseline).toEqual(of(100, 50));
  expect(known.evidence.isWorse.log).toBe(unknown.evidence.isWorse.log);
  // A margin of 30 % of 50 % instead of half a percent.
  expect(known.evidence.isNoWorse.log).toBeGreaterThan(unknown.evidence.isNoWorse.log);
});

it('a share is beyond the margin by the ratio and by half a percent of the requests', () => {
  const isBeyond = (candidate: number, baseline: number) =>
    testOf([[of(1_000, candidate), of(1_000, baseline)]]).isBeyondMargin;
  expect([isBeyond(5, 0), isBeyond(4, 0)]).toEqual([true, false]);
  expect([isBeyond(130, 100), isBeyond(129, 100)]).toEqual([true, false]);
  expect(shareOf(of(0, 0))).toBe(0);
});

it('a share needs the requests that a verdict takes', () => {
  const after = (minutes: number) =>
    testOf(Array(minutes).fill([of(100, 1), of(1_000, 1)])).hasEnough;
  expect([after(4), after(5)]).toEqual([false, true]);
});
