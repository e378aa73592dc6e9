// Covers src/roles/serve/dashboard/dashboard.ts.

import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { createMetrics } from '../../../../src/base/telemetry/metrics.ts';
import { loadConfig } from '../../../../src/config/load/load-config.ts';
import { addDashboard } from '../../../../src/roles/serve/dashboard/dashboard.ts';
import { QueryLimiter } from '../../../../src/roles/serve/http/query-limiter.ts';
import type { ClickHouseClient } from '../../../../src/sink/client/clickhouse.ts';

const { config } = loadConfig({
  env: { TAILMARK_KAFKA_BROKERS: 'localhost:9092', TAILMARK_KAFKA_TOPICS: 'events' },
  readFile: () => '',
});
const nothingStored = { completeMs: 0, finalMs: 0, flushedMs: 0, evaluatedMs: 0, firstMs: 0 };

/** A dashboard whose page on the pipeline has 22 bytes a problem. */
function dashboardOf(problems: number): Hono {
  const app = new Hono();
  addDashboard(app, {
    ...{ config, clock: systemClock },
    limiter: new QueryLimiter({ metrics: createMetrics() }),
    progress: async () => nothingStored,
    facts: async () => ({
      ...{ groupId: 'g', lagMessages: new Map(), series: undefined, routes: [] },
      rejected: { byReason: new Map(), sinceMs: 0 },
      problems: Array.from({ length: problems }, () => 'It is not all well.'),
    }),
    client: { query: async () => ({ json: async () => [] }) } as unknown as ClickHouseClient,
  });
  return app;
}

/** Turns of the event loop in which equal questions, asked at once, are answered. */
async function turnsOf(problems: number): Promise<number[]> {
  const app = dashboardOf(problems);
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(
    Array.from({ length: 36 }, async () => {
      const { status } = await app.request('/v1/pipeline');
      expect(status).toBe(200);
      return turn;
    }),
  );
  isOver = true;
  return turns;
}

test('large answers to many at once leave turns to others between them', async () => {
  const turns = await turnsOf(5_000);
  expect(new Set(turns).size).toBe(36);
});

test('small ones need none', async () => {
  const turns = await turnsOf(1);
  expect(new Set(turns).size).toBe(1);
});
