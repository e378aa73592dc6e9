import { describe, expect, it } from 'vitest';
import { MemoryWindows } from '../../../src/backtest/memory-windows.ts';
import { minuteMs } from '../../../src/base/time.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { Detector } from '../../../src/detect/detector.ts';
import { defaultFleet } from '../../../src/generate/default-fleet.ts';
import { publishedTraffic } from '../../../src/generate/publish/published-traffic.ts';

const startMs = Date.UTC(2026, 10, 25, 19);
const fromMs = 60 * minuteMs;
const timesOutAfterMs = 30_000;

describe('requests that are longer than a window', () => {
  it('with defaults, a fifth of 20 a second that time out at 30 s: reported within 60 s of the first to arrive', () => {
    const config = configSchema.parse({});
    const windows = new MemoryWindows(config);
    const detector = new Detector(config.detect);
    const opened: AnomalyEvent[] = [];
    const evaluate = (isOver: boolean) => {
      for (const at of windows.complete(isOver)) {
        const nowMs = at.startMs + config.detect.window + config.windows.grace;
        const events = detector.observe(at.windows, nowMs, at.startMs);
        opened.push(...events.filter(({ state }) => state === 'opened'));
      }
    };
    for (const { event } of publishedTraffic({
      ...{ seed: 1, startMs, durationMs: fromMs + 4 * minuteMs, ratePerSecond: 20, dailySwing: 0 },
      models: defaultFleet.filter(({ name }) => name === 'ranker'),
      faults: [{ kind: 'timeouts', share: 0.2, afterMs: timesOutAfterMs, fromMs }],
    })) {
      windows.consume(Buffer.from(JSON.stringify(event)));
    }
    evaluate(true);
    const firstMs = startMs + fromMs + timesOutAfterMs;
    const [found] = opened.sort((a, b) => Date.parse(a.detected_at) - Date.parse(b.detected_at));
    expect(found).toMatchObject({ model: 'ranker', severity: 'critical' });
    // None before: the windows in which these requests started are normal.
    const { started_at = '', detected_at = '' } = found ?? {};
    expect(Date.parse(started_at)).toBeGreaterThanOrEqual(firstMs - config.detect.window);
    expect(Date.parse(detected_at) - firstMs).toBeLessThan(60_000);
    expect(windows.counts.late).toBe(0);
  });
});
