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
  it('is the same with a fault as without, but for what the fault slows down', () => {
    const usual = mediansOf([], fault.stage);
    const ratios = mediansOf([fault], fault.stage).map((ms, i) => ms / (usual[i] ?? Number.NaN));
    const slow = ratios.slice(fault.from, fault.to);
    for (const ratio of slow) expect(ratio).toBeCloseTo(2, 6);
    expect([...ratios.slice(0, fault.from), ...ratios.slice(fault.to)]).toEqual(
      Array.from({ length: 30 }, () => 1),
    );
    expect(mediansOf([fault], 'queue')).toEqual(mediansOf([], 'queue'));
  });

  it('gives each request as it is, where that is asked for', () => {
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
