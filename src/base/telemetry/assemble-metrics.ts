import type { MetricFactory } from './metric-factory.ts';

export function assembleMetrics(make: MetricFactory) {
  return {
    assembleSpans: make.counter('assemble_spans_total', 'Spans read, by topic.', ['topic']),
    assembleEvents: make.counter('assemble_events_total', 'Timing events written, one a trace.', [
      'topic',
    ]),
    assembleRejected: make.counter(
      'assemble_rejected_total',
      'Traces, spans and messages that gave no event, by topic and reason.',
      ['topic', 'reason'],
    ),
    assembleClosed: make.counter(
      'assemble_closed_traces_total',
      'Traces closed, by cause: wait, or the limit that was reached.',
      ['topic', 'cause'],
    ),
    assembleDuplicates: make.counter(
      'assemble_duplicate_spans_total',
      'Spans that came more than once and count once.',
      ['topic'],
    ),
    assembleOpenTraces: make.gauge('assemble_open_traces', 'Traces that are open.', ['topic']),
    assembleOpenBytes: make.gauge('assemble_open_bytes', 'Memory of open traces, estimated.', [
      'topic',
    ]),
    assembleLag: make.gauge(
      'assemble_lag_messages',
      'Messages in Kafka that have not been read. Committed offsets lag by the open traces.',
      ['topic', 'partition'],
    ),
    assembleTransactions: make.counter('assemble_transactions_total', 'Transactions committed.', [
      'topic',
    ]),
    assembleFailures: make.counter(
      'assemble_transaction_failures_total',
      'Transactions that failed; the partition is then read again from its commit.',
      ['topic'],
    ),
  };
}
