import { describe, expect, it } from 'vitest';
import type { ChaosSummary } from './chaos-summary.ts';
import { renderSummary } from './render-summary.ts';

const summary: ChaosSummary = {
  seed: '1',
  cycles: {
    'kill-ingester': 2,
    'pause-ingester': 1,
    'kill-clickhouse': 1,
    'stall-clickhouse': 1,
    'swallow-answers': 1,
    'cut-connections': 1,
    'delay-connections': 1,
    'kill-broker': 1,
    'restart-broker': 1,
    'scale-1-4-2': 1,
    'rolling-restart': 1,
  },
  events: 200_000,
  messages: 2_000,
  partitions: 8,
  differences: [],
  compared: 97,
  verify: { ok: true, problems: [] },
  sessionTimeoutMs: 10_000,
  takeoverMs: [11_000, 10_500, 10_900],
  drains: [
    { tookMs: 900, ended: 0 },
    { tookMs: 300, ended: 0 },
  ],
  inheritedIntents: 12,
  zombiesResumed: 1,
  requestsHit: 27,
  selfExits: [],
  clickhouseDeaths: 1,
  elapsedMs: 103_200,
};
const lines = (changes: Partial<ChaosSummary> = {}) =>
  renderSummary({ ...summary, ...changes }).split('\n');

describe('renderSummary', () => {
  it('shows on one page the faults and the result', () => {
    expect(lines()).toEqual([
      'seed                    1',
      'cycles                  12',
      '  kill-ingester         2',
      '  pause-ingester        1',
      '  kill-clickhouse       1',
      '  stall-clickhouse      1',
      '  swallow-answers       1',
      '  cut-connections       1',
      '  delay-connections     1',
      '  kill-broker           1',
      '  restart-broker        1',
      '  scale-1-4-2           1',
      '  rolling-restart       1',
      'events                  200000 in 2000 messages of 8 partitions',
      'differences             0 of 97 counts, sums and offsets',
      'tailmark verify         ok',
      'takeover after kill -9  3: least 10.5 s, median 10.9 s, most 11.0 s (limit 15.0 s: held), session timeout 10.0 s',
      'end after SIGTERM       2: least 0.3 s, median 0.9 s, most 0.9 s (limit 5.0 s: held)',
      '  not all stored        0',
      'intents inherited       12',
      'zombies resumed         1',
      'requests harmed         27',
      'ended by themselves     0',
      'ClickHouse crashed      1',
      'took                    103.2 s',
      'exactly once: it holds',
      '',
    ]);
  });

  it('names each difference', () => {
    const page = lines({ differences: ['requests of total in latency_1m: 9 instead of 10'] });
    expect(page).toContain('differences             1 of 97 counts, sums and offsets');
    expect(page.slice(-3)).toEqual([
      '  requests of total in latency_1m: 9 instead of 10',
      'exactly once: it does NOT hold',
      '',
    ]);
  });

  it('fails when verify does', () => {
    const page = lines({
      verify: { ok: false, problems: ['no gap or overlap of offsets: 1 problems'] },
    });
    expect(page).toContain('tailmark verify         NOT ok');
    expect(page.slice(-3)).toEqual([
      '  verify: no gap or overlap of offsets: 1 problems',
      'exactly once: it does NOT hold',
      '',
    ]);
  });

  it('names the limit that was exceeded, which is no difference', () => {
    const page = lines({ takeoverMs: [15_001], drains: [{ tookMs: 5_001, ended: 1 }] });
    expect(page.filter((line) => line.includes('NOT held'))).toHaveLength(2);
    expect(page).toContain('  not all stored        1');
    expect(page.at(-2)).toBe('exactly once: it holds');
  });

  it('lists a limited number of processes that ended by themselves', () => {
    const selfExits = Array.from({ length: 50 }, () => ({ ended: 69, lastLine: 'no broker' }));
    const page = lines({ selfExits });
    expect(page).toContain('ended by themselves     50');
    expect(page.filter((line) => line === '  ended by itself with 69: no broker')).toHaveLength(40);
    expect(page).toContain('  and 10 more');
  });
});
