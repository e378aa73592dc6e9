import { describe, expect, it } from 'vitest';
import { faultOf } from './fault-of.ts';
import { incidentTraffic } from './incident-traffic.ts';

const order = { family: 'independent', seed: 500_000, windows: 40, faults: [] };
const fault = faultOf('stage ×2', 20, 30);
const p50 = 0.5;

function mediansOf(faults: readonly (typeof fault)[], stage: string): number[] {
  return [...incidentTraffic({ ...order, faults })].map(
    ({ present }) => present[0]?.stages.get(stage)?.digest.quantile(p50) ?? Number.NaN,
  );
}

describe('incidentTraffic', () => {
  it('is the same with and without a fault, except for the slowed requests', () => {
    const baseline = mediansOf([], fault.stage);
    const ratios = mediansOf([fault], fault.stage).map((ms, i) => ms / (baseline[i] ?? Number.NaN));
    // Some slower ones complete a window later, the last ones in the first window after the fault.
    const slow = ratios.slice(fault.from, fault.to);
    for (const ratio of slow) expect(Math.abs(ratio / 2 - 1)).toBeLessThan(0.05);
    expect([...ratios.slice(0, fault.from), ...ratios.slice(fault.to + 1)]).toEqual(
      Array.from({ length: 29 }, () => 1),
    );
    const queue = [mediansOf([fault], 'queue'), mediansOf([], 'queue')];
    expect(queue[0]?.slice(0, fault.from)).toEqual(queue[1]?.slice(0, fault.from));
    expect(queue[0]?.slice(fault.to + 1)).toEqual(queue[1]?.slice(fault.to + 1));
  });

  it('counts requests of a minute when they end, and loses none', () => {
    // `forward` has some 50 ms, for one request in ten 150 ms, times this.
    const long = { ...faultOf('outage ×10', 20, 21), factorAt: () => 1_000 };
    const requestsOf = (faults: readonly (typeof fault)[]) =>
      [...incidentTraffic({ ...order, windows: 60, faults })].map(
        ({ present }) => present[0]?.stages.get('forward')?.requests ?? 0,
      );
    const [calm, ofLong] = [requestsOf([]), requestsOf([long])];
    const more = ofLong.map((requests, i) => requests - (calm[i] ?? 0));
    // Of 47 requests one in ten is three times as slow; 2 of them would have ended in the next window anyway.
    expect(more.slice(18, 28)).toEqual([0, 0, -47, -2, 1, 13, 23, 5, 1, 0]);
    expect(more.slice(28).reduce((sum, n) => sum + n, 0)).toBe(6);
    expect(more.reduce((sum, n) => sum + n, 0)).toBe(0);
  });

  it('gives individual requests, on request', () => {
    const busy = { ...order, family: 'busy', windows: 3 };
    const stored = [...incidentTraffic(busy)];
    const raw = [...incidentTraffic({ ...busy, isRaw: true })];
    raw.forEach(({ present }, i) => {
      for (const [stage, { requests, digest }] of present[0]?.stages ?? []) {
        const other = stored[i]?.present[0]?.stages.get(stage);
        expect(digest.size).toBe(requests);
        expect(other?.requests).toBe(requests);
        expect(other?.digest.size).toBeLessThan(requests);
        const [few, all] = [other?.digest.quantile(p50) ?? Number.NaN, digest.quantile(p50)];
        expect(Math.abs(few / all - 1)).toBeLessThan(0.01);
      }
    });
    expect(raw).toHaveLength(3);
  });
});
