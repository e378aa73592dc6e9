import { expect, it } from 'vitest';
import { StageTable } from '../../src/contract/stage-table.ts';
import { seriesKey } from '../../src/series/series-key.ts';
import { eachWindow } from '../../src/sink/windows/each-window.ts';
import { readHours } from '../../src/sink/windows/read-hours.ts';
import { resolutions } from '../../src/sink/windows/read-tails.ts';
import { readTraffic } from '../../src/sink/windows/read-traffic.ts';
import { readWindowRequests } from '../../src/sink/windows/read-window-requests.ts';
import { compareView } from '../../src/views/comparison/compare.ts';
import { modelsView } from '../../src/views/models/models.ts';
import { tailsView } from '../../src/views/tails.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import { useStack } from '../containers/stack.ts';
import { worstError } from '../sketch/worst-error.ts';
import { killInChunk, spread } from './kit/killed-members.ts';
import type { Rig } from './kit/rig.ts';
import { truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const stage = 'inter_token_latency';
/** Those at which `worstError` asks. */
const quantiles = [0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999];

/** Streamed answers of two versions over ten minutes, one in five of which is partial: it has no total. */
function answers(count: number, fromMs: number) {
  const random = new SeededRandom(5, mulberry32);
  return Array.from({ length: count }, (_, n) => {
    const paceMs = 15 * Math.exp(0.3 * random.normal());
    const itl_ms = Array.from({ length: random.between(0, 60) }, () => {
      const ms = paceMs * Math.exp(0.2 * random.normal()) + (random.chance(0.003) ? 600 : 0);
      return Math.round(ms * 1000) / 1000;
    });
    const decode = Math.round(itl_ms.reduce((sum, ms) => sum + ms, 0) * 1000) / 1000;
    const isPartial = n % 5 === 0;
    const endMs = fromMs + Math.floor(((n + 0.5) * 10 * minuteMs) / count);
    return {
      ts: endMs - Math.ceil(decode),
      model: isPartial ? 'part' : 'llm',
      ...{ version: `v${random.between(1, 2)}`, status: random.chance(0.1) ? 'error' : 'ok' },
      stages_ms: { decode },
      ...(isPartial && { partial: true }),
      ...(itl_ms.length > 0 && { itl_ms }),
    };
  });
}

it('gaps are stored exactly once over a kill, within the bound of the sketch, and count as no requests', () =>
  withRig(
    {
      ...{ stack, name: 'token-gaps', partitions: 2 },
      settings: { INGEST_FLUSH_INTERVAL: '100ms', INGEST_FLUSH_MAX_EVENTS: '300' },
    },
    async (rig) => {
      const fromMs = Math.floor(Date.now() / minuteMs - 30) * minuteMs;
      const sent = answers(6_000, fromMs);
      const messages = Array.from({ length: 600 }, (_, n) =>
        Buffer.from(
          sent
            .slice(10 * n, 10 * n + 10)
            .map((event) => JSON.stringify(event))
            .join('\n'),
        ),
      );
      await rig.publish(spread(messages, 2));
      const first = rig.spawn(['run', '--roles', 'ingest']);
      await first.logged('partition assigned');
      expect(await killInChunk(rig, first)).toBeGreaterThan(0);
      rig.spawn(['run', '--roles', 'ingest']);
      await rig.untilConsumed(sent.length);
      await rig.expectStages(truthOf(sent));
      await rig.expectVerified();
      await expectTails(rig, sent);
      await expectNoRequests(rig, sent, fromMs);
    },
  ));

type Sent = ReturnType<typeof answers>;

/** In each table: counts, sum and extremes exact, and percentiles within the bound. */
async function expectTails(rig: Rig, sent: Sent): Promise<void> {
  const raw = Float64Array.from(sent.flatMap(({ itl_ms = [] }) => itl_ms)).sort();
  const sumUs = raw.reduce((sum, ms) => sum + Math.round(ms * 1000), 0);
  const state = `AggregateFunction(quantilesTDigest(${quantiles.join(', ')}), Float32)`;
  for (const resolution of resolutions) {
    const [row] = await rig.rows<Record<string, number> & { q: number[] }>(
      `SELECT toFloat64(sum(requests)) AS n, toFloat64(round(sum(sum_ms) * 1000)) AS us, min(min_ms) AS low,
         max(max_ms) AS high, toFloat64(sum(errors)) AS failed, toFloat64(length(mapKeys(sumMap(bands)))) AS banded,
         quantilesTDigestMerge(${quantiles.join(', ')})(CAST(latency, '${state}')) AS q
       FROM latency_${resolution} WHERE stage = '${stage}'`,
    );
    const extremes = { low: raw[0], high: raw.at(-1) };
    expect(row).toMatchObject({ n: raw.length, us: sumUs, ...extremes, failed: 0, banded: 0 });
    const { score } = worstError(raw, (q) => row?.q[quantiles.indexOf(q)] ?? Number.NaN);
    expect(score, resolution).toBeLessThanOrEqual(1);
  }
}

/** Whoever reads requests reads those of the events, also where no event of a model has a total. */
async function expectNoRequests(rig: Rig, sent: Sent, fromMs: number): Promise<void> {
  const toMs = fromMs + 10 * minuteMs;
  const range = { fromMs, toMs, windowMs: 10_000 };
  const requests = await readWindowRequests(rig.client, range);
  expect([...requests.values()].reduce((sum, n) => sum + n, 0)).toBe(sent.length);

  const seen = new Map<string, Set<string>>();
  for await (const { windows } of eachWindow(rig.client, range)) {
    for (const { series, stages } of windows) seen.set(seriesKey(series), new Set(stages.keys()));
  }
  expect(seen.size).toBeGreaterThan(3);
  for (const stages of seen.values()) {
    expect(stages.has('decode')).toBe(true);
    expect(stages.has(stage)).toBe(false);
  }

  const traffic = new Map<string, number>();
  for await (const blocks of readTraffic(rig.client, toMs + hourMs)) {
    for (const block of blocks) {
      traffic.set(block.model, (traffic.get(block.model) ?? 0) + block.requests);
    }
  }
  const of = (model: string) => sent.filter((event) => event.model === model).length;
  expect(Object.fromEntries(traffic)).toEqual({
    ...{ '': sent.length, llm: of('llm'), part: of('part') },
  });
  let hourly = 0;
  for await (const hours of readHours(rig.client, toMs + 2 * hourMs, [0.99], 10)) {
    for (const { hour } of hours) {
      expect(hour.stage).not.toBe(stage);
      hourly += hour.requests;
    }
  }
  expect(hourly).toBe(sent.length);

  const filters = { version: '', requestType: '', region: '', start: 'warm' } as const;
  const bounds = { completeMs: Number.POSITIVE_INFINITY, finalMs: 0 };
  for (const model of ['llm', 'part']) {
    const { rows } = await tailsView(rig.client, {
      ...{ filters: { ...filters, model }, bounds, by: 'stage', stage: '', quantiles: [0.5] },
      range: {
        fromSeconds: fromMs / 1000,
        toSeconds: toMs / 1000,
        stepSeconds: 60,
        resolution: '10s',
      },
    });
    // The stage with most requests stands first, and gaps are none.
    expect(rows.at(-1)?.by).toBe(stage);
    expect(rows[0]?.requests).toBe(of(model));
  }
  const { rows: models } = await modelsView(rig.client, {
    ...{ filters: { ...filters, model: '' }, bounds, objectives: [], modelContains: '', limit: 9 },
    range: {
      fromSeconds: fromMs / 1000,
      toSeconds: toMs / 1000,
      stepSeconds: 60,
      resolution: '10s',
    },
    baselineMs: hourMs,
  });
  expect(Object.fromEntries(models.map((row) => [row.model, row.requests]))).toEqual({
    ...{ llm: of('llm'), part: of('part') },
  });
  const side = (version: string) => ({ fromMs, toMs, version });
  const compared = await compareView(rig.client, {
    ...{ filters: { ...filters, model: 'llm' }, a: side('v1'), b: side('v2'), bounds },
    ...{ minutesFromMs: 0, margin: {}, stages: StageTable.standard, incident: '' },
    ...{ objectives: [], nowMs: Date.now() },
  });
  expect(compared.stages.map((each) => each.stage)).not.toContain(stage);
  expect(compared.a.requests + compared.b.requests).toBe(of('llm'));
}
