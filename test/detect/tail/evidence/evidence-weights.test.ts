import { describe, expect, it } from 'vitest';
import { EvidenceWeights } from '../../../../src/detect/tail/evidence/evidence-weights.ts';
import {
  faultTemplates,
  slowPathFault,
} from '../../../../src/detect/tail/evidence/fault-templates.ts';
import { WindowScores } from '../../../../src/detect/tail/evidence/window-scores.ts';
import { Random } from '../../../../src/generate/random.ts';
import { TDigest } from '../../../../src/sketch/t-digest.ts';

const size = faultTemplates.length;

function lognormal(seed: string, count: number, of = (ms: number, _: Random) => ms): TDigest {
  const random = new Random(seed);
  const values = Array.from({ length: count }, () => of(random.lognormal(50, 0.3), random));
  return TDigest.fromValues(values, 2_000);
}

function scoresOf(weights: EvidenceWeights, digest: TDigest): Float64Array {
  const scores = new WindowScores();
  EvidenceWeights.weigh(weights.at, digest, scores);
  return Float64Array.from(scores.sums);
}

describe('EvidenceWeights', () => {
  const weights = new EvidenceWeights(lognormal('usual', 50_000));

  it('scores against every fault without a change, by the predicted mean', () => {
    const requests = 20_000;
    const sums = scoresOf(weights, lognormal('more of it', requests));
    faultTemplates.forEach((_, t) => {
      const mean = weights.means[t] as number;
      const error = Math.sqrt((weights.variances[t] as number) / requests);
      expect(mean).toBeLessThan(0);
      expect(Math.abs((sums[t] as number) / requests - mean)).toBeLessThan(5 * error + 1e-3);
    });
  });

  it('predicts the scores of narrow stages, though their assumed density is wider', () => {
    const of = (seed: string, requests: number) =>
      lognormal(seed, requests, (ms, random) => 50 * (ms / 50) ** (random.chance(0.1) ? 0.2 : 0.6));
    const narrow = new EvidenceWeights(of('narrow', 100_000));
    const [requests, scores] = [100_000, new WindowScores()];
    EvidenceWeights.weigh(narrow.at, of('more of it', requests), scores);
    faultTemplates.forEach((_, t) => {
      const perRequest = (scores.excess[t] as number) / requests;
      const error = Math.sqrt((narrow.variances[t] as number) / requests);
      expect([t, Math.abs(perRequest) < 6 * error + 5e-4]).toEqual([t, true]);
    });
  });

  it('exceeds x by chance with a probability of e^-x at most', () => {
    let most = 0;
    for (let i = 0; i < 400; i++) {
      most = Math.max(most, ...scoresOf(weights, lognormal(`window ${i}`, 100)));
    }
    // 400 windows and 16 faults, if independent.
    expect(most).toBeLessThan(Math.log(400 * size));
  });

  it('scores most for the actual fault', () => {
    // Far slower requests all have the largest score, whatever the share.
    const small = faultTemplates.filter((fault) => fault.octaves === (fault.share < 0.1 ? 1.5 : 1));
    expect(small.map(({ share }) => share)).toEqual([0.03, 0.1, 0.3, 1]);
    for (const { share, octaves } of small) {
      const slowed = lognormal('slow', 20_000, (ms, random) =>
        random.chance(share) ? ms * 2 ** octaves : ms,
      );
      const sums = scoresOf(weights, slowed);
      const best = faultTemplates[sums.indexOf(Math.max(...sums))];
      expect([share, octaves, best]).toEqual([share, octaves, { share, octaves }]);
    }
  });

  it('ignores the number of slow requests, where it is given', () => {
    const digest = lognormal('usual', 50_000);
    // Nine times the baseline's count lie above the p97, distributed as in the baseline.
    const bound = digest.quantile(0.97);
    const swung = TDigest.fromCentroids(
      digest.means,
      digest.weights.map((weight, i) =>
        (digest.means[i] as number) > bound ? 9 * weight : weight,
      ),
    );
    const [all, given] = [new WindowScores(), new WindowScores()];
    EvidenceWeights.weigh(weights.at, swung, all);
    EvidenceWeights.within(weights.at, all, given);
    const most = ({ excess }: WindowScores) =>
      Math.max(...excess.map((sum) => Math.abs(sum) / swung.count));
    expect(most(all)).toBeGreaterThan(0.2);
    expect(most(given)).toBeLessThan(0.02);
  });

  it('is a ratio of densities within each region: the mean of its exponential is 1, for any shares', () => {
    const digest = lognormal('usual', 50_000);
    const bound = digest.quantile(0.97);
    for (const times of [1, 9, 1 / 9]) {
      const sums = new Float64Array(size);
      let requests = 0;
      digest.means.forEach((ms, i) => {
        const [all, given] = [new WindowScores(), new WindowScores()];
        EvidenceWeights.weigh(weights.at, TDigest.fromValues([ms]), all);
        EvidenceWeights.within(weights.at, all, given);
        const weight = (digest.weights[i] as number) * (ms > bound ? times : 1);
        requests += weight;
        for (let t = 0; t < size; t++) {
          sums[t] = (sums[t] as number) + weight * Math.exp(given.sums[t] as number);
        }
      });
      for (const sum of sums) expect(Math.abs(sum / requests - 1)).toBeLessThan(0.1);
    }
  });

  it('limits the score of a request to four', () => {
    const sums = scoresOf(weights, TDigest.fromValues([1e9]));
    expect(Math.max(...sums)).toBeLessThanOrEqual(4);
    expect(Math.max(...scoresOf(weights, TDigest.fromValues([1e-9])))).toBeLessThanOrEqual(4);
  });

  it('is robust to gaps between few baseline requests', () => {
    const few = new EvidenceWeights(lognormal('few', 200));
    const sums = scoresOf(few, lognormal('many', 20_000));
    expect(Math.max(...sums) / 20_000).toBeLessThan(0.05);
  });

  describe('where requests take two paths', () => {
    const slow = slowPathFault;
    const cache = (seed: string, requests: number, hits: number): TDigest => {
      const random = new Random(seed);
      const draw = () =>
        random.chance(hits) ? random.lognormal(4, 0.2) : random.lognormal(180, 0.3);
      return TDigest.fromValues(Array.from({ length: requests }, draw), 2_000);
    };
    const cached = new EvidenceWeights(cache('usual', 50_000, 0.8));

    it('finds the slow one, from the middle between both on, and its share', () => {
      expect(weights.slowPath).toBeUndefined();
      const { fromMs, share } = cached.slowPath ?? { fromMs: 0, share: 0 };
      expect(share).toBeCloseTo(0.2, 2);
      // The root of 4 × 180 is 27.
      expect(fromMs).toBeGreaterThan(24);
      expect(fromMs).toBeLessThan(31);
    });

    it('scores three in ten on the slow one by the last fault, and their durations by the others', () => {
      const [ms, missMs] = [4, 180];
      const ofHit = scoresOf(cached, TDigest.fromValues([ms]))[slow] as number;
      const ofMiss = scoresOf(cached, TDigest.fromValues([missMs]))[slow] as number;
      expect(ofHit).toBeCloseTo(Math.log(0.7), 3);
      expect(ofMiss).toBeCloseTo(Math.log(0.7 + 0.3 / 0.2), 1);
      const most = (hits: number) => {
        const sums = scoresOf(cached, cache('now', 20_000, hits));
        return [sums.indexOf(Math.max(...sums)), (sums[slow] as number) > 0];
      };
      expect(most(0.5)).toEqual([slow, true]);
      expect(most(0)).toEqual([slow, true]);
      expect(most(0.8)[1]).toBe(false);
      expect(most(0.95)[1]).toBe(false);
    });

    it('scores by the predicted mean, without a change', () => {
      const scores = new WindowScores();
      EvidenceWeights.weigh(cached.at, cache('more of it', 20_000, 0.8), scores);
      const error = Math.sqrt((cached.variances[slow] as number) * 20_000);
      expect(Math.abs(scores.excess[slow] as number)).toBeLessThan(5 * error);
    });
  });
});
