import { describe, expect, it } from 'vitest';
import { Backtest } from '../../src/backtest/backtest.ts';
import { MemoryWindows } from '../../src/backtest/memory-windows.ts';
import { minuteMs } from '../../src/base/time.ts';
import { configSchema } from '../../src/config/schema.ts';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { defaultFleet } from '../../src/generate/default-fleet.ts';
import type { Fault } from '../../src/generate/fault.ts';
import type { TimingEventJson } from '../../src/generate/timing-event-json.ts';
import { generateTraffic } from '../../src/generate/traffic.ts';

const startMs = Date.UTC(2026, 10, 2, 9);
const config = configSchema.parse({ detect: { baseline: '20m' } });

/** Changes a request that falls into the last six minutes. */
type Change = (event: TimingEventJson) => TimingEventJson;

/** The last event of 26 minutes of the ranker, the last six with a fault. */
function eventOf(
  fault: Fault | undefined,
  change: Change = (event) => event,
  { ratePerSecond = 40, minutes = 26 } = {},
) {
  const windows = new MemoryWindows(config);
  const backtest = new Backtest(config.detect, (event) => windows.explained(event));
  const evaluate = (isOver: boolean) => {
    for (const at of windows.complete(isOver)) backtest.evaluate([at]);
  };
  for (const event of generateTraffic({
    seed: 'memory drivers',
    startMs,
    durationMs: minutes * minuteMs,
    ratePerSecond,
    models: defaultFleet.filter(({ name }) => name === 'ranker'),
    dailySwing: 0,
    faults: fault === undefined ? [] : [{ ...fault, fromMs: 20 * minuteMs }],
  })) {
    const isLate = event.ts >= startMs + 20 * minuteMs;
    windows.consume(Buffer.from(JSON.stringify(isLate ? change(event) : event)));
    evaluate(false);
  }
  evaluate(true);
  return backtest.anomalies;
}

/** The same request with a forward pass that takes eight times as long. */
function slower(event: TimingEventJson): TimingEventJson {
  const { stages_ms, total_ms } = event;
  const { forward = 0 } = stages_ms;
  const added = 7 * forward;
  return {
    ...{ ...event, total_ms: total_ms + added },
    stages_ms: { ...stages_ms, forward: forward + added },
  };
}

const namesOf = (event: AnomalyEvent | undefined) =>
  event?.drivers?.map(({ facet, value }) => `${facet} ${value}`) ?? [];

describe('drivers of a recording', () => {
  it.each<Pick<Fault, 'region' | 'requestType'>>([
    { region: 'eu-west-1' },
    { requestType: 'search' },
    { region: 'us-east-1', requestType: 'recommend' },
  ])('name no host of what is slow as a whole: %j', (scope) => {
    const [event] = eventOf({ kind: 'slow_stage', stage: 'features', factor: 4, ...scope });
    expect(event).toMatchObject({ kind: 'tail_shift', stage: 'features' });
    expect(namesOf(event)).toEqual([]);
  });

  it('name a host that serves all regions', () => {
    const events = eventOf(undefined, (event) => {
      const host = event.host.replace(`${event.region}-`, '');
      return host === 'ranker-2' ? { ...slower(event), host } : { ...event, host };
    });
    expect(events.map(namesOf)).toEqual([['host ranker-2']]);
  });

  it.each(['', 'eu-west-1'])('name a size that is slow in region "%s"', (region) => {
    const [event] = eventOf(undefined, (each) => {
      const isHit = each.region.startsWith(region) && each.batch_size >= 64;
      return isHit && each.batch_size < 128 ? slower(each) : each;
    });
    const [first, ...others] = namesOf(event);
    expect(first).toBe('batch_size 64-127');
    // Their bytes are of the same requests.
    expect(others.filter((name) => !name.startsWith('request_bytes'))).toEqual([]);
  });

  it('name the slow host', () => {
    const host = 'ranker-eu-west-1-2';
    const [event, ...others] = eventOf({ kind: 'slow_stage', stage: 'forward', factor: 6, host });
    expect(others).toEqual([]);
    expect(event).toMatchObject({ model: 'ranker', region: 'eu-west-1', stage: 'forward' });
    const [driver, ...rest] = event?.drivers ?? [];
    expect(rest).toEqual([]);
    expect(driver).toMatchObject({ facet: 'host', value: host });
    expect(driver?.share_of_slow).toBeGreaterThan(0.7);
    expect(driver?.share_of_all).toBeLessThan(0.3);
    expect(driver?.baseline_slow_rate).toBeLessThan(0.1);
  });

  it.each([
    ['of half an hour', 3, {}],
    ['of an hour that is read at once', 6, { ratePerSecond: 12, minutes: 60 }],
  ])('distinguish larger requests from slower ones %s', (_, factor, traffic) => {
    const fault: Fault = { kind: 'big_requests', factor, share: 0.3, forMs: 6 * minuteMs };
    const [event] = eventOf(fault, undefined, traffic);
    expect(event?.bottleneck).toBe('traffic_mix');
    expect(event?.mix_share).toBeGreaterThan(0.5);
  });
});
