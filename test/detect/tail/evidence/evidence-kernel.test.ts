import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PeakPool } from '../../../../src/detect/score/peak-pool.ts';
import { CusumBank } from '../../../../src/detect/tail/evidence/cusum-bank.ts';
import { EvidenceWeights } from '../../../../src/detect/tail/evidence/evidence-weights.ts';
import { faultTemplates } from '../../../../src/detect/tail/evidence/fault-templates.ts';
import { WindowScores } from '../../../../src/detect/tail/evidence/window-scores.ts';
import { TailCounts } from '../../../../src/detect/tail/tail-counts.ts';
import type { TailThreshold } from '../../../../src/detect/tail/tail-threshold.ts';
import type { StageSummary } from '../../../../src/series/series-window.ts';
import { highWord } from '../../../../src/sketch/high-word.ts';
import { PackedDigests } from '../../../../src/sketch/packed-digests.ts';
import { TDigest } from '../../../../src/sketch/t-digest.ts';
import { detectOptions } from '../../../scenarios/run-scenario.ts';
import { findIn, learnIn } from '../../found-run.ts';
import { PlainEvidence } from '../../plain-evidence.ts';

const count = faultTemplates.length;
const noCounts = new TailCounts(detectOptions());
const seeded = { seed: 20261123, numRuns: 150 };
const duration = fc.double({ min: 0, max: 1e4, noNaN: true });
const centroids = fc.array(fc.tuple(duration, fc.integer({ min: 1, max: 40 })), { maxLength: 120 });

/** A digest as in windows: after another one in memory. */
function digestOf(drawn: readonly (readonly [number, number])[]): TDigest {
  const sorted = [...drawn].sort(([a], [b]) => a - b);
  const packed = new PackedDigests();
  packed.add([1], [1]);
  packed.add(
    sorted.map(([ms]) => ms),
    sorted.map(([, weight]) => weight),
  );
  return packed.drain()[1] as TDigest;
}

function scoresOf(weights: EvidenceWeights, digest: TDigest): WindowScores {
  const scores = new WindowScores();
  EvidenceWeights.weigh(weights.at, digest, scores);
  return scores;
}

describe('the evidence kernel adds up, to the last bit, like a plain loop', () => {
  it('over the requests of a window, bin by bin', () => {
    const baseline = fc.array(fc.tuple(duration, fc.integer({ min: 1, max: 40 })), {
      minLength: 1,
    });
    fc.assert(
      fc.property(baseline, centroids, (baseline, drawn) => {
        const weights = new EvidenceWeights(digestOf(baseline));
        const digest = digestOf(drawn);
        const byBin = new Map<number, { ms: number; requests: number }>();
        digest.means.forEach((ms, i) => {
          const bin = highWord(Math.max(ms, 2 ** -10)) >>> 17;
          const { requests } = byBin.get(bin) ?? { requests: 0 };
          byBin.set(bin, { ms, requests: requests + (digest.weights[i] as number) });
        });
        const plain = new Float64Array(count);
        for (const { ms, requests } of byBin.values()) {
          const ofOne = scoresOf(weights, TDigest.fromCentroids([ms], [1])).sums;
          for (let t = 0; t < count; t++) plain[t] = plain[t]! + requests * ofOne[t]!;
        }
        const scores = scoresOf(weights, digest);
        expect(scores.sums.map((sum) => sum + 0)).toEqual(plain.map((sum) => sum + 0));
        const { means, variances } = weights;
        expect(scores.excess).toEqual(scores.sums.map((sum, t) => sum - digest.count * means[t]!));
        expect(scores.variances).toEqual(variances.map((one) => digest.count * one));
      }),
      seeded,
    );
  });

  it('over a hundred thousand times as many requests, as many times as much', () => {
    const baseline = fc.array(fc.tuple(duration, fc.integer({ min: 1, max: 40 })), {
      minLength: 1,
    });
    const times = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(baseline, centroids, times, (baseline, drawn, by) => {
        const weights = new EvidenceWeights(digestOf(baseline));
        const few = scoresOf(weights, digestOf(drawn));
        const many = scoresOf(weights, digestOf(drawn.map(([ms, n]) => [ms, n * by])));
        expect(many.sums).toEqual(few.sums.map((sum) => sum * by));
      }),
      seeded,
    );
  });

  it('over windows, fault by fault', () => {
    const nats = fc.double({ min: -200, max: 200, noNaN: true });
    const perFault = fc.array(nats, { minLength: count, maxLength: count });
    const window = fc.record({ sums: perFault, excess: perFault, variances: perFault });
    fc.assert(
      // Fewer than one step of the local level.
      fc.property(fc.array(window, { maxLength: 29 }), (windows) => {
        const evidence = new CusumBank(10_000, new PeakPool());
        const plain = new PlainEvidence();
        windows.forEach(({ sums, excess, variances }, i) => {
          const scores = new WindowScores();
          scores.sums.set(sums);
          scores.excess.set(excess);
          scores.variances.set(variances);
          const most = plain.add(i, sums);
          expect(findIn(evidence, noCounts, i, scores)).toBe(most);
          expect([scores.sum, scores.varianceInflation]).toEqual([
            plain.sums[most],
            plain.varianceInflation(most),
          ]);
          for (let t = 0; t < count; t++) {
            expect([evidence.sum(t), evidence.last(t)]).toEqual([plain.sums[t], plain.last[t]]);
            expect([evidence.startMs(t), evidence.rest(t)]).toEqual([
              plain.starts[t],
              plain.rest(t),
            ]);
          }
          learnIn(evidence, i % 8, scores, 1);
          plain.learn(excess, variances);
          for (let t = 0; t < count; t++) {
            expect(evidence.varianceInflation(t)).toBe(plain.varianceInflation(t));
          }
          expect(CusumBank.mostDispersion(evidence.at)).toBe(Math.max(...plain.dispersions));
        });
      }),
      seeded,
    );
  });

  it('above thresholds, of digests of any size', () => {
    const options = detectOptions();
    const threshold = fc.record({
      baselineMs: duration,
      baselineShare: fc.double({ min: 0, max: 1, noNaN: true }),
      effectMs: duration,
      halfEffectMs: duration,
    });
    const { length } = options.quantiles;
    const thresholds = fc.array(threshold, { minLength: length, maxLength: length });
    fc.assert(
      fc.property(thresholds, fc.array(centroids, { minLength: 1 }), (given, windows) => {
        const counts = new TailCounts(options);
        counts.compareWith(given);
        const sums = given.map(() => ({ requests: 0, exceedances: 0, expected: 0 }));
        for (const [i, drawn] of windows.entries()) {
          const digest = digestOf(drawn);
          if (digest.size === 0) continue;
          const requests = digest.count;
          const summary = { requests, digest } as unknown as StageSummary;
          TailCounts.add(counts.at, length, i, summary);
          for (const [q, sum] of sums.entries()) {
            const { baselineMs, baselineShare } = given[q] as TailThreshold;
            sum.requests += requests;
            sum.exceedances += requests * (1 - digest.cdf(baselineMs));
            sum.expected += requests * baselineShare;
            const all = Math.min(30, i + 1);
            if (windows.length <= 30) expect(counts.sums(q, all)).toEqual(sum);
          }
        }
      }),
      seeded,
    );
  });

  it('of a window of far more centroids than are stored', () => {
    const weights = new EvidenceWeights(TDigest.fromValues([1, 2, 3]));
    const values = Array.from({ length: 5_000 }, (_, i) => 1 + i / 5_000);
    const many = scoresOf(weights, TDigest.fromValues(values, 10_000));
    const one = scoresOf(weights, TDigest.fromCentroids([1.01], [1]));
    expect(Math.abs(many.sums[0]! / 5_000 / one.sums[0]!)).toBeLessThan(2);
    expect(many.sums.every(Number.isFinite)).toBe(true);
  });
});
