import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';

/** Every metric of a tailmark process. One set per process; tests make their own. */
export interface Metrics {
  readonly registry: Registry;
  readonly eventsConsumed: Counter;
  readonly eventsAggregated: Counter;
  readonly eventsDropped: Counter<'reason'>;
  readonly eventsOverflowed: Counter;
  readonly eventsLateMerged: Counter;
  readonly eventsLateMergedShare: Gauge<'topic'>;
  readonly chunksFlushed: Counter;
  readonly chunkRows: Counter;
  readonly chunkFlushSeconds: Histogram;
  readonly sinkErrors: Counter<'code'>;
  readonly chunksFilled: Counter<'table'>;
  readonly deadLetters: Counter;
  readonly deadLettersSuppressed: Counter<'reason'>;
  readonly lagMessages: Gauge<'topic' | 'partition'>;
  readonly watermarkSeconds: Gauge<'topic' | 'partition'>;
  readonly openSeries: Gauge;
  readonly rebalances: Counter;
  readonly consumerRestarts: Counter;
  readonly progressAgeSeconds: Gauge;
  readonly ledgerGapOffsets: Gauge;
  readonly ledgerOverlapOffsets: Gauge;
  readonly ledgerUnaccountedEvents: Gauge;
  readonly ledgerSampleDifference: Gauge;
  readonly ledgerCheckedSeconds: Gauge;
  readonly windowsJudged: Counter;
  readonly windowsJudgedAgain: Counter;
  readonly windowsLeftLate: Counter;
  readonly detectorSeries: Gauge;
  readonly detectorSeriesLimit: Gauge;
  readonly detectorSeriesUnjudged: Gauge;
  readonly detectorTests: Gauge;
  readonly detectorStagesUnjudged: Gauge;
  readonly anomalies: Counter<'event'>;
  readonly detectorLeader: Gauge;
  readonly detectorBehindSeconds: Gauge;
  readonly detectorLagMessages: Gauge<'topic' | 'partition'>;
  readonly detectorPartitionBehindSeconds: Gauge<'topic' | 'partition'>;
  readonly stateSavedSeconds: Gauge;
  readonly stateSavedBytes: Gauge;
  readonly stateFailures: Counter;
  readonly alertsFailed: Counter<'target'>;
}

/** Names follow Prometheus: `tailmark_<noun>_<unit>[_total]`, base units, few labels. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name: `tailmark_${name}`, help, labelNames: [...labelNames], registers });
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    aggregator: 'sum' | 'max' = 'sum',
  ) =>
    new Gauge<L>({
      name: `tailmark_${name}`,
      help,
      labelNames: [...labelNames],
      aggregator,
      registers,
    });
  return {
    registry,
    eventsConsumed: counter('events_consumed_total', 'Timing events read, good or bad.'),
    eventsAggregated: counter('events_aggregated_total', 'Events counted in their own series.'),
    eventsDropped: counter('events_dropped_total', 'Events not counted, by reason.', ['reason']),
    eventsOverflowed: counter('events_overflowed_total', 'Events counted in __other__.'),
    eventsLateMerged: counter(
      'events_late_merged_total',
      'Events counted in a window that the watermark had already passed.',
    ),
    eventsLateMergedShare: gauge(
      'events_late_merged_share',
      'Part of the events of the last five minutes that were merged late.',
      ['topic'],
      'max',
    ),
    chunksFlushed: counter('chunks_flushed_total', 'Chunks stored and committed.'),
    chunkRows: counter('chunk_rows_total', 'Rows inserted into ClickHouse.'),
    chunkFlushSeconds: new Histogram({
      name: 'tailmark_chunk_flush_seconds',
      help: 'From sealing a chunk to its final commit.',
      buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
      registers,
    }),
    sinkErrors: counter('sink_errors_total', 'Failed inserts, by ClickHouse error.', ['code']),
    chunksFilled: counter(
      'chunks_filled_total',
      'Chunks that a table lacked after ClickHouse was killed and that were sent to it again.',
      ['table'],
    ),
    deadLetters: counter('dead_letters_total', 'Messages written to the dead-letter topic.'),
    deadLettersSuppressed: counter(
      'dead_letters_suppressed_total',
      'Dead letters not written, as there are too many, by reason.',
      ['reason'],
    ),
    lagMessages: gauge('lag_messages', 'Messages in Kafka that are not committed.', [
      'topic',
      'partition',
    ]),
    watermarkSeconds: gauge(
      'watermark_timestamp_seconds',
      'Event time reached.',
      ['topic', 'partition'],
      'max',
    ),
    openSeries: gauge('open_series', 'Series and windows held in open chunks.'),
    rebalances: counter('rebalances_total', 'Times the consumer group has let this process in.'),
    consumerRestarts: counter('consumer_restarts_total', 'Times the Kafka consumer has crashed.'),
    progressAgeSeconds: gauge(
      'progress_age_seconds',
      'Time without progress while records wait.',
      [],
      'max',
    ),
    ledgerGapOffsets: gauge('ledger_gap_offsets', 'Offsets that no chunk of the ledger has.'),
    ledgerOverlapOffsets: gauge('ledger_overlap_offsets', 'Offsets that two chunks have.'),
    ledgerUnaccountedEvents: gauge(
      'ledger_unaccounted_events',
      'Events that chunks consumed and do not account for, or the other way round.',
    ),
    ledgerSampleDifference: gauge(
      'ledger_sample_difference',
      'Samples that chunks have stored too few or too many, of what the ledger says.',
    ),
    ledgerCheckedSeconds: gauge(
      'ledger_checked_timestamp_seconds',
      'When the ledger was last looked at; 0 before the first time.',
    ),
    windowsJudged: counter(
      'windows_judged_total',
      'Windows of series that the detector has judged; of series beyond its limit none.',
    ),
    windowsJudgedAgain: counter(
      'windows_judged_again_total',
      'Windows, of all series, judged again as they had received more than 1 % of their requests late.',
    ),
    windowsLeftLate: counter(
      'windows_left_late_total',
      'Windows that had received more than 1 % of their requests late and were too old to be judged again.',
    ),
    detectorSeries: gauge('detector_series', 'Series that the detector judges.'),
    detectorSeriesLimit: gauge('detector_series_limit', 'Series that it judges at most.'),
    detectorSeriesUnjudged: gauge(
      'detector_series_unjudged',
      'Series of the last window that had requests and were not judged.',
    ),
    detectorLeader: gauge('detector_leader', '1 where this process detects, 0 where it stands by.'),
    detectorBehindSeconds: gauge(
      'detector_behind_seconds',
      'How long the first message that is not stored has been in Kafka, or the first window that is complete has not been judged.',
      [],
      'max',
    ),
    detectorLagMessages: gauge(
      'detector_lag_messages',
      'Messages in Kafka that are not stored, whoever ingests, as the detector sees it.',
      ['topic', 'partition'],
      'max',
    ),
    detectorPartitionBehindSeconds: gauge(
      'detector_partition_behind_seconds',
      'How long messages of the partition have been waiting to be stored; only while that is longer than it should be.',
      ['topic', 'partition'],
      'max',
    ),
    stateSavedSeconds: gauge(
      'detector_state_timestamp_seconds',
      'Event time up to which what the detector has learnt is saved; 0 before the first time.',
      [],
      'max',
    ),
    stateSavedBytes: gauge('detector_state_bytes', 'Size of what was saved, not compressed.'),
    stateFailures: counter('detector_state_failures_total', 'Times it could not be saved.'),
    detectorTests: gauge(
      'detector_tests',
      'Tests that share the budget of pages: of stages, failures and traffic.',
    ),
    detectorStagesUnjudged: gauge(
      'detector_stages_unjudged',
      'Stages of judged series that were not judged in their last window.',
    ),
    anomalies: counter('anomaly_events_total', 'Anomaly events, by kind.', ['event']),
    alertsFailed: counter('alert_failures_total', 'Deliveries given up.', ['target']),
  };
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
