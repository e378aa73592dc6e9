import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unaccounted } from '../../../src/contract/anomaly-event.ts';
import { StageTable } from '../../../src/contract/stage-table.ts';
import {
  type BandedStages,
  blame as blameBy,
  blameOfMilestone,
  splitExcess,
} from '../../../src/detect/event/blame.ts';
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
        const shares = parts.map((part) => part.share);
        expect(shares.reduce((total, share) => total + share, 0)).toBeCloseTo(1, 12);
        expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
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

describe('splitExcess', () => {
  it('gives shares of all that rose: a stage that became faster has none', () => {
    const means = (queue: number, forward: number, parse: number) => ({
      totalMs: queue + forward + parse,
      stagesMs: new Map(Object.entries({ queue, forward, parse })),
    });
    const parts = splitExcess(means(40, 90, 10), means(10, 80, 25), StageTable.standard);
    expect(parts).toEqual([
      { stage: 'queue', class: 'queue', excess_ms: 30, share: 0.75 },
      { stage: 'forward', class: 'compute', excess_ms: 10, share: 0.25 },
      { stage: 'parse', class: 'serialization', excess_ms: -15, share: 0 },
    ]);
  });
});

describe('blameOfMilestone', () => {
  /** Requests of queue, prefill and decode, with `rest` before the first token that no stage measured. */
  function llm(
    requests: readonly (readonly [queue: number, prefill: number, decode: number, rest: number])[],
  ) {
    const stages = new Map<string, number[]>([
      ['queue', requests.map(([queue]) => queue)],
      ['prefill', requests.map(([, prefill]) => prefill)],
      ['first_token', requests.map(([queue, prefill, , rest]) => queue + prefill + rest)],
      ['decode', requests.map(([, , decode]) => decode)],
      ['total', requests.map((ms) => ms.reduce((sum, each) => sum + each, 0))],
    ]);
    return summarizeWindow({ series, windowStartMs: 0, windowMs: 10_000, stages }).stages;
  }
  const of = (
    now: ReturnType<typeof llm>,
    before: ReturnType<typeof llm>,
    table = StageTable.standard,
  ) => blameOfMilestone(now, before, { milestone: 'first_token', q: 0.99 }, table);
  const times = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);

  it('splits the rise of the mean request over the parts before it, and over those alone', () => {
    // The slowest of a thousand is left out on both sides.
    const before = llm(times(1_000, [20, 300, 900, 10]));
    const now = llm([
      ...times(700, [20, 300, 900, 10] as const),
      ...times(300, [60, 1_260, 5_000, 30] as const),
    ]);
    const parts = of(now, before);
    expect(parts?.map(({ stage }) => stage)).toEqual(['prefill', 'queue', unaccounted]);
    const slow = 299 / 999;
    [960 * slow, 40 * slow, 20 * slow].forEach((ms, i) => {
      expect(parts?.[i]?.excess_ms).toBeCloseTo(ms, 8);
      expect(parts?.[i]?.share).toBeCloseTo(ms / (1_020 * slow), 10);
    });
  });

  it('splits nothing where requests without the milestone have its parts too', () => {
    const without = (stages: ReturnType<typeof llm>) => {
      const { bands, ...rest } = stages.get('first_token')!;
      const half = { ...bands, amounts: bands.amounts.map((ms) => ms / 2) };
      return new Map([...stages, ['first_token', { ...rest, bands: half }] as const]);
    };
    const [now, before] = [llm(times(100, [90, 300, 900, 0])), llm(times(100, [20, 300, 900, 0]))];
    expect(of(now, before)?.[0]?.stage).toBe('queue');
    expect(of(without(now), without(before))).toBeUndefined();
  });

  it('splits nothing without an excess, or where nobody said what lies before it', () => {
    const same = llm(times(100, [20, 300, 900, 0]));
    expect(of(same, same)).toBeUndefined();
    const table = new StageTable({ decode: { class: 'decode' } });
    const options = { milestone: 'time_to_headers', q: 0.99 };
    expect(blameOfMilestone(same, same, options, table)).toBeUndefined();
  });

  it('goes by the parts of the configuration', () => {
    const table = new StageTable({ first_token: { parts: ['pre*'] } });
    const [now, before] = [llm(times(100, [90, 400, 900, 0])), llm(times(100, [20, 300, 900, 0]))];
    expect(
      of(now, before, table)?.map(({ stage, excess_ms }) => [stage, Math.round(excess_ms)]),
    ).toEqual([
      ['prefill', 100],
      [unaccounted, 70],
    ]);
  });
});
