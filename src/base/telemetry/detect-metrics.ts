import type { MetricFactory } from './metric-factory.ts';

export function detectMetrics(make: MetricFactory) {
  return {
    windowsEvaluated: make.counter(
      'windows_evaluated_total',
      'Windows of series that the detector has evaluated; of series beyond its limit none.',
    ),
    windowsEvaluatedAgain: make.counter(
      'windows_evaluated_again_total',
      'Windows, of all series, evaluated again as they had received more than 1 % of their requests late.',
    ),
    windowsLeftLate: make.counter(
      'windows_left_late_total',
      'Windows that had received more than 1 % of their requests late and were too old to be evaluated again.',
    ),
    detectorEvaluatedSeconds: make.gauge(
      'detector_judged_timestamp_seconds',
      'Event time up to which windows were evaluated; 0 where this process stands by.',
      [],
      'max',
    ),
    detectorSeries: make.gauge('detector_series', 'Series that the detector evaluates.'),
    detectorSeriesLimit: make.gauge(
      'detector_series_limit',
      'Maximum number of series that it evaluates.',
    ),
    detectorSeriesUnevaluated: make.gauge(
      'detector_series_unevaluated',
      'Series of the last window that had requests and were not evaluated.',
    ),
    detectorLeader: make.gauge(
      'detector_leader',
      '1 where this process detects, 0 where it stands by.',
    ),
    detectorBehindSeconds: make.gauge(
      'detector_behind_seconds',
      'Age of the first message in Kafka that is not stored, or of the first complete window that is not evaluated.',
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
      'Event time of the last saved snapshot of the detector; 0 before the first one.',
      [],
      'max',
    ),
    stateSavedBytes: make.gauge('detector_state_bytes', 'Size of the snapshot, not compressed.'),
    stateFailures: make.counter(
      'detector_state_failures_total',
      'Snapshots that could not be saved.',
    ),
    detectorHistorySeconds: make.gauge(
      'detector_history_timestamp_seconds',
      'Start of the windows that the detector knows, while they are less than a baseline because older ones were not read; 0 otherwise.',
      [],
      'max',
    ),
    detectorTests: make.gauge(
      'detector_tests',
      'Tests that share the budget of pages: of stages, failures and traffic.',
    ),
    detectorStagesUnevaluated: make.gauge(
      'detector_stages_unevaluated',
      'Stages of evaluated series that were not evaluated in their last window.',
    ),
    anomalies: make.counter(
      'anomaly_events_total',
      'Anomaly events, by state: opened, updated, resolved.',
      ['event'],
    ),
  };
}

/** Metrics of deliveries to receivers. */
export function alertMetrics(make: MetricFactory) {
  return {
    alertsDue: make.gauge(
      'alerts_due',
      'Anomalies of which something is due at a receiver; 0 where this process stands by.',
      ['receiver'],
    ),
    alertOldestDueSeconds: make.gauge(
      'alert_oldest_due_seconds',
      'How long the oldest of them has been due.',
      ['receiver'],
      'max',
    ),
    alertAttempts: make.counter(
      'alert_attempts_total',
      'Attempts to deliver by outcome: accepted, failed, rejected, unacceptable; and what is not tried again: refused, expired, skipped.',
      ['receiver', 'outcome'],
    ),
    alertAcceptedSeconds: make.histogram(
      'alert_accepted_delay_seconds',
      'From the time that an event was due at a receiver until it was accepted.',
      [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400],
      ['receiver'],
    ),
    alertRowsLost: make.counter(
      'alert_rows_lost_total',
      'Deliveries that could not be recorded for too long: a successor delivers them again.',
    ),
    alertHeartbeats: make.counter(
      'alert_heartbeats_total',
      'Watchdog alerts sent to Alertmanager, by outcome.',
      ['receiver', 'outcome'],
    ),
  };
}

/** Delays until a window is evaluated. */
export function detectDelayMetrics(make: MetricFactory) {
  return {
    eventEvaluatedSeconds: make.histogram(
      'event_evaluated_delay_seconds',
      'From the end of a window, in event time, until it was evaluated the first time; by window.',
      [5, 7.5, 10, 12.5, 15, 20, 30, 60, 120, 300, 1_800, 7_200, 43_200],
    ),
    detectorStepSeconds: make.histogram(
      'detector_step_seconds',
      'Duration of a step of the detector: it reads and evaluates every window that has become complete.',
      [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300],
    ),
  };
}
