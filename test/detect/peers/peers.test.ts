import { describe, expect, it } from 'vitest';
import type { BorrowedBaseline } from '../../../src/baseline/borrowed-baseline.ts';
import { Peers } from '../../../src/detect/peers/peers.ts';
import { PeakPool } from '../../../src/detect/score/peak-pool.ts';
import { SeriesDetector } from '../../../src/detect/tail/series-detector.ts';
import type { Series } from '../../../src/series/series-window.ts';
import { detectOptions } from '../../scenarios/run-scenario.ts';
import { summarizeWindow } from '../../scenarios/summarize-window.ts';

const options = detectOptions({ baseline: '10m' });
const { window: windowMs } = options;
const startMs = Date.UTC(2026, 10, 2);
const context = { nowMs: 0, levels: { perWeek: 1e-3 }, live: true, totalRequests: 0 };
const model: Series = {
  ...{ service: '', model: 'ranker', version: 'v1', request_type: 'search', region: 'eu' },
  ...{ host: '', tenant: '', cold_start: false },
};
/** More than make a baseline, those in quarantine included. */
const manyWindows = 40;

/** A series with so many windows of `requests` requests, each of `ms`. */
function seen(
  dimensions: Partial<Series>,
  { windows = manyWindows, requests = 20, ms = 100, from = 0 } = {},
): SeriesDetector {
  const series = { ...model, ...dimensions };
  const detector = new SeriesDetector(series, options, new PeakPool(), undefined);
  for (let at = from; at < from + windows; at++) {
    const stages = new Map([['total', Array.from({ length: requests }, () => ms)]]);
    const windowStartMs = startMs + at * windowMs;
    detector.step(summarizeWindow({ series, windowStartMs, windowMs, stages }), context);
  }
  return detector;
}

function peersOf(...detectors: readonly SeriesDetector[]): Peers<SeriesDetector> {
  const peers = new Peers<SeriesDetector>(options);
  for (const detector of detectors) peers.add(detector);
  return peers;
}

const nowMs = startMs + manyWindows * windowMs;
const lentTo = (peers: Peers<SeriesDetector>, dimensions: Partial<Series>, atMs = nowMs) =>
  peers.baselineFor({ ...model, ...dimensions }, atMs);
const medianOf = (peers: Peers<SeriesDetector>, dimensions: Partial<Series>, atMs?: number) =>
  lentTo(peers, dimensions, atMs)?.reference('total', 1)?.digest.quantile(0.5);

describe('peers', () => {
  it('lend nothing to a series of another model, request type, tenant or cold start', () => {
    const peers = peersOf(seen({}));
    for (const other of [
      { model: 'other' },
      { request_type: 'feed' },
      { tenant: 'acme' },
      { cold_start: true },
      { service: 'api' },
    ]) {
      expect(lentTo(peers, { version: 'v2', ...other })).toBeUndefined();
    }
  });

  it('lend nothing while they have no past, nor once they are gone', () => {
    const [young, old] = [seen({ version: 'v0' }, { windows: 10 }), seen({})];
    expect(lentTo(peersOf(young), { version: 'v2' })).toBeUndefined();
    const peers = peersOf(old);
    peers.delete(old);
    expect(lentTo(peers, { version: 'v2' })).toBeUndefined();
  });

  it('lend nothing to, and borrow nothing from, the overflow series beyond the limit', () => {
    expect(lentTo(peersOf(seen({ version: '__other__' })), { version: 'v2' })).toBeUndefined();
  });

  it('lend their past to a new version and to a new host of their region', () => {
    const peers = peersOf(seen({}));
    for (const dimensions of [{ version: 'v2' }, { host: 'pod-9' }, { version: 'v2', host: 'p' }]) {
      expect(medianOf(peers, dimensions)).toBeCloseTo(100, 0);
    }
  });

  it('of another region lend theirs only where the same region has none', () => {
    const [eu, us] = [seen({}), seen({ region: 'us' }, { ms: 300 })];
    expect(medianOf(peersOf(us), { version: 'v2' })).toBeCloseTo(300, 0);
    expect(medianOf(peersOf(us, eu), { version: 'v2' })).toBeCloseTo(100, 0);
  });

  it('are merged by their traffic', () => {
    const peers = peersOf(
      seen({}, { requests: 30, ms: 100 }),
      seen({ version: 'v0' }, { requests: 10, ms: 500 }),
    );
    const reference = lentTo(peers, { version: 'v2' })?.reference('total', 1);
    const { means = [], weights = [], count = 0 } = reference?.digest ?? {};
    const fast = [...weights].filter((_, i) => (means[i] as number) < 200);
    expect(fast.reduce((sum, weight) => sum + weight, 0) / count).toBeCloseTo(0.75, 6);
    expect(reference?.allowance).toBe(1.1);
  });

  it('without recent requests lend theirs only where no other series has any', () => {
    const gone = seen({ version: 'v0' }, { ms: 500 });
    const live = seen({}, { from: 60 });
    const atMs = startMs + 100 * windowMs;
    expect(medianOf(peersOf(gone, live), { version: 'v2' }, atMs)).toBeCloseTo(100, 0);
    expect(medianOf(peersOf(gone), { version: 'v2' }, atMs)).toBeCloseTo(500, 0);
  });

  it('renew their loans, and those of another region do not replace them', () => {
    const [old, other] = [seen({}), seen({ region: 'us' }, { ms: 300, from: 60 })];
    const peers = peersOf(old, other);
    const lent = lentTo(peers, { version: 'v2' }) as BorrowedBaseline;
    const v2 = { ...model, version: 'v2' };
    const renewedAt = (at: number) => peers.renewedFor(v2, lent, startMs + at * windowMs);
    expect(renewedAt(manyWindows)?.reference('total', 1)?.digest.quantile(0.5)).toBeCloseTo(100, 0);
    // A roll-out from region to region: the previous version is gone here and still present there.
    expect(renewedAt(100)).toBeUndefined();
    const [far, fromUs] = [peersOf(other), { ...model, region: 'ap' }];
    const lentByUs = lentTo(far, fromUs, startMs + 100 * windowMs) as BorrowedBaseline;
    const renewed = far.renewedFor(fromUs, lentByUs, startMs + 101 * windowMs);
    expect(renewed?.reference('total', 1)?.digest.quantile(0.5)).toBeCloseTo(300, 0);
  });

  it('that are new themselves lend on their loans', () => {
    const second = seen({ version: 'v2' }, { windows: 3, ms: 500 });
    second.borrow(lentTo(peersOf(seen({})), { version: 'v2' }) as BorrowedBaseline);
    expect(medianOf(peersOf(second), { version: 'v3' })).toBeCloseTo(100, 0);
    const far = seen({ region: 'us' }, { ms: 300 });
    expect(medianOf(peersOf(second, far), { version: 'v3' })).toBeCloseTo(100, 0);
  });

  it('are named by the dimensions in which they differ', () => {
    const borrowed = lentTo(peersOf(seen({}), seen({ version: 'v0' })), { version: 'v2' });
    expect(borrowed?.differencesTo({ ...model, version: 'v2' })).toEqual([
      { dimension: 'version', value: 'v0' },
      { dimension: 'version', value: 'v1' },
    ]);
  });
});
