import { describe, expect, it } from 'vitest';
import { evidenceSql } from '../../src/contract/sql.ts';

const series = {
  ...{ service: '', model: "it's", version: '1', request_type: 'search', region: '', host: '' },
  ...{ tenant: '', cold_start: false },
};

describe('evidenceSql', () => {
  it('selects all stages of the series around the start', () => {
    const startedAtMs = Date.UTC(2026, 10, 1, 12);
    expect(evidenceSql({ series, q: 0.99, startedAtMs, windowMs: 10_000 })).toBe(
      [
        'SELECT window_start, stage, sum(requests) AS requests,',
        '  quantilesTDigestMerge(0.5, 0.9, 0.95, 0.99, 0.999)(latency) AS q_ms',
        'FROM latency_10s',
        "WHERE service = '' AND model = 'it\\'s' AND version = '1' AND request_type = 'search'" +
          " AND region = '' AND host = '' AND tenant = '' AND cold_start = false",
        "  AND window_start >= toDateTime(1793532600, 'UTC')",
        "  AND window_start < toDateTime(1793536200, 'UTC')",
        'GROUP BY window_start, stage',
        'ORDER BY window_start, stage',
      ].join('\n'),
    );
  });

  it('reads the minute table for windows of minutes and adds the evaluated quantile', () => {
    const sql = evidenceSql({ series, q: 0.98, startedAtMs: 0, windowMs: 60_000 });
    expect(sql).toContain('FROM latency_1m');
    expect(sql).toContain('quantilesTDigestMerge(0.5, 0.9, 0.95, 0.98, 0.99, 0.999)');
  });
});
