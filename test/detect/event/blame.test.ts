import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unaccounted } from '../../../src/contract/anomaly-event.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import { type BandedStages, blame as blameBy } from '../../../src/detect/event/blame.ts';
import { summarizeWindow } from '../../scenarios/summarize-window.ts';

const blame = (now: BandedStages, baseline: BandedStages, q: number) =>
  blameBy(now, baseline, q, StageTable.standard);

const series = {
  ...{ service: '', model: 'm', version: '', request_type: '', region: '', host: '' },
  ...{ tenant: '', cold_start: false },
};

/** A window of requests given as stages' ms; time outside of stages goes to the total alone. */
function stagesOf(requests: readonly (readonly [queue: number, forward: number, rest: number])[]) {
  const stages = new Map<string, number[]>([
    ['queue', requests.map(([queue]) => queue)],
    ['forward', requests.map(([, forward]) => forward)],
    ['total', requests.map(([queue, forward, rest]) => queue + forward + rest)],
  ]);
  return summarizeWindow({ series, windowStartMs: 0, windowMs: 10_000, stages }).stages;
}

describe('blame', () => {
  it('is empty without totals and without excess', () => {
    const baseline = stagesOf([[1, 10, 0]]);
    const partial = new Map([...baseline].filter(([stage]) => stage !== 'total'));
    expect(blame(partial, baseline, 0.5)).toBeUndefined();
    expect(blame(baseline, partial, 0.5)).toBeUndefined();
    expect(blame(baseline, baseline, 0.5)).toBeUndefined();
  });

  it('splits the slowest half but for the slowest of it exactly, border bands by their parts', () => {
    const times = (count: number, request: readonly [number, number, number]) =>
      Array.from({ length: count }, () => request);
    // Of twenty the slowest half is ten. Of these the slowest tenth and twice √(1/10²), three, are left out.
    const baseline = stagesOf([
      ...times(10, [1, 2, 0]),
      ...times(8, [2, 10, 0]),
      ...times(2, [10, 30, 0]),
    ]);
    const now = stagesOf([
      ...times(10, [1, 2, 0]),
      ...times(8, [80, 20, 4]),
      ...times(2, [100, 30, 0]),
    ]);
    // Seven of queue 2 and forward 10; now of 80 and 20, and 4 in no stage.
    const parts = blame(now, baseline, 0.5);
    expect(parts?.map(({ stage }) => stage)).toEqual(['queue', 'forward', unaccounted]);
    [78, 10, 4].forEach((ms, i) => {
      expect(parts?.[i]?.excess_ms).toBeCloseTo(ms, 10);
      expect(parts?.[i]?.share).toBeCloseTo(ms / 92, 10);
    });
  });

  it('gives a milestone no part, whatever it says', () => {
    const requests = (prefillMs: number) => {
      const values = Array.from({ length: 100 }, (_, i) => prefillMs + (i % 10));
      const sums = (plus: number) => values.map((ms) => ms + plus);
      const stages = new Map([
        ['queue', values.map(() => 30)],
        ['prefill', values],
        ['first_token', sums(30)],
        ['decode', values.map(() => 900)],
        ['total', sums(930)],
      ]);
      return summarizeWindow({ series, windowStartMs: 0, windowMs: 10_000, stages }).stages;
    };
    const parts = blame(requests(1_200), requests(300), 0.9);
    expect(parts?.[0]).toMatchObject({ stage: 'prefill', class: 'prefill' });
    expect(parts?.[0]?.share).toBeCloseTo(1, 10);
    expect(parts?.map(({ stage }) => stage).sort()).toEqual(['decode', 'prefill', 'queue']);
  });

  it('limits the influence of one very slow request', () => {
    const requests = (queueMs: number) =>
      Array.from({ length: 40 }, () => [queueMs, 10, 0] as const);
    const baseline = stagesOf(requests(5));
    const now = stagesOf([...requests(25).slice(1), [5, 3_000, 0]]);
    expect(blame(now, baseline, 0.5)?.[0]).toMatchObject({ stage: 'queue', excess_ms: 20 });
  });

  it('limits the influence of two hanging requests among the twenty slowest of two thousand', () => {
    const requests = (slowMs: number, hanging: number) =>
      Array.from({ length: 2_000 }, (_, i) => {
        if (i < hanging) return [5, 2_000, 0] as const;
        return [i < 40 ? slowMs : 5, 10, 0] as const;
      });
    const baseline = stagesOf(requests(30, 1));
    const now = stagesOf(requests(60, 3));
    expect(blame(now, baseline, 0.99)?.[0]).toMatchObject({ stage: 'queue', excess_ms: 30 });
  });

  it('gives parts that add up to the excess of the slowest requests', () => {
    const ms = fc.double({ min: 0.01, max: 5_000, noNaN: true });
    const requests = fc.array(fc.tuple(ms, ms, ms), { minLength: 1, maxLength: 60 });
    const q = fc.constantFrom(0.5, 0.9, 0.95, 0.99);
    fc.assert(
      fc.property(requests, requests, q, (nowRequests, baselineRequests, quantile) => {
        const now = stagesOf(nowRequests);
        const baseline = stagesOf(baselineRequests);
        const parts = blame(now, baseline, quantile);
        const share = 1 - quantile;
        const fewest = share * Math.min(nowRequests.length, baselineRequests.length);
        const part = Math.min(0.5, 0.1 + 2 * Math.sqrt(0.1 / fewest));
        const excess = slowestMean(now, share, part) - slowestMean(baseline, share, part);
        if (parts === undefined) {
          expect(excess).toBeLessThanOrEqual(1e-6);
          return;
        }
        const sum = parts.reduce((total, part) => total + part.excess_ms, 0);
        expect(Math.abs(sum - excess)).toBeLessThan(1e-6 * Math.max(1, excess));
        const scale = parts.reduce((most, part) => Math.max(most, Math.abs(part.share)), 1);
        const shares = parts.reduce((total, part) => total + part.share, 0);
        expect(Math.abs(shares - 1)).toBeLessThan(1e-8 * scale);
      }),
      { seed: 3 },
    );
  });
});

/** Mean total of the slowest share without the slowest part of it, requests walked from the slow end. */
function slowestMean(stages: ReturnType<typeof stagesOf>, share: number, part: number): number {
  const total = stages.get('total')!;
  const end = share * total.requests;
  const begin = part * end;
  let walked = 0;
  let sum = 0;
  for (let i = total.bands.bands.length - 1; i >= 0; i--) {
    const inBand = total.bands.amounts[i]!;
    const taken = Math.max(0, Math.min(end, walked + inBand) - Math.max(begin, walked));
    sum += (total.bandsMs.amounts[i]! / inBand) * taken;
    walked += inBand;
  }
  return sum / (end - begin);
}
