import type { MetricFactory } from './metric-factory.ts';

/** Outcomes of the events of each topic. */
export function eventMetrics(make: MetricFactory) {
  return {
    eventsConsumed: make.counter('events_consumed_total', 'Timing events read, good or bad.', [
      'topic',
    ]),
    eventsAggregated: make.counter(
      'events_aggregated_total',
      'Events counted in their own series.',
      ['topic'],
    ),
    eventsDropped: make.counter(
      'events_dropped_total',
      'Events not counted, by topic and reason.',
      ['topic', 'reason'],
    ),
    eventsRemoved: make.counter(
      'events_removed_total',
      'What Kafka removed before it was stored. exact: events of a chunk that was begun; at_most: offsets that nobody had read.',
      ['topic', 'count'],
    ),
    eventsOverflowed: make.counter('events_overflowed_total', 'Events counted in __other__.', [
      'topic',
    ]),
    longTexts: make.counter(
      'long_texts_total',
      'Optional texts longer than limits.max_dimension_bytes, by topic and field: the request counts without them.',
      ['topic', 'field'],
    ),
    eventsLateMerged: make.counter(
      'events_late_merged_total',
      'Events counted in a window that the watermark had already passed.',
      ['topic'],
    ),
    eventsLateMergedShare: make.gauge(
      'events_late_merged_share',
      'Part of the events of the last five minutes that were merged late.',
      ['topic'],
      'max',
    ),
  };
}

export function ingestMetrics(make: MetricFactory) {
  return {
    chunksFlushed: make.counter('chunks_flushed_total', 'Chunks stored and committed.'),
    chunkRows: make.counter('chunk_rows_total', 'Rows inserted into ClickHouse.'),
    chunkFlushSeconds: make.histogram(
      'chunk_flush_seconds',
      'From sealing a chunk to its final commit.',
      [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    ),
    eventStoredSeconds: make.histogram(
      'event_stored_delay_seconds',
      "From the event time of a chunk's latest event until the chunk is stored and committed; by chunk.",
      [1, 2, 3, 5, 7.5, 10, 15, 30, 60, 300, 1_800, 7_200, 43_200],
    ),
    sinkErrors: make.counter('sink_errors_total', 'Failed inserts, by ClickHouse error.', ['code']),
    chunksFilled: make.counter(
      'chunks_filled_total',
      'Chunks that a table lacked after ClickHouse was killed and that were sent to it again.',
      ['table'],
    ),
    deadLetters: make.counter(
      'dead_letters_total',
      'Messages written to the dead-letter topic of a topic.',
      ['topic'],
    ),
    deadLettersSuppressed: make.counter(
      'dead_letters_suppressed_total',
      'Dead letters not written, as there are too many, by reason.',
      ['reason'],
    ),
    lagMessages: make.gauge('lag_messages', 'Messages in Kafka that are not committed.', [
      'topic',
      'partition',
    ]),
    watermarkSeconds: make.gauge(
      'watermark_timestamp_seconds',
      'Event time reached.',
      ['topic', 'partition'],
      'max',
    ),
    openSeries: make.gauge('open_series', 'Series and windows held in open chunks.'),
    pausedPartitions: make.gauge(
      'paused_partitions',
      'Partitions that are paused because most of a chunk would be rejected, by reason.',
      ['reason'],
    ),
    rebalances: make.counter(
      'rebalances_total',
      'Times that this process has joined its group, which each rebalance makes it do.',
    ),
    consumerRestarts: make.counter(
      'consumer_restarts_total',
      'Times the Kafka consumer has crashed.',
    ),
    throttledSeconds: make.counter(
      'kafka_throttled_seconds_total',
      'Time for which a quota of the brokers has held reading back, by role.',
      ['role'],
    ),
    partitionsLeaderless: make.gauge(
      'kafka_partitions_leaderless',
      'Assigned partitions that no broker leads, by role: their records wait, the others are read.',
      ['role'],
    ),
    progressAgeSeconds: make.gauge(
      'progress_age_seconds',
      'Time without progress while records wait, by role.',
      ['role'],
      'max',
    ),
  };
}

/** Of topics in other formats than timing events. */
export function formatMetrics(make: MetricFactory) {
  return {
    eventsUnmapped: make.counter(
      'events_unmapped_total',
      'Spans and records that are no event by intent: no rule maps them.',
      ['topic'],
    ),
    schemaRequests: make.counter(
      'schema_registry_requests_total',
      'Attempts to get a schema from the registry, by outcome: found, missing, failed.',
      ['outcome'],
    ),
  };
}

export function clockMetrics(make: MetricFactory) {
  return {
    clockAheadSeconds: make.measurement(
      'clock_ahead_seconds',
      'How far the clock of this machine is ahead of that of ClickHouse; negative when it is behind.',
      'max',
    ),
    clockHoldsReading: make.measurement(
      'clock_holds_reading',
      '1 while no events are read, as the clocks differ too much.',
      'max',
    ),
  };
}

export function ledgerMetrics(make: MetricFactory) {
  return {
    ledgerGapOffsets: make.gauge('ledger_gap_offsets', 'Offsets that no chunk of the ledger has.'),
    ledgerOverlapOffsets: make.gauge('ledger_overlap_offsets', 'Offsets that two chunks have.'),
    ledgerUnaccountedEvents: make.gauge(
      'ledger_unaccounted_events',
      'Events that chunks consumed and do not account for, or the other way round.',
    ),
    ledgerSampleDifference: make.gauge(
      'ledger_sample_difference',
      'Samples that chunks have stored too few or too many, of what the ledger says.',
    ),
    topicGroups: make.gauge(
      'topic_groups',
      'Consumer groups that stored this topic within a day; with two, every event counts twice.',
      ['topic'],
      'max',
    ),
    schemaMissingObjects: make.gauge(
      'schema_missing_objects',
      'Tables and views that the migrations made and the database lacks; rows may be lost meanwhile.',
    ),
    ledgerCheckedSeconds: make.gauge(
      'ledger_checked_timestamp_seconds',
      'When the ledger was last looked at; 0 before the first time.',
    ),
  };
}
