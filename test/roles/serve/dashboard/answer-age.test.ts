// Covers src/roles/serve/dashboard/dashboard.ts and src/roles/serve/dashboard/endpoint.ts.

import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createMetrics } from '../../../../src/base/telemetry/metrics.ts';
import { loadConfig } from '../../../../src/config/load/load-config.ts';
import { addDashboard } from '../../../../src/roles/serve/dashboard/dashboard.ts';
import { QueryLimiter } from '../../../../src/roles/serve/http/query-limiter.ts';
import type { ClickHouseClient } from '../../../../src/sink/client/clickhouse.ts';
import { VirtualClock } from '../../../alert/outbox/virtual-clock.ts';

const { config } = loadConfig({
  env: { TAILMARK_KAFKA_BROKERS: 'localhost:9092', TAILMARK_KAFKA_TOPICS: 'events' },
  readFile: () => '',
});
const startMs = Date.UTC(2026, 10, 1, 12, 34, 50);

/** A dashboard whose queries take half a second each, and what an answer of it shows. */
function dashboardAt() {
  const clock = new VirtualClock(startMs);
  const app = new Hono();
  const stored = { completeMs: startMs, finalMs: startMs - 600_000 };
  const rows = [{ at_seconds: startMs / 1000 - 3_600, requests: '1', bands: { 7: 1 } }];
  const query = async () => {
    await clock.sleep(500);
    return { json: async () => rows };
  };
  addDashboard(app, {
    ...{ config, clock },
    limiter: new QueryLimiter({ metrics: createMetrics(), clock }),
    progress: async () => ({ ...stored, flushedMs: 1, evaluatedMs: 0, firstMs: 0 }),
    facts: () => Promise.reject(new Error('nothing is asked')),
    client: { query } as unknown as ClickHouseClient,
  });
  /** Headers and end of the range of an answer, which may take as long as some queries. */
  const ask = async (range: string) => {
    const answered = Promise.resolve(app.request(`/v1/density?model=a&${range}`));
    let isThere = false;
    void answered.then(() => {
      isThere = true;
    });
    await clock.advance(0);
    for (let i = 0; !isThere && i < 20; i++) await clock.advance(500);
    const response = await answered;
    const answer = (await response.json()) as { readonly range: { readonly to: string } };
    const [age, cacheControl] = ['age', 'cache-control'].map((name) => response.headers.get(name));
    return [age, cacheControl, answer.range.to];
  };
  return { clock, stored, ask };
}

const askAgain = 'private, no-cache';
const forGood = 'private, max-age=86400, immutable';

test('where a range has moved on, the answer of before is given once more, with its age', async () => {
  const { clock, ask } = dashboardAt();
  const at = (ms: number) => clock.advance(startMs + ms - clock.nowMs());
  expect(await ask('from=-5h')).toEqual(['0', askAgain, '2026-11-01T12:35:00.000Z']);
  await at(8_000);
  expect(await ask('from=-5h')).toEqual(['0', askAgain, '2026-11-01T12:35:00.000Z']);
  await at(13_000);
  expect(await ask('from=-5h')).toEqual(['5', askAgain, '2026-11-01T12:35:00.000Z']);
  await at(18_000);
  expect(await ask('from=-5h')).toEqual(['0', askAgain, '2026-11-01T12:36:00.000Z']);
});

test('an answer from before its windows were final is not kept for good', async () => {
  const { clock, stored, ask } = dashboardAt();
  const range = `from=${startMs - 7_200_000}&to=${startMs - 60_000}`;
  const to = '2026-11-01T12:34:00.000Z';
  expect(await ask(range)).toEqual(['0', askAgain, to]);
  stored.finalMs = startMs;
  await clock.advance(startMs + 8_000 - clock.nowMs());
  expect(await ask(range)).toEqual(['8', askAgain, to]);
  await clock.advance(5_000);
  expect(await ask(range)).toEqual(['0', forGood, to]);
});
