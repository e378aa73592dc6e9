// Covers src/base/telemetry/assemble-metrics.ts, src/base/telemetry/detect-metrics.ts,
// src/base/telemetry/ingest-metrics.ts, src/base/telemetry/metric-factory.ts,
// src/base/telemetry/process-metrics.ts and src/base/telemetry/serve-metrics.ts.

import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MetricFactory } from '../../../src/base/telemetry/metric-factory.ts';
import {
  createMetrics,
  type MetricsSnapshot,
  renderMetrics,
} from '../../../src/base/telemetry/metrics.ts';
import {
  collectProcessMetrics,
  collectThreadMetrics,
} from '../../../src/base/telemetry/process-metrics.ts';

describe('metrics of a process', () => {
  it('have the version, CPU, memory and event loop, apart from those that threads add up', async () => {
    const metrics = createMetrics();
    collectProcessMetrics(metrics, '1.2.3');
    const ofProcess = await metrics.ofProcess.metrics();
    expect(ofProcess).toContain(
      `tailmark_build_info{version="1.2.3",node="${process.version}"} 1\n`,
    );
    for (const name of [
      'process_cpu_seconds_total',
      'process_start_time_seconds',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
    ]) {
      expect(ofProcess).toMatch(new RegExp(`^${name} [0-9.e+-]+$`, 'm'));
    }
    expect(ofProcess).not.toContain('tailmark_events');
  });

  it('show the longest delay of the event loop, of all threads', async () => {
    const metrics = createMetrics();
    collectThreadMetrics(metrics);
    // A delay lies between two samples, 10 ms apart: one before the loop is blocked, one afterwards.
    let delayS = 0;
    while (delayS < 0.25) {
      await setTimeout(25);
      const endMs = performance.now() + 300;
      while (performance.now() < endMs);
      await setTimeout(25);
      delayS = delayIn(await metrics.registry.metrics());
    }
    const [own, another] = [createMetrics(), createMetrics()].map(({ registry }) =>
      new MetricFactory(registry).gauge('event_loop_delay_seconds', 'of a thread', [], 'max'),
    );
    own?.set(3);
    another?.set(7);
    const both = [own, another].map(async (gauge) => [await gauge?.get()]);
    expect(delayIn(await renderMetrics((await Promise.all(both)) as MetricsSnapshot[]))).toBe(7);
  });
});

function delayIn(text: string): number {
  return Number(/^tailmark_event_loop_delay_seconds (\S+)$/m.exec(text)?.[1]);
}
