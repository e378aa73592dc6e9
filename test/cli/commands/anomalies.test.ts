import { describe, expect, it } from 'vitest';
import { anomalyText } from '../../../src/cli/commands/anomalies.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';

const rates = {
  ...{ slow_rate: 0.5, slow_rate_of_others: 0.05 },
  ...{ baseline_slow_rate: 0.05, baseline_slow_rate_of_others: 0.05 },
};
const host = { facet: 'host', value: 'pod-7', share_of_slow: 0.712, share_of_all: 0.08, ...rates };
const miss = {
  facet: 'cache_hit',
  value: 'miss',
  share_of_slow: 1,
  share_of_all: 1,
  baseline_share_of_all: 0.2,
};

/** The lines about drivers. */
function driverLinesOf(drivers: Parameters<typeof anomalyText>[0]['drivers']): string[] {
  const lines = anomalyText(anomalyFixture({ drivers }), { color: false }).split('\n');
  const first = lines.findIndex((line) => line.startsWith('  driver:'));
  if (first < 0) return [];
  const end = lines.findIndex((line, n) => n > first && /^ {2}\S/.test(line));
  return lines.slice(first, end);
}

describe('an anomaly in a list', () => {
  it('names the two strongest drivers', () => {
    const more = { ...host, facet: 'batch_size', value: '64-127', baseline_share_of_all: 0.08 };
    expect(driverLinesOf([host, more, { ...miss, ...rates }])).toEqual([
      '  driver: host pod-7: 71 % of slow requests, 8 % of all',
      '          batch_size 64-127: 71 % of slow requests, 8 % of all',
    ]);
  });

  it('states the baseline of the drivers', () => {
    expect(driverLinesOf([{ ...miss, ...rates }])).toEqual([
      '  driver: cache_hit miss: 100 % of slow requests, 100 % of all (baseline 20 %)',
    ]);
  });

  it('leaves them out where none are known', () => {
    expect(driverLinesOf(undefined)).toEqual([]);
    expect(driverLinesOf([])).toEqual([]);
  });

  it('names the stages with the excess, with one sign for a number and its share, and the class of the cause', () => {
    const blame = [
      { stage: 'features', excess_ms: 294, share: 1.155 },
      { stage: 'queue', excess_ms: -39.1, share: -0.154 },
      { stage: 'parse', excess_ms: 0.1, share: 0.0004 },
    ];
    expect(anomalyText(anomalyFixture({ blame }), { color: false })).toContain(
      '\n  blame:  slowest 1 %: mean +255 ms; features +294 ms (100 % of what rose), queue −39.1 ms\n',
    );
  });

  it('escapes control characters in foreign text', () => {
    expect(driverLinesOf([{ ...host, value: 'pod\u001b[31m' }]).join()).not.toContain('\u001b');
  });
});
