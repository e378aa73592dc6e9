import { expect, it } from 'vitest';
import { StageTable } from '../../src/contract/stage-table.ts';
import { resolutions } from '../../src/sink/windows/read-tails.ts';
import { compareView } from '../../src/views/comparison/compare.ts';
import { modelsView } from '../../src/views/models/models.ts';
import { tailsView } from '../../src/views/tails.ts';
import { mulberry32, SeededRandom } from '../base/seeded-random.ts';
import { useStack } from '../containers/stack.ts';
import { kaplanMeier, type Observed } from '../sketch/kaplan-meier.ts';
import { killInChunk, spread } from './kit/killed-members.ts';
import type { Rig } from './kit/rig.ts';
import { truthOf } from './kit/truth.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const minuteMs = 60_000;
const limitMs = 120_000;
const quantiles = [0.5, 0.9, 0.95, 0.99, 0.999];

/**
 * Answers of language models over ten minutes. Of `chat` one in a hundred reaches its time limit while it
 * decodes. Of `draft` one in four is cancelled, sooner or later. Of `plain` each one ends, some with an error.
 */
function answers(count: number, fromMs: number) {
  const random = new SeededRandom(8, mulberry32);
  return Array.from({ length: count }, (_, n) => {
    const model = (['chat', 'draft', 'plain'] as const)[n % 3] as string;
    const ownMs = Math.round(3_000 * Math.exp(0.6 * random.normal()));
    const isHanging = model === 'chat' && random.chance(0.02);
    const patienceMs =
      model === 'draft' && random.chance(0.25) ? random.between(500, 9_000) : limitMs;
    const neededMs = isHanging ? limitMs + 1 : ownMs;
    const total_ms = Math.min(neededMs, patienceMs);
    const failed = random.chance(0.02) ? 'error' : 'ok';
    const ended = patienceMs === limitMs ? 'timeout' : 'cancelled';
    const first_token = Math.min(200, total_ms);
    const endMs = fromMs + Math.floor(((n + 0.5) * 10 * minuteMs) / count);
    return {
      ...{ ts: endMs - total_ms, model, total_ms },
      status: neededMs > patienceMs ? ended : failed,
      stages_ms: { queue: 20, first_token, decode: total_ms - 20 },
    };
  });
}

type Sent = ReturnType<typeof answers>;

const observedOf = (sent: Sent, model: string): Observed[] =>
  sent
    .filter((event) => event.model === model)
    .map(({ total_ms, status }) => ({
      ms: total_ms,
      isCensored: status === 'timeout' || status === 'cancelled',
    }));

it('requests that were given up are stored exactly once over a kill, and their tails are at least so long', () =>
  withRig(
    {
      ...{ stack, name: 'given-up', partitions: 2 },
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
      await expectCounted(rig, sent);
      await expectAnswers(rig, sent, fromMs);
      await expectCommand(rig, fromMs);
      await expectModels(rig, fromMs);
      await expectBaseline(rig, fromMs);
      await expectCompared(rig, fromMs);
    },
  ));

/** In each table as many are censored as were sent, in their totals and in the part that they were in. */
async function expectCounted(rig: Rig, sent: Sent): Promise<void> {
  const given = ['chat', 'draft'].map((model) => [
    model,
    observedOf(sent, model).filter(({ isCensored }) => isCensored).length,
  ]);
  for (const resolution of resolutions) {
    for (const [stage, expected] of [
      ['total', given],
      ['decode', given],
      ['queue', []],
      ['first_token', []],
    ] as const) {
      const rows = await rig.rows<{ model: string; n: number }>(
        `SELECT model, toFloat64(sum(censored)) AS n FROM latency_${resolution}
         WHERE stage = '${stage}' GROUP BY model HAVING n > 0 ORDER BY model`,
      );
      expect(
        rows.map(({ model, n }) => [model, n]),
        `${stage} of ${resolution}`,
      ).toEqual(expected);
    }
  }
}

/** The answer to a page: each percentile is that of the textbook on what was sent, or a bound where it has none. */
async function expectAnswers(rig: Rig, sent: Sent, fromMs: number): Promise<void> {
  const ask = (model: string, resolution: (typeof resolutions)[number]) =>
    tailsView(rig.client, {
      filters: { model, version: '', requestType: '', region: '', start: 'all' },
      ...{ by: 'stage', stage: 'total', quantiles },
      bounds: { completeMs: Number.POSITIVE_INFINITY, finalMs: 0 },
      range: {
        ...{ fromSeconds: fromMs / 1000, toSeconds: fromMs / 1000 + 600 },
        ...{ stepSeconds: 60, resolution },
      },
    });
  for (const resolution of ['10s', '1m'] as const) {
    for (const model of ['chat', 'draft', 'plain']) {
      const observed = observedOf(sent, model);
      const { rows, sql } = await ask(model, resolution);
      const [row] = rows;
      expect(row?.censored).toBe(observed.filter(({ isCensored }) => isCensored).length);
      for (const { q, ms, at_least } of row?.quantiles ?? []) {
        // Within 5 % of the tail in rank, or 1 % of the value.
        const slack = 0.05 * (1 - q);
        const [early, late] = [kaplanMeier(observed, q - slack), kaplanMeier(observed, q + slack)];
        const of = `p${100 * q} of ${model} by ${resolution}: ${ms}`;
        if (at_least) {
          expect(late, of).toBeUndefined();
        } else {
          expect(ms, of).toBeGreaterThanOrEqual(0.99 * (early as number));
          expect(ms, of).toBeLessThanOrEqual(1.01 * (late ?? Number.POSITIVE_INFINITY));
        }
      }
      const p999 = row?.quantiles.at(-1);
      if (model === 'chat') expect(p999).toEqual({ q: 0.999, ms: limitMs, at_least: true });
      else expect(p999?.at_least, model).toBe(false);
      const [pasted] = await rig.rows<{ quantiles_ms: number[] }>(sql);
      if (model === 'plain') {
        expect(row?.quantiles.map(({ ms }) => ms)).toEqual(pasted?.quantiles_ms);
      }
    }
  }
}

const all = { model: '', version: '', requestType: '', region: '', start: 'all' } as const;
const known = { completeMs: Number.POSITIVE_INFINITY, finalMs: 0 };

/** The list of models has the percentiles of each model's page. */
async function expectModels(rig: Rig, fromMs: number): Promise<void> {
  const range = {
    ...{ fromSeconds: fromMs / 1000, toSeconds: fromMs / 1000 + 600 },
    ...{ stepSeconds: 60, resolution: '10s' as const },
  };
  const { rows, quantiles_from } = await modelsView(rig.client, {
    ...{ filters: all, bounds: known, range, objectives: [] },
    ...{ modelContains: '', limit: 10, baselineMs: 60 * minuteMs },
  });
  expect([quantiles_from, rows.map(({ model }) => model).sort()]).toEqual([
    ...['digests', ['chat', 'draft', 'plain']],
  ]);
  for (const { model, p50_ms, p95_ms, p99_ms, at_least } of rows) {
    const levels = [0.5, 0.95, 0.99];
    const { rows: tails } = await tailsView(rig.client, {
      ...{ filters: { ...all, model }, bounds: known, range },
      ...{ by: 'stage', stage: 'total', quantiles: levels },
    });
    const found = tails[0]?.quantiles ?? [];
    expect([model, p50_ms, p95_ms, p99_ms]).toEqual([model, ...found.map(({ ms }) => ms)]);
    if (model === 'chat') expect(at_least).toContain('p99_ms');
    const names = ['p50_ms', 'p95_ms', 'p99_ms'].filter((_, i) => found[i]?.at_least);
    expect([model, at_least]).toEqual([model, names]);
  }
}

/** A day later the baseline is the percentile that the hour has. */
async function expectBaseline(rig: Rig, fromMs: number): Promise<void> {
  const hourSeconds = Math.floor(fromMs / 3_600_000) * 3_600;
  const ofHours = (days: number) => ({
    fromSeconds: hourSeconds + days * 86_400,
    toSeconds: hourSeconds + days * 86_400 + 3_600,
    ...{ stepSeconds: 3_600, resolution: '1h' as const },
  });
  const ask = (days: number, baselineQuantile?: number) =>
    tailsView(rig.client, {
      ...{ filters: { ...all, model: 'chat' }, bounds: known, range: ofHours(days) },
      ...{ by: 'time', stage: 'total', quantiles: [0.999], baselineQuantile },
    });
  const [ofHour] = (await ask(0)).rows;
  expect(ofHour?.quantiles[0]?.ms).toBe(limitMs);
  const ms = ofHour?.quantiles[0]?.ms;
  const [later] = (await ask(1, 0.999)).rows;
  expect(later?.baseline).toEqual({ low_ms: ms, median_ms: ms, high_ms: ms });
}

async function expectCommand(rig: Rig, fromMs: number): Promise<void> {
  const since = new Date(fromMs).toISOString();
  const until = new Date(fromMs + 10 * minuteMs).toISOString();
  const range = ['--since', since, '--until', until];
  const { out } = await rig.cli(['tails', '--model', 'chat', ...range]);
  expect(out).toMatch(/total .*at least 120 s/);
  expect(out).toMatch(/decode .*at least 120 s/);
  const { out: plain } = await rig.cli(['tails', '--model', 'plain', ...range]);
  expect(plain).not.toContain('at least');
  const [row] = await rig.rows<Record<string, number>>(
    `SELECT countIf(p999_ms >= at_least_from_ms) AS bounded, count() AS n FROM tails_1d
     WHERE model = 'chat' AND stage = 'total'`,
  );
  expect(Number(row?.bounded)).toBe(Number(row?.n));
}

/** The first half against the second: a side's percentile says that it is a bound. */
async function expectCompared(rig: Rig, fromMs: number): Promise<void> {
  const half = (n: number) => ({
    ...{ version: '', fromMs: fromMs + 5 * n * minuteMs },
    toMs: fromMs + 5 * (n + 1) * minuteMs,
  });
  for (const model of ['chat', 'plain']) {
    const { quantiles } = await compareView(rig.client, {
      filters: { model, version: '', requestType: '', region: '', start: 'all' },
      ...{ a: half(0), b: half(1), minutesFromMs: 0, margin: {}, incident: '', objectives: [] },
      bounds: { completeMs: Number.POSITIVE_INFINITY, finalMs: 0 },
      ...{ stages: StageTable.standard, nowMs: Date.now() },
    });
    const p999 = quantiles.find(({ q }) => q === 0.999);
    const isBound = model === 'chat';
    expect(p999).toMatchObject({ a_at_least: isBound, b_at_least: isBound });
    expect(quantiles.find(({ q }) => q === 0.5)).toMatchObject({ a_at_least: false });
  }
}
