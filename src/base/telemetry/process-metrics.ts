import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics } from 'prom-client';
import { MetricFactory } from './metric-factory.ts';
import type { Metrics } from './metrics.ts';

/** Interval at which the event loop is sampled: what exceeds it is delay. */
const SAMPLE_MS = 10;

/**
 * Adds figures of the process: `process_*` and `nodejs_*` of prom-client, and the version that runs. Once a
 * process: they are collected until it ends.
 */
export function collectProcessMetrics(metrics: Metrics, version: string): void {
  collectDefaultMetrics({ register: metrics.ofProcess });
  new MetricFactory(metrics.ofProcess)
    .gauge('build_info', 'Always 1: the version of tailmark, and of Node.', ['version', 'node'])
    .set({ version, node: process.version }, 1);
  collectThreadMetrics(metrics);
}

/** Adds the longest delay of this thread's event loop since it was read last. Once a thread. */
export function collectThreadMetrics({ registry }: Metrics): void {
  const delays = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  delays.enable();
  new MetricFactory(registry).gauge(
    'event_loop_delay_seconds',
    'Longest delay of the event loop since the last scrape, of all threads.',
    [],
    'max',
    (gauge) => {
      gauge.set(Math.max(0, delays.max / 1e9 - SAMPLE_MS / 1e3));
      delays.reset();
    },
  );
}
