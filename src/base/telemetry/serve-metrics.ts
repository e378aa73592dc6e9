import type { MetricFactory } from './metric-factory.ts';

/** `api` is machines (verdicts, gates, autoscalers, mutes) or dashboard. */
export function serveMetrics(make: MetricFactory) {
  return {
    serveWaiting: make.gauge(
      'serve_waiting_requests',
      'Questions that wait for a place at ClickHouse, equal ones as one.',
      ['api'],
    ),
    serveRunning: make.gauge(
      'serve_running_requests',
      'Questions that ClickHouse is being asked.',
      ['api'],
    ),
    serveDropped: make.counter(
      'serve_dropped_requests_total',
      'Questions that were not asked: the client left, its wait was too long, or it had more than its share.',
      ['api', 'reason'],
    ),
    serveCancelled: make.counter(
      'serve_cancelled_requests_total',
      'Questions that were cancelled in ClickHouse, as nobody waited for the answer any more.',
      ['api'],
    ),
    httpClosedConnections: make.counter(
      'http_closed_connections_total',
      'Connections that were closed: limit, to make room for new ones; pipelined, for requests ahead of answers.',
      ['reason'],
    ),
  };
}
