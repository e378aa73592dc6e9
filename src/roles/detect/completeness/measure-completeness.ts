import type { Metrics } from '../../../base/telemetry/metrics.ts';
import type { Completeness } from './completeness.ts';

/**
 * Sets the gauges of how far behind judging is.
 *
 * @param unjudgedMs start of the first window that is complete and not judged, if there is one.
 */
export function measureCompleteness(
  metrics: Metrics,
  { behind, lagMessages }: Completeness,
  nowMs: number,
  unjudgedMs: number | undefined,
): void {
  const { detectorLagMessages, detectorPartitionBehindSeconds, detectorBehindSeconds } = metrics;
  // Partitions that are gone, or behind no longer, are not to stay.
  detectorLagMessages.reset();
  detectorPartitionBehindSeconds.reset();
  for (const [name, messages] of lagMessages) detectorLagMessages.set(labelsOf(name), messages);
  for (const { name, behindMs } of behind) {
    detectorPartitionBehindSeconds.set(labelsOf(name), behindMs / 1000);
  }
  const behindMs = Math.max(behind[0]?.behindMs ?? 0, nowMs - (unjudgedMs ?? nowMs));
  detectorBehindSeconds.set(behindMs / 1000);
}

/** Another process measures from now on. */
export function clearCompleteness(metrics: Metrics): void {
  metrics.detectorLagMessages.reset();
  metrics.detectorPartitionBehindSeconds.reset();
  metrics.detectorBehindSeconds.set(0);
}

/** @param name `topic/partition` */
function labelsOf(name: string) {
  const slash = name.lastIndexOf('/');
  return { topic: name.slice(0, slash), partition: name.slice(slash + 1) };
}
