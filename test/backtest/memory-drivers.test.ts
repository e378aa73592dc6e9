import { describe, expect, it } from 'vitest';
import { Backtest } from '../../src/backtest/backtest.ts';
import { MemoryWindows } from '../../src/backtest/memory-windows.ts';
import { minuteMs } from '../../src/base/time.ts';
import { configSchema } from '../../src/config/schema.ts';
import { defaultFleet } from '../../src/generate/default-fleet.ts';
import type { Fault } from '../../src/generate/fault.ts';
import { generateTraffic } from '../../src/generate/traffic.ts';

const startMs = Date.UTC(2026, 10, 2, 9);
const config = configSchema.parse({ detect: { baseline: '20m' } });

/** The last event of 26 minutes of the ranker, the last six with a fault. */
function eventOf(fault: Fault) {
  const windows = new MemoryWindows(config);
  const backtest = new Backtest(config.detect, (event) => windows.explained(event));
  const evaluate = (isOver: boolean) => {
    for (const at of windows.complete(isOver)) backtest.evaluate([at]);
  };
  for (const event of generateTraffic({
    seed: 'memory drivers',
    startMs,
    durationMs: 26 * minuteMs,
    ratePerSecond: 40,
    models: defaultFleet.filter(({ name }) => name === 'ranker'),
    dailySwing: 0,
    faults: [{ ...fault, fromMs: 20 * minuteMs }],
  })) {
    windows.consume(Buffer.from(JSON.stringify(event)));
    evaluate(false);
  }
  evaluate(true);
  return backtest.anomalies;
}

describe('drivers of a recording', () => {
  it('name the slow host', () => {
    const host = 'ranker-eu-west-1-2';
    const [event, ...others] = eventOf({ kind: 'slow_stage', stage: 'forward', factor: 6, host });
    expect(others).toEqual([]);
    expect(event).toMatchObject({ model: 'ranker', region: 'eu-west-1', stage: 'forward' });
    const [driver] = event?.drivers ?? [];
    expect(driver).toMatchObject({ facet: 'host', value: host });
    expect(driver?.share_of_slow).toBeGreaterThan(0.7);
    expect(driver?.share_of_all).toBeLessThan(0.3);
    expect(driver?.baseline_slow_rate).toBeLessThan(0.1);
  });

  it('distinguish larger requests from slower ones', () => {
    const [event] = eventOf({ kind: 'big_requests', factor: 3, share: 0.3 });
    expect(event?.bottleneck).toBe('traffic_mix');
    expect(event?.mix_share).toBeGreaterThan(0.5);
  });
});
