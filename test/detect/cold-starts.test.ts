import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { Detector } from '../../src/detect/detector.ts';
import { coldRequests } from '../../src/detect/proportion/proportion.ts';
import { Random } from '../../src/generate/random.ts';
import { detectOptions } from '../scenarios/run-scenario.ts';
import {
  binomial,
  countStartMs,
  countWindow,
  poisson,
  seriesOf,
  windowMs,
} from './count-traffic.ts';

const windowsPerHour = 360;
const warm = seriesOf();
const cold = seriesOf({ cold_start: true });

/** Start of a fault, after a day and an hour. */
const beginAt = 25 * windowsPerHour;

/** Events of a day and some hours of a series with a share of cold starts. */
function emitted(shareAt: (window: number) => number, perWindow = 150): AnomalyEvent[] {
  const random = new Random('cold starts');
  const detector = new Detector(detectOptions());
  return Array.from({ length: beginAt + 2 * windowsPerHour }, (_, at) => {
    const requests = poisson(perWindow, random);
    const coldOnes = binomial(requests, shareAt(at), random);
    const windows = [
      ...(requests > coldOnes ? [countWindow(warm, at, { requests: requests - coldOnes })] : []),
      ...(coldOnes > 0 ? [countWindow(cold, at, { requests: coldOnes })] : []),
    ];
    const atMs = countStartMs + at * windowMs;
    return detector.observe(windows, atMs + 12_000, atMs);
  }).flat();
}

const storm = (share: number) => (window: number) =>
  window >= beginAt && window < beginAt + 120 ? share : 0.01;

describe('cold starts', () => {
  it('open once where their share rises far above the baseline, and resolve', () => {
    const events = emitted(storm(0.3));
    expect(events).toMatchObject([
      {
        ...{ kind: 'cold_starts', state: 'opened', bottleneck: 'cold_start', cold_start: false },
        ...{ model: 'ranker', stage: 'total', blame: [] },
        rate: { unit: 'cold starts per request' },
      },
      { kind: 'cold_starts', state: 'resolved', resolution: 'recovered' },
    ]);
    const [opened] = events as [AnomalyEvent];
    const afterMs = Date.parse(opened.detected_at) - (countStartMs + beginAt * windowMs);
    expect(afterMs).toBeLessThanOrEqual(142_000);
    expect(opened.rate?.observed).toBeCloseTo(0.3, 1);
    expect(opened.rate?.baseline).toBeCloseTo(0.01, 2);
    expect(opened.summary).toMatch(
      /^ranker \(v1, search, eu-west-1\): (29|30|31|32) % of requests are cold starts \(baseline (0\.\d+|1|1\.\d+) %\); as of [\d:]+ UTC$/,
    );
    expect(opened.sql).toContain('sumIf(counts.requests, cold_start) AS cold_starts');
    expect(opened.sql).not.toContain('cold_start = ');
  });

  it('of several series are one page, of warm series only', () => {
    const regions = ['eu-west-1', 'us-east-1', 'ap-south-1'];
    const random = new Random('several series');
    const detector = new Detector(detectOptions());
    const events = Array.from({ length: beginAt + windowsPerHour }, (_, at) => {
      const windows = regions.flatMap((region) => {
        const share = region === 'ap-south-1' ? 0.01 : storm(0.3)(at);
        const coldOnes = binomial(150, share, random);
        return [
          countWindow({ ...warm, region }, at, { requests: 150 - coldOnes }),
          countWindow({ ...cold, region }, at, { requests: Math.max(1, coldOnes) }),
        ];
      });
      const atMs = countStartMs + at * windowMs;
      return detector.observe(windows, atMs + 12_000, atMs);
    }).flat();
    const pages = events.filter(({ incident_id }) => incident_id === undefined);
    expect(pages.map(({ state }) => state)).toEqual(['opened', 'resolved']);
    expect(pages.at(-1)?.scope).toMatchObject({ affected: 2, total: 3 });
  });

  it.each([
    [
      'not where pods are added for a minute and a half',
      (at: number) => at >= beginAt && at < beginAt + 9,
      0,
    ],
    ['where that lasts for four', (at: number) => at >= beginAt && at < beginAt + 24, 1],
  ])('open %s', (_, isOut, pages) => {
    const opened = emitted((at) => (isOut(at) ? 0.6 : 0.01)).filter(
      ({ state }) => state === 'opened',
    );
    expect(opened).toHaveLength(pages);
  });

  it.each([
    [3, 0],
    [9, 1],
  ])('of a new version rolled out over %i minutes open %i times', (minutes, pages) => {
    const random = new Random('a new version');
    const detector = new Detector(detectOptions());
    const next = { version: 'v2' };
    const events = Array.from({ length: 3 * windowsPerHour }, (_, at) => {
      const isNext = at >= 720;
      const share = isNext && at < 720 + 6 * minutes ? 0.5 : 0.01;
      const coldOnes = binomial(150, share, random);
      const changed = isNext ? next : {};
      const windows = [
        countWindow({ ...warm, ...changed }, at, { requests: 150 - coldOnes }),
        countWindow({ ...cold, ...changed }, at, { requests: Math.max(1, coldOnes) }),
      ];
      const atMs = countStartMs + at * windowMs;
      return detector.observe(windows, atMs + 12_000, atMs);
    }).flat();
    expect(
      events.filter(({ kind, state }) => kind === 'cold_starts' && state === 'opened'),
    ).toHaveLength(pages);
  });

  it('open where every request is one: no warm request is left to compare with', () => {
    const events = emitted(storm(1));
    expect(events.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
      ...['cold_starts opened', 'cold_starts resolved'],
    ]);
    expect(events[0]?.rate?.observed).toBeGreaterThan(0.9);
  });

  it.each([
    ['are as many as before', storm(0.01)],
    ['are slightly more', storm(0.04)],
    ['are many all the time', () => 0.3],
    ['do not occur', () => 0],
  ])('open nothing where they %s', (_, shareAt) => {
    expect(emitted(shareAt)).toEqual([]);
  });

  it('are counted among all requests of both series', () => {
    const ofWarm = countWindow(warm, 0, { requests: 90, errors: 2, timeouts: 1 });
    const ofCold = countWindow(cold, 0, { requests: 10, errors: 1 });
    expect(coldRequests(ofWarm, ofCold)).toMatchObject({
      whole: { stage: 'total', requests: 100, errors: 3, timeouts: 1 },
      hits: 10,
    });
    expect(coldRequests(ofWarm, undefined)).toMatchObject({ whole: { requests: 90 }, hits: 0 });
    expect(coldRequests(undefined, ofCold)).toMatchObject({ whole: { requests: 10 }, hits: 10 });
    expect(coldRequests(undefined, undefined)).toBeUndefined();
  });
});
