import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { detectMetrics } from './detect-metrics.ts';
import { ingestMetrics, ledgerMetrics } from './ingest-metrics.ts';
import { MetricFactory } from './metric-factory.ts';

/** Every metric of a tailmark process. One set per process; tests make their own. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Names follow Prometheus: `tailmark_<noun>_<unit>[_total]`, base units, few labels. */
export function createMetrics() {
  const registry = new Registry();
  const make = new MetricFactory(registry);
  return { registry, ...ingestMetrics(make), ...ledgerMetrics(make), ...detectMetrics(make) };
}

/** What a set of metrics stands at, to be sent to another thread. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

export function readMetrics({ registry }: Metrics): Promise<MetricsSnapshot> {
  return registry.getMetricsAsJSON();
}

/** One page, in Prometheus' text format, of what several threads count: sums, or the worst of them. */
export function renderMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics();
}
