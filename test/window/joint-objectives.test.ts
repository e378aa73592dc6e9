import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { type CountedObjective, objectiveRow } from '../../src/config/slos.ts';
import { SeededRandom } from '../base/seeded-random.ts';
import { countedOf, type GoodputRequest, goodputRequests } from './goodput-requests.ts';
import { TestChunk } from './test-chunk.ts';
import type { TimingEventText } from './timing-event-text.ts';

const startMs = 1_790_000_000_000;
const spread = { fromMs: startMs, stepMs: 40 };
const options = {
  dimensions: ['model', 'region', 'tenant', 'cold_start'],
  allowedLatenessMs: 1e9,
  maxFutureMs: 1e9,
} as const;
const llm = { first_token: 500, time_per_output_token: 50, total: 10_000 };

const thresholds = fc
  .record(
    {
      first_token: fc.constantFrom(140, 305, 500),
      time_per_output_token: fc.constantFrom(10, 50),
      total: fc.constantFrom(400, 2_000, 10_000),
      queue: fc.constantFrom(5, 40, 150),
      absent: fc.constant(1),
    },
    { requiredKeys: [] },
  )
  .filter((given) => Object.keys(given).length > 0);
const match = fc.record(
  {
    model: fc.constantFrom('chat', 'c*', '*'),
    region: fc.constantFrom('eu-*', 'us-1', '*'),
    tenant: fc.constantFrom('a', '*b'),
    cold_start: fc.constantFrom('true', 'false'),
  },
  { requiredKeys: [] },
);
const objectives = fc.uniqueArray(
  fc.record({ thresholds, match: fc.array(match, { minLength: 1, maxLength: 2 }) }),
  {
    minLength: 1,
    maxLength: limits.jointObjectives,
    selector: (each) => objectiveRow(each.thresholds),
  },
);

function chunkOf(counted: readonly CountedObjective[], requests: readonly GoodputRequest[]) {
  const chunk = new TestChunk({ ...options, objectives: counted }).begin();
  chunk.add(...(requests as readonly TimingEventText[]));
  return chunk;
}

/** Requests of an objective's row and those that missed, over all series and windows. */
function storedOf(chunk: TestChunk, given: CountedObjective['thresholds']) {
  const counts = { requests: 0, missed: 0 };
  for (const [key, row] of chunk.rows()) {
    if (!key.endsWith(`|${objectiveRow(given)}`)) continue;
    counts.requests += row.requests;
    counts.missed += row.sumUs / 1_000;
  }
  return counts;
}

describe('joint objectives', () => {
  it('count every request once, exactly as judging one after the other does', () => {
    const seen = { missed: 0, met: 0 };
    fc.assert(
      fc.property(fc.integer(), objectives, (seed, counted) => {
        const requests = goodputRequests(new SeededRandom(seed), 120, spread);
        const chunk = chunkOf(counted, requests);
        for (const each of counted) {
          const expected = countedOf(requests, each.thresholds, each.match);
          expect(storedOf(chunk, each.thresholds)).toEqual(expected);
          seen.missed += expected.missed;
          seen.met += expected.requests - expected.missed;
        }
      }),
      { numRuns: 150 },
    );
    expect(seen.missed).toBeGreaterThan(1_000);
    expect(seen.met).toBeGreaterThan(1_000);
  });

  it('leave every other row, band, driver and exemplar as it is', () => {
    const requests = goodputRequests(new SeededRandom(3), 500, spread);
    const counted = [{ thresholds: llm, match: [{ model: 'c*' }] }];
    const [plain, chunk] = [chunkOf([], requests), chunkOf(counted, requests)];
    const others = [...chunk.rows()].filter(([key]) => !key.includes('|objective: '));
    expect(new Map(others)).toEqual(plain.rows());
    expect(chunk.rows().size).toBeGreaterThan(plain.rows().size);
    const exemplarsOf = ({ accumulator: { exemplars, stages } }: TestChunk) =>
      [...exemplars.all()].map((each) => [
        each.requestId,
        each.totalMs,
        each.stageIds.map((id) => stages.text(id)),
      ]);
    expect(exemplarsOf(chunk)).toEqual(exemplarsOf(plain));
    expect(chunk.accumulator.drivers.size).toBe(plain.accumulator.drivers.size);
  });

  it('judge a request by the parts that it has, and one without any only where it failed', () => {
    const total = 400;
    const at = (more: object) => ({ ts: startMs, model: 'chat', total_ms: total, ...more });
    const missedOf = (request: GoodputRequest) =>
      storedOf(chunkOf([{ thresholds: llm, match: [{}] }], [request]), llm);
    const good = { requests: 1, missed: 0 };
    const bad = { requests: 1, missed: 1 };
    expect(missedOf(at({}))).toEqual(good);
    // One output token has no time per output token.
    expect(missedOf(at({ output_tokens: 1, milestones_ms: { first_token: 390 } }))).toEqual(good);
    expect(missedOf(at({ milestones_ms: { first_token: 501 } }))).toEqual(bad);
    expect(missedOf(at({ milestones_ms: { first_token: 500 } }))).toEqual(good);
    expect(missedOf(at({ status: 'cancelled' }))).toEqual(good);
    expect(missedOf(at({ status: 'timeout' }))).toEqual(bad);
    const part = { ts: startMs, model: 'chat', partial: true, stages_ms: { queue: 1 } };
    expect(missedOf(part)).toEqual({ requests: 0, missed: 0 });
    expect(missedOf({ ...part, status: 'error' })).toEqual(bad);
  });

  it('are counted through a flood of names of stages', () => {
    const flood = Array.from({ length: 2 * limits.stageNames }, (_, n) => ({
      ...{ ts: startMs + n, model: 'chat', total_ms: 1 },
      stages_ms: { [`stage_${n}`]: 1 },
    }));
    const late = {
      ...{ ts: startMs + 1_000, model: 'chat', total_ms: 900, output_tokens: 5 },
      milestones_ms: { first_token: 600 },
    };
    const chunk = chunkOf([{ thresholds: llm, match: [{}] }], [...flood, late]);
    expect(storedOf(chunk, llm)).toEqual({ requests: flood.length + 1, missed: 1 });
  });
});
