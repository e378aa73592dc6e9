import type { MetricFactory } from './metric-factory.ts';

/** Metrics of the detect role. */
export function detectMetrics(make: MetricFactory) {
  return {
    windowsJudged: make.counter(
      'windows_judged_total',
      'Windows of series that the detector has judged; of series beyond its limit none.',
    ),
    windowsJudgedAgain: make.counter(
      'windows_judged_again_total',
      'Windows, of all series, judged again as they had received more than 1 % of their requests late.',
    ),
    windowsLeftLate: make.counter(
      'windows_left_late_total',
      'Windows that had received more than 1 % of their requests late and were too old to be judged again.',
    ),
    detectorSeries: make.gauge('detector_series', 'Series that the detector judges.'),
    detectorSeriesLimit: make.gauge('detector_series_limit', 'Series that it judges at most.'),
    detectorSeriesUnjudged: make.gauge(
      'detector_series_unjudged',
      'Series of the last window that had requests and were not judged.',
    ),
    detectorLeader: make.gauge(
      'detector_leader',
      '1 where this process detects, 0 where it stands by.',
    ),
    detectorBehindSeconds: make.gauge(
      'detector_behind_seconds',
      'How long the first message that is not stored has been in Kafka, or the first window that is complete has not been judged.',
      [],
      'max',
    ),
    detectorLagMessages: make.gauge(
      'detector_lag_messages',
      'Messages in Kafka that are not stored, whoever ingests, as the detector sees it.',
      ['topic', 'partition'],
      'max',
    ),
    detectorPartitionBehindSeconds: make.gauge(
      'detector_partition_behind_seconds',
      'How long messages of the partition have been waiting to be stored; only while that is longer than it should be.',
      ['topic', 'partition'],
      'max',
    ),
    stateSavedSeconds: make.gauge(
      'detector_state_timestamp_seconds',
      'Event time up to which what the detector has learnt is saved; 0 before the first time.',
      [],
      'max',
    ),
    stateSavedBytes: make.gauge('detector_state_bytes', 'Size of what was saved, not compressed.'),
    stateFailures: make.counter('detector_state_failures_total', 'Times it could not be saved.'),
    detectorTests: make.gauge(
      'detector_tests',
      'Tests that share the budget of pages: of stages, failures and traffic.',
    ),
    detectorStagesUnjudged: make.gauge(
      'detector_stages_unjudged',
      'Stages of judged series that were not judged in their last window.',
    ),
    anomalies: make.counter('anomaly_events_total', 'Anomaly events, by kind.', ['event']),
    alertsFailed: make.counter('alert_failures_total', 'Deliveries given up.', ['target']),
  };
}
