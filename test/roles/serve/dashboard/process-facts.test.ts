import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/base/clock.ts';
import {
  FactReader,
  type FactSources,
} from '../../../../src/roles/serve/dashboard/process-facts.ts';

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 10, 1);

describe('rejected events of a process', () => {
  it('are those of the last hour, or since its start', async () => {
    let nowMs = startMs;
    let events = 0;
    let eachMinute = () => {};
    const clock = {
      nowMs: () => nowMs,
      every: (_ms: number, action: () => void) => {
        eachMinute = action;
        return () => {};
      },
    } as unknown as Clock;
    const metric = () => ({
      name: 'tailmark_events_dropped_total',
      values: [
        { labels: { reason: 'bad_json' }, value: events },
        { labels: { reason: 'late' }, value: 5 },
      ],
    });
    const sources = {
      context: {
        ...{
          groupId: 'g',
          log: { warn: () => {} },
          metrics: { registry: { getMetricsAsJSON: async () => [metric()] } },
        },
        config: { source: { type: 'file' }, alert: { receivers: [] } },
      },
      others: [],
      completeness: async () => ({ lagMessages: new Map(), kafkaOutage: undefined }),
      problems: () => [],
    } as unknown as FactSources;
    const reader = new FactReader(sources, clock);
    const rejected = async () => {
      const { byReason, sinceMs } = (await reader.read()).rejected;
      return [[...byReason], (sinceMs - startMs) / minuteMs];
    };
    expect(await rejected()).toEqual([[], 0]);
    events = 7;
    expect(await rejected()).toEqual([[['bad_json', 7]], 0]);
    for (let minute = 1; minute <= 70; minute++) {
      nowMs = startMs + minute * minuteMs;
      eachMinute();
      // The sample is taken asynchronously.
      await rejected();
    }
    events = 9;
    expect(await rejected()).toEqual([[['bad_json', 2]], 11]);
    reader.stop();
  });
});
