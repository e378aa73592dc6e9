// Covers src/roles/serve/dashboard/endpoints.ts.

import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/config/load/load-config.ts';
import { Problem } from '../../../../src/roles/http/problem.ts';
import type { Asked } from '../../../../src/roles/serve/dashboard/endpoint.ts';
import { endpoints } from '../../../../src/roles/serve/dashboard/endpoints.ts';

const nowMs = Date.UTC(2026, 10, 1, 12, 34, 56);
const hour = 3_600_000;
const env = { TAILMARK_KAFKA_BROKERS: 'localhost:9092', TAILMARK_KAFKA_TOPICS: 'events' };
const { config } = loadConfig({ env, readFile: () => '' });

const facts = () => Promise.reject(new Error('nothing is asked'));

function ask(
  request: string,
  bounds = { completeMs: nowMs, finalMs: nowMs - 24 * hour },
  firstMs?: number,
  atMs = nowMs,
): Asked {
  const { pathname, searchParams } = new URL(request, 'http://localhost');
  const found = endpoints.find(({ path }) => path === pathname);
  if (found === undefined) throw new Error(`no endpoint ${pathname}`);
  const given = Object.fromEntries(searchParams);
  return found.ask(given, { config, nowMs: atMs, firstMs, bounds, facts });
}

/** The range that a question was understood as. */
const rangeOf = (request: string, firstMs?: number) => {
  const { range } = ask(request, undefined, firstMs).identity as Record<
    string,
    Record<string, number>
  >;
  return [range?.fromSeconds, range?.toSeconds].map((s) => new Date((s ?? 0) * 1000).toISOString());
};

function refusal(request: string): string {
  try {
    ask(request);
  } catch (error) {
    if (error instanceof Problem) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'was understood';
}

describe('a range', () => {
  const day = ['2026-11-01T00:00:00.000Z', '2026-11-01T06:00:00.000Z'];

  it.each([
    ['RFC 3339', 'from=2026-11-01T00:00:00Z&to=2026-11-01T06:00:00Z'],
    ['another offset', 'from=2026-11-01T02:00:00%2B02:00&to=2026-10-31T22:00:00-08:00'],
    ['a plus that was not encoded', 'from=2026-11-01T02:00:00+02:00&to=2026-11-01T06:00:00Z'],
    ['milliseconds', `from=${Date.UTC(2026, 10, 1)}&to=${Date.UTC(2026, 10, 1, 6)}`],
  ])('may be given as %s', (_, range) => {
    expect(rangeOf(`/v1/tails?model=a&${range}`)).toEqual(day);
  });

  it('begins with the first data by default where that is younger than six hours', () => {
    const firstMs = nowMs - hour / 2;
    const young = ['2026-11-01T12:04:00.000Z', '2026-11-01T12:35:00.000Z'];
    expect(rangeOf('/v1/tails?model=a', firstMs)).toEqual(young);
    expect(rangeOf('/v1/models', firstMs)).toEqual(young);
    // A start that is given, and data that is older, change nothing.
    expect(rangeOf('/v1/tails?model=a&from=-6h', firstMs)).toEqual([
      ...['2026-11-01T06:36:00.000Z', '2026-11-01T12:36:00.000Z'],
    ]);
    expect(rangeOf('/v1/tails?model=a', nowMs - 7 * hour)).toEqual([
      ...['2026-11-01T06:36:00.000Z', '2026-11-01T12:36:00.000Z'],
    ]);
    // An end before the first data does not make the range impossible.
    expect(rangeOf('/v1/tails?model=a&to=-1h', firstMs)[0]).toBe('2026-11-01T06:35:00.000Z');
  });

  it('is of the last six hours by default, up to a whole step', () => {
    expect(rangeOf('/v1/tails?model=a')).toEqual([
      '2026-11-01T06:36:00.000Z',
      '2026-11-01T12:36:00.000Z',
    ]);
    expect(rangeOf('/v1/tails?model=a&from=-30m&to=-10m&step_seconds=60')).toEqual([
      '2026-11-01T12:05:00.000Z',
      '2026-11-01T12:25:00.000Z',
    ]);
  });

  it('of all time is understood', () => {
    expect(rangeOf('/v1/tails?model=a&from=0')[0]).toBe('1970-01-01T00:00:00.000Z');
    expect(rangeOf('/v1/tails?model=a&from=-99999d')[0]).toBe('1970-01-01T00:00:00.000Z');
    expect(rangeOf('/v1/tails?model=a&from=1970-01-01T00:00:00Z&to=1970-01-01T01:00:00Z')[0]).toBe(
      '1970-01-01T00:00:00.000Z',
    );
  });
});

describe('a question is refused', () => {
  it.each([
    ['/v1/tails', '400 model must be given.'],
    ['/v1/tails?model=', '400 model must not be empty; it is "".'],
    [
      '/v1/tails?modle=a',
      '400 model must be given. modle is no parameter of this request. Did you mean model?',
    ],
    [
      '/v1/tails?model=a&from=now&to=-1h',
      '400 to must lie after from; it is "-1h", and from is "now".',
    ],
    ['/v1/tails?model=a&to=-6h', '400 to must lie after from; it is "-6h", and from is "-6h".'],
    [
      '/v1/tails?model=a&from=yesterday',
      '400 from must be a time: RFC 3339, milliseconds since 1970, `now`, or a duration ago such as `-6h`; it is "yesterday".',
    ],
    ['/v1/tails?model=a&to=2026-02-30T00:00:00Z', '400 to must be a time: RFC 3339'],
    [
      '/v1/tails?model=a&from=1969-12-31T00:00:00Z',
      '400 from must lie between 1970 and 2100; it is "1969-12-31T00:00:00Z".',
    ],
    [
      '/v1/tails?model=a&to=999999999999999',
      '400 to must lie between 1970 and 2100; it is "999999999999999".',
    ],
    [
      '/v1/tails?model=a&from=-3650d&step_seconds=10',
      '400 step_seconds must give at most 2000 steps: 10 gives 31,536,000. It must be at least 157680 for this range.',
    ],
    ['/v1/tails?model=a&step_seconds=15', '400 step_seconds must be'],
    ['/v1/tails?model=a&step_seconds=0', '400 step_seconds must be'],
    [
      '/v1/tails?model=a&q=1',
      '400 q must have 1 to 20 quantiles above 0 and below 1, such as 0.5,0.99; it is "1".',
    ],
    ['/v1/tails?model=a&q=0', '400 q must have'],
    ['/v1/tails?model=a&q=', '400 q must have'],
    ['/v1/tails?model=a&q=0.5,,0.9', '400 q must have'],
    ['/v1/tails?model=a&q=p99', '400 q must have'],
    [`/v1/tails?model=a&q=${Array(21).fill('0.5')}`, '400 q must have'],
    ['/v1/tails?model=a&by=host', '400 by must be'],
    ['/v1/tails?model=a&start=hot', '400 start must be'],
    ['/v1/tails?model=a&baseline_q=1', '400 baseline_q must be'],
    [
      `/v1/tails?model=${'x'.repeat(4_097)}`,
      '400 model must have at most 4096 characters; it is "xxx',
    ],
    ['/v1/density?model=a&stage=queue', '400 stage is no parameter of this request.'],
    ['/v1/composition?model=a&by=version', '400 by must be'],
    ['/v1/requests?model=a&limit=501', '400 limit must be'],
    ['/v1/anomalies?state=closed', '400 state must be'],
    ['/v1/anomalies?model=a&from=now', '400 to must lie after from'],
    [
      '/v1/compare?model=a&a.version=1&b.verson=2',
      '400 b.verson is no parameter of this request. Did you mean b.version?',
    ],
    [
      '/v1/compare?model=a&b.from=now',
      '400 b.to must lie after b.from; it is "now", and b.from is "now".',
    ],
    ['/v1/pipeline?model=a', '400 model is no parameter of this request, which takes none.'],
    ['/v1/releases?version=7', '400 version is no parameter of this request.'],
  ])('%s', (request, sentence) => {
    expect(refusal(request)).toContain(sentence);
  });
});

describe('an answer', () => {
  const past = 'from=2026-10-01T00:00:00Z&to=2026-10-02T00:00:00Z';

  it('may be kept for good where its windows are final and its range is fixed', () => {
    expect(ask(`/v1/tails?model=a&${past}`)).toMatchObject({ changes: 'never', isFixed: true });
    expect(ask('/v1/tails?model=a&from=-30d&to=-29d')).toMatchObject({
      changes: 'never',
      isFixed: false,
    });
    expect(ask('/v1/tails?model=a')).toMatchObject({ changes: 'with windows', isFixed: false });
    expect(ask(`/v1/models?${past}`)).toMatchObject({ changes: 'never', isFixed: false });
    expect(ask(`/v1/releases?${past}`)).toMatchObject({ changes: 'with windows', isFixed: false });
    const nothing = { completeMs: Number.NEGATIVE_INFINITY, finalMs: Number.NEGATIVE_INFINITY };
    expect(ask(`/v1/tails?model=a&${past}`, nothing)).toMatchObject({ changes: 'with windows' });
  });

  it('is the same for questions that mean the same', () => {
    const identity = (request: string) => JSON.stringify(ask(request).identity);
    expect(identity('/v1/tails?model=a&from=-6h')).toBe(identity('/v1/tails?model=a&to=now'));
    expect(identity('/v1/tails?model=a&q=0.5')).not.toBe(identity('/v1/tails?model=a&q=0.9'));
    expect(identity('/v1/tails?model=a&start=cold')).not.toBe(identity('/v1/tails?model=a'));
  });

  it('is one of the same question at any time where its range moves with the clock', () => {
    const questionAt = (range: string, laterMs: number) =>
      JSON.stringify(
        ask(`/v1/tails?model=a&${range}`, undefined, undefined, nowMs + laterMs).question,
      );
    const dayAgo = (laterMs: number) => `from=${nowMs - 24 * hour + laterMs}&to=now`;
    for (const range of ['', 'from=-5h', 'from=-5h&to=-1h', dayAgo(0)]) {
      expect([range, questionAt(range, hour)]).toEqual([range, questionAt(range, 0)]);
    }
    expect(questionAt(dayAgo(3_000), 3_000)).toBe(questionAt(dayAgo(0), 0));
    expect(questionAt('from=-5h', 0)).not.toBe(questionAt('from=-4h', 0));
    expect(questionAt(dayAgo(hour), 0)).not.toBe(questionAt(dayAgo(0), 0));
    expect(questionAt(`to=${nowMs}`, 0)).not.toBe(questionAt(`to=${nowMs - hour}`, 0));
  });

  it('by start is of all starts, and by stage of all stages', () => {
    expect(ask('/v1/tails?model=a&by=start').identity).toMatchObject({ filters: { start: 'all' } });
    expect(ask('/v1/tails?model=a&by=stage').identity).toMatchObject({ stage: '' });
    expect(ask('/v1/tails?model=a&by=stage&stage=total').identity).toMatchObject({
      stage: 'total',
    });
  });
});
