import type { Metrics } from '../../../base/telemetry/metrics.ts';
import type { Completeness } from './completeness.ts';

/**
 * Sets the gauges of the detector's lag.
 *
 * @param pendingFromMs start of the first complete window that is not evaluated, if there is one.
 */
export function measureCompleteness(
  metrics: Metrics,
  { behind, lagMessages }: Pick<Completeness, 'behind' | 'lagMessages'>,
  nowMs: number,
  pendingFromMs: number | undefined,
): void {
  const { detectorLagMessages, detectorPartitionBehindSeconds, detectorBehindSeconds } = metrics;
  // Removes partitions that are deleted or have caught up.
  detectorLagMessages.reset();
  detectorPartitionBehindSeconds.reset();
  for (const [name, messages] of lagMessages) detectorLagMessages.set(labelsOf(name), messages);
  for (const { name, behindMs } of behind) {
    detectorPartitionBehindSeconds.set(labelsOf(name), behindMs / 1000);
  }
  const behindMs = Math.max(behind[0]?.behindMs ?? 0, nowMs - (pendingFromMs ?? nowMs));
  detectorBehindSeconds.set(behindMs / 1000);
}

/** @param name `topic/partition` */
function labelsOf(name: string) {
  const slash = name.lastIndexOf('/');
  return { topic: name.slice(0, slash), partition: name.slice(slash + 1) };
}
