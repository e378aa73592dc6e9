import { expect, it } from 'vitest';
import { comparisonTitle } from '../../../src/views/comparison/comparison-title.ts';

const at = (q: number, ratio: number, low: number | null = null, high: number | null = null) => ({
  ...{ q, a_ms: 100, b_ms: 100 * ratio, a_at_least: false, b_at_least: false },
  ...{ ratio, ratio_low: low, ratio_high: high },
});
const ofStage = (q: number, ratio: number, low: number | null, high: number | null) => ({
  ...{ q, candidate_ms: 100 * ratio, baseline_ms: 100, ratio, ratio_low: low, ratio_high: high },
});
const measured = [at(0.5, 1.6), at(0.95, 2.2), at(0.99, 2.84), at(0.999, 3)];
const uncertain = [at(0.5, 1.6, 0.9, 1.8), at(0.99, 2.84, 0.8, 4)];
const certain = [at(0.5, 1.6, 1.2, 1.8), at(0.99, 2.84, 0.8, 4)];
/** Shares of 1,000 requests each. */
const failing = (candidate: number, baseline: number) => ({
  requests: { candidate: 1_000, baseline: 1_000 },
  failures: {
    ...{ candidate, baseline },
    ...{ candidate_share: candidate / 1_000, baseline_share: baseline / 1_000 },
  },
});
const inconclusive = (missing_requests: number, failures = failing(3, 3)) => ({
  ...({ verdict: 'inconclusive', minutes: 4, missing_requests } as const),
  ...failures,
});

it.each([
  [
    'names the objective that made B fail',
    comparisonTitle(
      { ...inconclusive(0), verdict: 'fail', failed_stage: null, failed_objective: 'chat' },
      uncertain,
    ),
    'Goodput of B is worse (objective chat); whole requests: p99 (+184 %, −20 to 300): fail',
  ],
  [
    'begins with failures, whose durations are no gain',
    comparisonTitle(inconclusive(0, failing(1_000, 3)), [at(0.5, 0.03)], 'ranges'),
    'B fails 100 % of requests, A 0.3 %; B against A, as measured: p50 (−97 %); too short for a release verdict',
  ],
  [
    'leaves out failures that chance explains',
    comparisonTitle(inconclusive(0, failing(12, 4)), [at(0.5, 1.1)], 'ranges'),
    'B against A, as measured: p50 (+10 %); too short for a release verdict',
  ],
  [
    'of past ranges says what was measured',
    comparisonTitle(inconclusive(0), measured, 'ranges'),
    'B against A, as measured: p50 (+60 %), p95 (+120 %), p99 (+184 %); too short for a release verdict',
  ],
  [
    'of past versions likewise',
    comparisonTitle(inconclusive(0), measured, 'versions'),
    'B against A, as measured: p50 (+60 %), p95 (+120 %), p99 (+184 %); too short for a release verdict',
  ],
  [
    'of past ranges says what is certain',
    comparisonTitle(inconclusive(0), certain, 'ranges'),
    'B is worse at p50 (+60 %, 20 to 80); too short for a release verdict',
  ],
  [
    'of a range that goes on says how much more it takes',
    comparisonTitle(inconclusive(1_234), uncertain, 'ranges'),
    'B against A, as measured: p50 (+60 %, −10 to 80), p99 (+184 %, −20 to 300); a verdict needs about 1,200 more requests',
  ],
  [
    'of versions that go on says that nothing is certain yet',
    comparisonTitle(inconclusive(1_234), uncertain, 'versions'),
    'No difference between B and A is certain: p99 (+184 %, −20 to 300); a verdict needs about 1,200 more requests',
  ],
  [
    'of a release that fails by a stage names it before whole requests, which are as they were',
    comparisonTitle(
      {
        ...{ verdict: 'fail', minutes: 40, missing_requests: 0, ...failing(3, 3) },
        ...{ failed_stage: 'first_token', failed_by: 0.95 },
        stages: [
          {
            ...{ stage: 'first_token', excess_ms: null, share_of_excess: null },
            quantiles: [
              ofStage(0.5, 1.02, 0.9, 1.1),
              ofStage(0.95, 1.5, 1.3, 1.7),
              ofStage(0.99, 1.62, 1.41, null),
            ],
          },
        ],
      },
      [at(0.5, 1, 0.97, 1.03), at(0.99, 1.02, 0.95, 1.1)],
    ),
    'TTFT (first_token) of B is worse at p95 (+50 %, 30 to 70), p99 (+62 %); whole requests: p99 (+2 %, −5 to 10): fail',
  ],
  [
    'of an incident has what its test found, then what was measured, and no other answer',
    comparisonTitle({ ...inconclusive(0), verdict: 'fail' }, certain, 'ranges', 'B is slower'),
    'B is slower; B against A, as measured: p50 (+60 %), p99 (+184 %)',
  ],
  [
    'with a verdict has it',
    comparisonTitle({ ...inconclusive(0), verdict: 'pass' }, uncertain, 'ranges'),
    'No difference between B and A is certain: p99 (+184 %, −20 to 300): pass',
  ],
])('the title %s', (_, title, expected) => {
  expect(title.replaceAll('\u00a0', ' ')).toBe(expected);
});
