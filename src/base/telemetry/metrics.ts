import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { assembleMetrics } from './assemble-metrics.ts';
import { alertMetrics, detectDelayMetrics, detectMetrics } from './detect-metrics.ts';
import {
  clockMetrics,
  eventMetrics,
  formatMetrics,
  ingestMetrics,
  ledgerMetrics,
} from './ingest-metrics.ts';
import { MetricFactory } from './metric-factory.ts';
import { serveMetrics } from './serve-metrics.ts';

/** Metrics of a tailmark process. One set per process; tests make their own. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Names follow Prometheus: `tailmark_<noun>_<unit>[_total]`, base units, few labels. */
export function createMetrics() {
  const registry = new Registry();
  const make = new MetricFactory(registry);
  return {
    registry,
    /** Figures of the process, which its threads do not have: see `collectProcessMetrics`. */
    ofProcess: new Registry(),
    ...assembleMetrics(make),
    ...eventMetrics(make),
    ...ingestMetrics(make),
    ...clockMetrics(make),
    ...formatMetrics(make),
    ...ledgerMetrics(make),
    ...detectMetrics(make),
    ...detectDelayMetrics(make),
    ...alertMetrics(make),
    ...serveMetrics(make),
  };
}

/** Values of a set of metrics, to be sent to another thread. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

export function readMetrics({ registry }: Metrics): Promise<MetricsSnapshot> {
  return registry.getMetricsAsJSON();
}

/** Renders the metrics of several threads in Prometheus' text format: sums, or maxima. */
export function renderMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics();
}
