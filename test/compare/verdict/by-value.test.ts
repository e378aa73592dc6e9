import { describe, expect, it } from 'vitest';
import {
  renderValues,
  valuesAnnotation,
  valuesMarkdown,
} from '../../../src/cli/text/render-values.ts';
import { ofOneValue } from '../../../src/compare/compare-options.ts';
import type { ComparedMinute } from '../../../src/compare/compared-minute.ts';
import { byValue, chosenValues, type SideValue } from '../../../src/compare/verdict/by-value.ts';
import { compareVersions } from '../../../src/compare/verdict/compare-versions.ts';
import { minutesOf } from '../traffic.ts';

const names = { candidate: 'v2', baseline: 'v1' };
const compare = (minutes: readonly ComparedMinute[], options = {}) =>
  compareVersions({ ...names, minutes }, options);
const sideValue = (value: string, candidate: number, baseline: number): SideValue => ({
  value,
  requests: { candidate, baseline },
});
const none = { leftOut: [], more: 0 };
const equal = compare(minutesOf('equal', 40, { requests: 300 }, { requests: 300 }), ofOneValue({}));
const slow = compare(
  minutesOf('slow', 40, { requests: 300, factor: 2 }, { requests: 300 }),
  ofOneValue({}),
);
const few = compare(minutesOf('few', 3, { requests: 9 }, { requests: 9 }), ofOneValue({}));

describe('values that are compared', () => {
  it('are those of both sides, ten at most, those with most requests where they have fewer first', () => {
    const many = Array.from({ length: 33 }, (_, n) => sideValue(`v${n}`, 1_000 - n, 2_000));
    const { compared, leftOut, more } = chosenValues([
      ...[sideValue('new', 9_000, 0), sideValue('rare', 5, 9_000)],
      ...many.toReversed(),
    ]);
    expect(compared.map(({ value }) => value)).toEqual(many.slice(0, 10).map(({ value }) => value));
    expect(leftOut).toHaveLength(20);
    expect(more).toBe(5);
    const three = chosenValues([
      sideValue('gone', 0, 7),
      sideValue('', 5, 5),
      sideValue('a', 9, 9),
    ]);
    expect(three.compared.map(({ value }) => value)).toEqual(['a', '']);
    expect(three).toMatchObject({ leftOut: [{ value: 'gone' }], more: 0 });
  });
});

describe('the verdict of all values', () => {
  it.each([
    [[], 'inconclusive', 'no value of region has requests of both sides'],
    [
      [
        ['a', equal],
        ['b', slow],
        ['c', few],
      ],
      'fail',
      '1 of 3 compared values of region fails; b: p99 is ',
    ],
    [
      [
        ['a', equal],
        ['c', few],
      ],
      'inconclusive',
      '1 of 2 compared values of region has no verdict; c: needs',
    ],
    [[['a', equal]], 'pass', '1 of 1 compared value of region passes; a: p99 is '],
  ] as const)('of %j is %s', (compared, verdict, reason) => {
    const all = byValue('region', compared, none);
    expect([all.verdict, all.reason.slice(0, reason.length)]).toEqual([verdict, reason]);
  });

  it('takes ten times the evidence of each value, so that its error share is that of one comparison', () => {
    const minutes = minutesOf('later', 60, { requests: 300, factor: 1.6 }, { requests: 300 });
    const minutesToFail = (options: object) =>
      minutes.findIndex((_, n) => compare(minutes.slice(0, n + 1), options).verdict === 'fail') + 1;
    const [alone, one] = [minutesToFail({}), minutesToFail(ofOneValue({}))];
    expect(alone).toBeGreaterThan(0);
    // A minute at most doubles the evidence.
    expect(one - alone).toBeGreaterThanOrEqual(3);
    expect(ofOneValue({ errorShare: 0.05 }).errorShare).toBeCloseTo(0.005, 12);
  });

  it('is shown with the reason of each value, and with what is left out', () => {
    const leftOut = [sideValue('<new>', 12, 0)];
    const of = {
      ...{ model: 'llm', version: 'v2', baseline: 'v1' },
      mix: [],
      like_with_like: null,
    };
    const shown = {
      model: 'llm',
      ...byValue(
        'attributes.gpu',
        [
          ['', { ...of, ...equal }],
          ['(none)', { ...of, ...slow }],
        ],
        { leftOut, more: 3 },
      ),
    };
    const text = renderValues(shown, { color: false, columnCount: 200 });
    expect(text).toMatch(/^attributes\.gpu +verdict +requests B +A +p99 B +A +ratio$/m);
    expect(text).toMatch(/^\(none\) +pass +12,000 +12,000 /m);
    expect(text).toMatch(/^"\(none\)" +fail +12,000 +12,000 .* 1\.\d+x$/m);
    expect(text).toMatch(/^"\(none\)": p99 is /m);
    expect(text).toContain('\nNot compared: <new> (12 requests of B, 0 of A) and 3 more.\n');
    expect(text).toMatch(
      /\nfail {2}llm: 1 of 2 compared values of attributes\.gpu fails; "\(none\)": p99/,
    );
    expect(valuesAnnotation(shown)).toMatch(
      /^::error title=Release fails%3A llm by attributes\.gpu::1 of 2/,
    );
    expect(valuesMarkdown(shown)).toContain('| "(none)" | fail | p99 is ');
    expect(valuesMarkdown(shown)).toContain('&lt;new&gt;');
  });
});
