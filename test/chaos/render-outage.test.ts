import { describe, expect, it } from 'vitest';
import type { OutageSummary } from './outage-summary.ts';
import { renderOutage } from './render-outage.ts';

const mib = 2 ** 20;
const summary: OutageSummary = {
  seed: '1',
  outageMs: 90_000,
  eventsPerSecond: 100_000,
  publishedPerSecond: 99_900.4,
  events: 15_000_000,
  backlogEvents: 9_000_000,
  catchUpMs: 20_000,
  catchUpEvents: 10_000_000,
  memory: [
    { when: 'at the start of the outage', bytes: 200 * mib },
    { when: 'at the end', bytes: 210 * mib },
  ],
  peakBytes: 300 * mib,
  differences: [],
  compared: 97,
  verify: { ok: true, problems: [] },
  drains: [],
  selfExits: [],
};

describe('renderOutage', () => {
  it('shows on one page the cost of the outage', () => {
    expect(renderOutage(summary).split('\n')).toEqual([
      'seed                          1',
      'ClickHouse away               90s',
      'input                         99900 events/s, 100000 asked for',
      'events                        15000000',
      'backlog at its end            9000000 events',
      'caught up in                  20.0 s: 500000 events/s, 5.0 times the input (at least 3: held)',
      'memory, the most              300 MiB (limit 512 MiB: held)',
      '  at the start of the outage  200 MiB',
      '  at the end                  210 MiB',
      'differences                   0 of 97 counts, sums and offsets',
      'tailmark verify               ok',
      'ended by themselves           0',
      'exactly once: it holds',
      '',
    ]);
  });

  it('names the limit that was exceeded', () => {
    const text = renderOutage({ ...summary, catchUpMs: 40_000, peakBytes: 513 * mib });
    expect(text).toContain('2.5 times the input (at least 3: NOT held)');
    expect(text).toContain('513 MiB (limit 512 MiB: NOT held)');
  });

  it('names each difference', () => {
    const text = renderOutage({
      ...summary,
      differences: ['events in the ledger: 1 instead of 2'],
    });
    expect(text).toContain('  events in the ledger: 1 instead of 2\n');
    expect(text).toContain('exactly once: it does NOT hold\n');
  });
});
