import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../../src/base/time.ts';
import { endpoints } from '../../../src/roles/serve/dashboard/endpoints.ts';
import { bandFromMs, bandOf } from '../../../src/sketch/band.ts';
import type { DensityRow } from '../../../src/views/answers/density.ts';
import type { FacetRow } from '../../../src/views/answers/facets.ts';
import { type ModelRow, modelsAnswer } from '../../../src/views/answers/models.ts';
import type { ReleaseRow } from '../../../src/views/answers/releases.ts';
import type { TailRow } from '../../../src/views/answers/tails.ts';
import { useStack } from '../../containers/stack.ts';
import { packed } from '../kit/packed.ts';
import { poll } from '../kit/poll.ts';
import { Rig } from '../kit/rig.ts';
import { answerOf, askApi, numbersIn, type Parameters, pastedRows } from './asked-api.ts';
import { type Event, minuteOf } from './kit/minute-of.ts';

const stack = useStack();
/** Ten whole minutes of one hour, some time ago: baselines are of hours. */
const recentMs = Math.floor((Date.now() - 20 * minuteMs) / minuteMs) * minuteMs;
const toMs = recentMs % hourMs < 10 * minuteMs ? recentMs - (recentMs % hourMs) : recentMs;
const fromMs = toMs - 10 * minuteMs;
const inRange = { from: fromMs, to: toMs };
const ranker = { model: 'ranker', ...inRange };

const hostile = [
  `a'b"\\c\`{model:String}`,
  '<script>alert(1)</script>',
  'two\nlines\tand\0more',
  '\u202eright to left',
  "x' OR 1 = 1 --",
  'модель 模型',
];

const events: Event[] = [
  // The same minutes on earlier days: the baseline.
  ...[3, 2, 1].flatMap((days) => minuteOf('ranker', fromMs - days * dayMs, 200, 100)),
  // One minute in ten is slow: p99 of the range is not the mean of theirs.
  ...Array.from({ length: 10 }, (_, n) =>
    minuteOf('ranker', fromMs + n * minuteMs, 300, n === 4 ? 1_000 : 100, {
      version: n < 5 ? 'v1' : 'v2',
      ...(n === 0 ? { status: 'error' } : {}),
    }),
  ).flat(),
  ...minuteOf('ranker', fromMs, 50, 4_000, { cold_start: true, region: 'us-east-1' }),
  // Requests that are slow and fail: a minute of timeouts, and one of errors.
  ...['timeout', 'error', 'ok', 'ok', 'ok'].flatMap((status, n) =>
    minuteOf('rank_slow', fromMs + n * minuteMs, 20, n < 2 ? 1_000 : 100, { status }),
  ),
  // Stages without a total: some requests report both, and some the queue alone.
  ...Array.from({ length: 40 }, (_, n) => ({
    ...{ ts: fromMs + n * 1_000, model: 'stages', partial: true, status: n < 5 ? 'error' : 'ok' },
    stages_ms: n < 30 ? { queue: 5, forward: 20 } : { queue: 5 },
  })),
  // Two minutes with a gap of seven between them.
  ...minuteOf('rare', fromMs, 5, 20),
  ...minuteOf('rare', fromMs + 8 * minuteMs, 5, 20),
  ...hostile.flatMap((model, n) => minuteOf(model, fromMs, 10 + n, 30)),
  // Afterwards: windows are complete up to the newest request.
  ...minuteOf('later', toMs + minuteMs, 1, 30),
];

let rig: Rig;
let url: string | undefined;

beforeAll(async () => {
  if (stack.clickhouseUrl === '') return;
  const settings = { WINDOWS_IDLE_PARTITION: '1s', WINDOWS_MAX_WAIT: '1s' };
  rig = await Rig.open({ stack, name: 'dashboard', settings });
  const config = structuredClone(rig.config);
  config.detect.slos = [
    { name: 'fast', model: 'rank*', threshold: 500, objective: 0.9, window: '30d' },
    { name: 'slow', model: 'rank*', threshold: 5_000, objective: 0.9, window: '30d' },
    { name: 'joint', model: 'rank*', all: { total: 500 }, objective: 0.9, window: '30d' },
    { name: 'two', all: { total: 150, forward: 500 }, objective: 0.9, window: '30d' },
  ];
  const pipeline = await rig.start(['ingest', 'serve'], config);
  url = pipeline.url;
  const endOf = ({ ts, total_ms = 0 }: Event) => ts + total_ms;
  const ordered = events.toSorted((a, b) => endOf(a) - endOf(b));
  await rig.publish(packed(ordered));
  await rig.untilConsumed(events.length);
  await poll('windows that are complete', async () => {
    const { windows } = await answerOf<TailRow>(url, '/v1/tails', ranker);
    return windows.open === 0 || undefined;
  });
});
afterAll(() => rig?.close());

const bandEdge = (ms: number, offset: number) => bandFromMs(bandOf(ms) + offset);
const p99Of = (row: TailRow | undefined) => row?.quantiles.find(({ q }) => q === 0.99)?.ms ?? NaN;

describe('tails', () => {
  it('over time have the numbers of each step, and none of steps without requests', async () => {
    const { range, windows, rows } = await answerOf<TailRow>(url, '/v1/tails', {
      ...{ model: 'rare', ...inRange, step_seconds: 60 },
    });
    expect(range).toEqual({
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      step_seconds: 60,
    });
    expect(windows.open).toBe(0);
    expect(windows.final + windows.provisional).toBe(10);
    expect(rows.map(({ requests }) => requests)).toEqual([5, 0, 0, 0, 0, 0, 0, 0, 5, 0]);
    expect(rows[1]).toMatchObject({ mean_ms: null, min_ms: null, max_ms: null });
    expect(rows[1]?.quantiles.map(({ ms }) => ms)).toEqual([null, null, null, null, null]);
    expect(rows[0]?.at).toBe(new Date(fromMs).toISOString());
  });

  it('of a range are those of the merged digest, not the mean of its steps', async () => {
    const steps = await answerOf<TailRow>(url, '/v1/tails', { ...ranker, step_seconds: 60 });
    const p99s = steps.rows.map(p99Of);
    const mean = p99s.reduce((sum, ms) => sum + ms, 0) / p99s.length;
    const whole = await answerOf<TailRow>(url, '/v1/tails', {
      ...{ ...ranker, by: 'stage', stage: 'total' },
    });
    const durations = events
      .filter((e) => e.model === 'ranker' && e.cold_start !== true && e.ts >= fromMs)
      .map(({ total_ms = NaN }) => total_ms)
      .toSorted((a, b) => a - b);
    const exact = durations[Math.floor(0.99 * durations.length)] ?? NaN;
    expect(whole.rows).toHaveLength(1);
    expect(whole.rows[0]?.requests).toBe(3_000);
    expect(Math.abs(p99Of(whole.rows[0]) / exact - 1)).toBeLessThan(0.01);
    expect(p99Of(whole.rows[0])).toBeGreaterThan(1.5 * mean);
    const [stored] = await rig.rows<{ ms: number }>(
      `SELECT quantileTDigestMerge(0.99)(latency) AS ms FROM latency_1m WHERE model = 'ranker'
       AND stage = 'total' AND NOT cold_start AND window_start >= toDateTime(${fromMs / 1000})
       AND window_start < toDateTime(${toMs / 1000})`,
    );
    expect(Math.abs(p99Of(whole.rows[0]) / (stored?.ms ?? NaN) - 1)).toBeLessThan(0.001);
  });

  it('split by what is asked for', async () => {
    const by = async (name: string) =>
      (await answerOf<TailRow>(url, '/v1/tails', { ...ranker, by: name })).rows.map((row) => [
        ...[row.by, row.requests, row.failed],
      ]);
    expect(await by('version')).toEqual([
      ['v1', 1_500, 300],
      ['v2', 1_500, 0],
    ]);
    expect(await by('region')).toEqual([['eu-west-1', 3_000, 300]]);
    expect(await by('request_type')).toEqual([['search', 3_000, 300]]);
    expect(await by('start')).toEqual([
      ['warm', 3_000, 300],
      ['cold', 50, 0],
    ]);
    expect((await by('stage')).map(([stage, n]) => [stage, n])).toEqual([
      ['total', 3_000],
      ['forward', 3_000],
      ['queue', 3_000],
    ]);
  });

  it('filter by what is asked for', async () => {
    const requestsOf = async (more: object) => {
      const { rows } = await answerOf<TailRow>(url, '/v1/tails', { ...ranker, ...more });
      return rows.reduce((sum, { requests }) => sum + requests, 0);
    };
    expect(await requestsOf({ version: 'v2' })).toBe(1_500);
    expect(await requestsOf({ start: 'cold' })).toBe(50);
    expect(await requestsOf({ start: 'all', region: 'us-east-1' })).toBe(50);
    expect(await requestsOf({ stage: 'queue' })).toBe(3_000);
    expect(await requestsOf({ version: 'v3' })).toBe(0);
  });

  it('have the quantiles that are asked for, in their order, up to the largest request', async () => {
    const { rows } = await answerOf<TailRow>(url, '/v1/tails', {
      ...{ ...ranker, q: '0.9999,0.01,0.5', by: 'start' },
    });
    expect(rows[0]?.quantiles.map(({ q }) => q)).toEqual([0.9999, 0.01, 0.5]);
    const [most = NaN, least = NaN, median = NaN] =
      rows[0]?.quantiles.map(({ ms }) => ms ?? NaN) ?? [];
    expect([least < median, median < most, most <= (rows[0]?.max_ms ?? 0)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('have the baseline of the same hour on the days before', async () => {
    const { rows } = await answerOf<TailRow>(url, '/v1/tails', { ...ranker, baseline_q: 0.5 });
    const { low_ms, median_ms, high_ms } = rows[0]?.baseline ?? {};
    expect(median_ms).toBeGreaterThan(110);
    expect(median_ms).toBeLessThan(140);
    expect([low_ms, high_ms]).toEqual([median_ms, median_ms]);
    expect((await answerOf<TailRow>(url, '/v1/tails', ranker)).rows[0]?.baseline).toBeNull();
  });
});

describe('density', () => {
  it('counts every request once, in the band of its total', async () => {
    const { rows } = await answerOf<DensityRow>(url, '/v1/density', {
      ...ranker,
      step_seconds: 60,
    });
    expect(rows.map(({ requests }) => requests)).toEqual(Array(10).fill(300));
    for (const { bands, requests } of rows) {
      expect(bands.reduce((sum, band) => sum + band.requests, 0)).toBe(requests);
    }
    const slow = rows[4]?.bands ?? [];
    expect([slow[0]?.from_ms, slow.at(-1)?.from_ms]).toEqual([896, 1_280]);
  });
});

describe('facets', () => {
  it('have the requests by each value, and the true percentiles between their bounds', async () => {
    const { rows } = await answerOf<FacetRow>(url, '/v1/facets', ranker);
    expect(rows.map(({ facet, value, requests }) => [facet, value, requests])).toEqual([
      // All starts: of 3,000 warm requests and 50 cold ones.
      ...[0, 1, 2].map((pod) => ['host', `pod-${pod}`, 1_000 + (pod < 2 ? 17 : 16)]),
      ['input_tokens', '64-127', 2_745],
      ['input_tokens', '512-1023', 305],
    ]);
    const long = events.filter(
      ({ model, ts, input_tokens }) => model === 'ranker' && ts >= fromMs && input_tokens === 900,
    );
    const totals = long.map(({ total_ms = 0 }) => total_ms).sort((a, b) => a - b);
    for (const { q, ms, low_ms, high_ms } of rows.at(-1)?.quantiles ?? []) {
      const exact = totals[Math.ceil(q * totals.length) - 1] as number;
      expect([low_ms, high_ms].map(Number)).toEqual([bandEdge(exact, 0), bandEdge(exact, 1)]);
      expect(ms).toBeGreaterThanOrEqual(low_ms as number);
      expect(ms).toBeLessThanOrEqual(high_ms as number);
    }
  });

  it('of one name and version are these alone, and the command prints the same', async () => {
    const question = {
      ...ranker,
      facet: 'input_tokens',
      version: 'v2',
      q: '0.5,0.9,0.95,0.99,0.999',
    };
    const { rows } = await answerOf<FacetRow>(url, '/v1/facets', question);
    expect(rows.map(({ value, requests }) => [value, requests])).toEqual([
      ['64-127', 1_350],
      ['512-1023', 150],
    ]);
    const at = (ms: number) => new Date(ms).toISOString();
    const { out } = await rig.cli([
      ...['tails', '--by', 'input_tokens', '--model', 'ranker', '--model-version', 'v2', '--json'],
      ...['--since', at(fromMs), '--until', at(toMs)],
    ]);
    expect(JSON.parse(out).tails).toEqual(rows);
  });
});

describe('models', () => {
  it('have their numbers over the range, against the same hours before', async () => {
    const { rows } = await answerOf<ModelRow>(url, '/v1/models', inRange);
    const [row] = rows;
    expect(rows.map(({ model }) => model)).toEqual(
      expect.arrayContaining(['ranker', 'rare', ...hostile]),
    );
    expect(row).toMatchObject({ model: 'ranker', requests: 3_000, failed: 300 });
    expect(row?.requests_per_second).toBeCloseTo(5, 1);
    expect(row?.p50_ms).toBeGreaterThan(110);
    expect(row?.p99_ms).toBeGreaterThan(1_000);
    expect(row?.baseline_p99_ms).toBeGreaterThan(140);
    expect(row?.baseline_p99_ms).toBeLessThan(155);
    expect(row?.ratio).toBeCloseTo((row?.p99_ms ?? 0) / (row?.baseline_p99_ms ?? 1), 3);
    expect(row?.baseline_of).toBe('week');
    const slowSteps = row?.p99_steps_ms.filter((ms, i) => {
      const baseline = row.baseline_steps_ms[i] ?? null;
      return ms !== null && baseline !== null && ms > 4 * baseline;
    });
    expect(slowSteps?.length).toBeGreaterThan(0);
    // A tenth is slower than 500 ms, and a tenth has failed.
    expect(row?.objective).toMatchObject({ name: 'fast', threshold_ms: 500, objective: 0.9 });
    expect(row?.objective?.good).toBeCloseTo(0.8, 2);
    expect(row?.objective?.budget_left).toBeCloseTo(-1, 1);
    expect(rows.find(({ model }) => model === 'rare')).toMatchObject({
      ...{ requests: 10, baseline_p99_ms: null, ratio: null, objective: null },
    });
  });

  it('have what their objective counts, each bad request once, in the query too', async () => {
    const { rows, sql } = await answerOf<ModelRow>(url, '/v1/models', inRange);
    const objective = rows.find(({ model }) => model === 'rank_slow')?.objective;
    expect(objective).toMatchObject({ name: 'fast', objective: 0.9 });
    expect(objective?.good).toBeCloseTo(0.6, 9);
    expect(objective?.budget_left).toBeCloseTo(-3, 9);
    const pasted = await pastedRows(rig, sql);
    expect(pasted.map(({ good, budget_left }) => [good, budget_left])).toEqual(
      rows.map((row) => [row.objective?.good ?? null, row.objective?.budget_left ?? null]),
    );
    const without = await answerOf<ModelRow>(url, '/v1/models', { model: 'rare', ...inRange });
    expect(without.rows[0]?.objective).toBeNull();
  });

  it('without any total are counted by the stage with most requests, and have no quantiles', async () => {
    const { rows, sql } = await answerOf<ModelRow>(url, '/v1/models', inRange);
    const row = rows.find(({ model }) => model === 'stages');
    expect(row).toMatchObject({ counted_stage: 'queue', requests: 40, failed: 5, objective: null });
    expect([row?.p50_ms, row?.p99_ms, row?.ratio]).toEqual([null, null, null]);
    expect(new Set(row?.p99_steps_ms)).toEqual(new Set([null]));
    expect(rows[0]).toMatchObject({ model: 'ranker', counted_stage: 'total' });
    expect((await pastedRows(rig, sql)).map(({ model }) => model)).toEqual(
      rows.map(({ model }) => model),
    );
    const alone = await answerOf<ModelRow>(url, '/v1/models', { ...inRange, model: 'stages' });
    expect(alone.rows).toEqual([row]);
  });

  it('that the limit leaves out are counted, and found by a part of their name', async () => {
    const path = '/v1/models';
    const cut = await askApi(url, path, { ...inRange, limit: 2 });
    const { total_models, rows } = modelsAnswer.parse(JSON.parse(cut.text));
    expect([total_models, rows.length]).toEqual([4 + hostile.length, 2]);
    expect(rows[0]?.model).toBe('ranker');
    const found = async (model_contains: string) => {
      const { text } = await askApi(url, path, { ...inRange, limit: 2, model_contains });
      const answer = modelsAnswer.parse(JSON.parse(text));
      return [answer.total_models, answer.rows.map(({ model }) => model)];
    };
    expect(await found('RAR')).toEqual([1, ['rare']]);
    expect(await found('МОДЕЛ')).toEqual([1, ['модель 模型']]);
    expect(await found("' or 1")).toEqual([1, ["x' OR 1 = 1 --"]]);
    expect(await found('nothing')).toEqual([0, []]);
  });

  it('have the p99 of the merged digest', async () => {
    const { rows } = await answerOf<ModelRow>(url, '/v1/models', ranker);
    const tails = await answerOf<TailRow>(url, '/v1/tails', { ...ranker, by: 'stage' });
    expect(Math.abs((rows[0]?.p99_ms ?? 0) / p99Of(tails.rows[0]) - 1)).toBeLessThan(0.001);
  });
});

describe('releases', () => {
  it('are versions that were not there before', async () => {
    const { rows } = await answerOf<ReleaseRow>(url, '/v1/releases', ranker);
    expect(rows.map(({ version, requests }) => [version, requests])).toEqual([['v2', 1_500]]);
    expect(rows[0]?.first_seen).toBe(new Date(fromMs + 5 * minuteMs).toISOString());
    expect(rows[0]?.last_seen).toBe(new Date(toMs).toISOString());
    const all = await answerOf<ReleaseRow>(url, '/v1/releases', { from: '-9d' });
    expect(all.rows.map(({ model, version }) => `${model} ${version}`)).toContain('ranker v1');
  });
});

describe('the query of an answer', () => {
  const counts = ['requests', 'failed'];
  it.each([
    ['/v1/tails', { step_seconds: 60 }, [...counts, 'mean_ms', 'min_ms', 'max_ms']],
    ['/v1/tails', { by: 'version', start: 'all' }, [...counts, 'mean_ms', 'min_ms', 'max_ms']],
    ['/v1/tails', { by: 'stage', q: '0.5,0.999' }, [...counts, 'mean_ms', 'min_ms', 'max_ms']],
    ['/v1/density', { step_seconds: 60 }, ['requests']],
    ['/v1/facets', {}, ['requests']],
    ['/v1/releases', {}, ['requests']],
    ['/v1/models', {}, [...counts, 'p50_ms', 'p95_ms', 'p99_ms', 'baseline_p99_ms', 'ratio']],
  ])('of %s %j returns its rows when it is pasted', async (path, more, numbers) => {
    const { rows, sql } = await answerOf<Record<string, unknown>>(url, path, {
      ...ranker,
      ...more,
    });
    const pasted = await pastedRows(rig, sql);
    expect(rows.length).toBeGreaterThan(0);
    expect(pasted.map((row) => numbersIn(row, numbers))).toEqual(
      rows.map((row) => numbersIn(row, numbers)),
    );
    const levels = rows.map((row) => (row as unknown as TailRow).quantiles?.map(({ ms }) => ms));
    if (levels[0] !== undefined) {
      expect(pasted.map(({ quantiles_ms }) => quantiles_ms)).toEqual(levels);
    }
    expect(sql).not.toMatch(/\{\w+:/);
  });

  it.each(hostile.map((model, n) => [model, n] as const))(
    'and its rows are of the model %j alone',
    async (model, n) => {
      for (const path of ['/v1/tails', '/v1/density', '/v1/models']) {
        const { rows, sql } = await answerOf<{ requests: number }>(url, path, {
          model,
          ...inRange,
        });
        const sum = (all: readonly Record<string, unknown>[]) =>
          all.reduce((total, row) => total + Number(row.requests), 0);
        expect([path, sum(rows)]).toEqual([path, 10 + n]);
        expect([path, sum(await pastedRows(rig, sql))]).toEqual([path, 10 + n]);
      }
    },
  );
});

describe('every endpoint', () => {
  const versions = { 'a.version': 'v1', 'b.version': 'v2' };
  const asked: Readonly<Record<string, Parameters>> = {
    '/v1/models': inRange,
    '/v1/tails': { ...ranker, baseline_q: 0.99 },
    '/v1/composition': ranker,
    '/v1/density': ranker,
    '/v1/facets': ranker,
    '/v1/requests': ranker,
    ...{ '/v1/goodput': ranker, '/v1/lengths': ranker },
    '/v1/releases': ranker,
    '/v1/compare': { ...ranker, ...versions },
    '/v1/anomalies': inRange,
    '/v1/versions': { from: fromMs, to: toMs },
    '/v1/pipeline': {},
  };

  it.each(endpoints.filter(({ path }) => !path.includes('{')))(
    'answers as its schema says, and with a query that runs, but for weighted numbers: $path',
    async ({ path, answer }) => {
      const { status, text } = await askApi(url, path, asked[path]);
      expect([status, status === 200 ? '' : text]).toEqual([200, '']);
      const { sql, rows } = answer.parse(JSON.parse(text)) as { sql?: string; rows?: unknown[] };
      if (sql === undefined) return expect(path).toBe('/v1/lengths');
      const pasted = await pastedRows(rig, sql);
      if (rows !== undefined) expect(pasted).toHaveLength(rows.length);
    },
  );
});

describe('a question about nothing', () => {
  it.each([
    ...['/v1/tails', '/v1/density', '/v1/facets', '/v1/models', '/v1/releases', '/v1/versions'],
    ...['/v1/composition', '/v1/requests', '/v1/goodput', '/v1/lengths'],
  ])('of a model that is unknown is 404, and names the known ones: %s', async (path) => {
    const { status, type, text } = await askApi(url, path, { model: 'rankr' });
    expect([status, type]).toEqual([404, 'application/problem+json']);
    const { detail, unknown, known } = JSON.parse(text);
    expect(detail).toMatch(/^No request of model "rankr" is stored\. Known models: ranker, /);
    expect([unknown, known[0]]).toEqual(['model', 'ranker']);
  });

  it('of the model that others are counted under is 404 where there are none', async () => {
    expect((await askApi(url, '/v1/tails', { model: '__other__' })).status).toBe(404);
  });

  it.each(['/v1/tails', '/v1/density'])('of 1970 has no requests: %s', async (path) => {
    const of1970 = { model: 'ranker', from: '1970-01-01T00:00:00Z', to: '1970-02-01T00:00:00Z' };
    const { rows, windows } = await answerOf<TailRow>(url, path, of1970);
    expect(rows).toHaveLength(31);
    expect(rows.every(({ requests }) => requests === 0)).toBe(true);
    expect(windows).toEqual({ final: 31, provisional: 0, open: 0 });
  });

  it('of all time has its 300 steps', async () => {
    const { rows } = await answerOf<TailRow>(url, '/v1/tails', { model: 'ranker', from: 0 });
    expect(rows.length).toBeLessThanOrEqual(301);
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(3_600);
  });

  it('is of no model where none had a request', async () => {
    const { rows } = await answerOf<ModelRow>(url, '/v1/models', { from: 0, to: dayMs });
    expect(rows).toEqual([]);
  });
});
