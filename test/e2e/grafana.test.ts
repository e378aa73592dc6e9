import { readFileSync } from 'node:fs';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import type { AnomalyRow } from '../../src/views/answers/anomalies.ts';
import type { TailRow } from '../../src/views/answers/tails.ts';
import { useStack } from '../containers/stack.ts';
import { answerOf } from './dashboard/asked-api.ts';
import { openId, seedDashboard } from './dashboard/kit/seeded-dashboard.ts';
import { databaseUsersOf } from './kit/database-users.ts';
import { type GrafanaState, grafanaQuery } from './kit/grafana-query.ts';
import { usePrivateClickHouse } from './kit/private-clickhouse.ts';
import { Rig } from './kit/rig.ts';
import { hostileModel } from './views/view-traffic.ts';

interface Target {
  readonly rawSql: string;
  readonly format: number;
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly Target[];
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
}
interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string | Target;
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly { name: string; target?: Target }[] };
}

const stack = useStack();
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const server = usePrivateClickHouse(databaseUsersOf(read('sql/users.sql')));
const text = read('deploy/grafana-dashboard.json');
const { panels, templating, annotations } = JSON.parse(text) as Dashboard;
const targets = panels.flatMap(({ title, targets: own = [] }) =>
  own.map((target) => ({ title, ...target })),
);
const variableQueries = templating.list.flatMap(({ name, query }) =>
  typeof query === 'string' ? [] : [{ name, ...query }],
);

/** The half hour of the seeded traffic, in whole minutes. */
const toMs = Math.floor(Date.now() / minuteMs) * minuteMs;
const inRange = { from: toMs - 35 * minuteMs, to: toMs };
const state: GrafanaState = {
  ...{ fromMs: inRange.from, toMs: inRange.to, intervalSeconds: 60 },
  variables: {
    ...{ windows: 'latency_1m', model: 'ranker', stage: 'total' },
    ...{ version: '$__all', region: '$__all', request_type: '$__all' },
    ...{ start: ['false'], tailmark: 'http://127.0.0.1:9464' },
  },
};
const choosing = (variables: GrafanaState['variables']): GrafanaState => ({
  ...state,
  variables: { ...state.variables, ...variables },
});

let rig: Rig | undefined;
let grafana: ClickHouseClient | undefined;
let url: string | undefined;

beforeAll(async () => {
  if (stack.brokers.length === 0 || server.url() === '') return;
  const settings = { CLICKHOUSE_DATABASE: 'tailmark' };
  rig = await Rig.open({
    stack: { ...stack, clickhouseUrl: server.url() },
    name: 'grafana',
    settings,
  });
  await seedDashboard(rig);
  ({ url } = await rig.start(['serve']));
  // A client as the plugin has it, without settings of tailmark's.
  grafana = createClient({
    ...{ url: server.url(), database: 'tailmark' },
    ...{ username: 'tailmark_dashboard', password: 'of-tailmark_dashboard' },
  });
});
afterAll(async () => {
  await grafana?.close();
  await rig?.close();
});

type Row = Readonly<Record<string, string | number | null>>;

/** Rows of a query of Grafana's, as the user that it has. */
async function ask(rawSql: string, of: GrafanaState = state): Promise<Row[]> {
  const query = grafanaQuery(rawSql, of);
  const result = await grafana?.query({
    ...{ query, format: 'JSONEachRow' },
    // Several threads merge digests in any order, which moves a percentile by up to 0.4 %.
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0, max_threads: 1 },
  });
  return (await result?.json<Row>()) ?? [];
}

/** Rows of a panel, by its title. */
function panelRows(title: string, of: GrafanaState = state): Promise<Row[]> {
  const target = targets.find((each) => each.title === title);
  if (target === undefined) throw new Error(`no panel ${title}`);
  return ask(target.rawSql, of);
}

/** Tails with the percentiles of all durations: Grafana counts requests that were given up as if they had ended. */
async function tailsOf(more: object): Promise<TailRow[]> {
  const asked = { model: 'ranker', ...inRange, ...more };
  const { rows, sql } = await answerOf<TailRow>(url, '/v1/tails', asked);
  const durations = (await rig?.rows<{ quantiles_ms: number[] }>(sql)) ?? [];
  return rows.map((row, i) => ({
    ...row,
    quantiles: row.quantiles.map((quantile, at) => ({
      ...quantile,
      ms: durations[i]?.quantiles_ms[at] ?? null,
    })),
  }));
}
const msOf = (row: TailRow | undefined, q: number) =>
  row?.quantiles.find((each) => each.q === q)?.ms ?? NaN;

/** Expects milliseconds of merged digests: merged in another order they differ in the last digits. */
function expectMs(actual: unknown, expected: number, error = 0.001) {
  expect(Math.abs(Number(actual) / expected - 1)).toBeLessThan(error);
}

/** Where requests were given up the API merges two digests, Grafana the one of all: each is within 1 %. */
const errorOf = (row: TailRow | undefined) => (Number(row?.censored) > 0 ? 0.02 : 0.001);

describe('deploy/grafana-dashboard.json', () => {
  it('names no data source but that which is chosen', () => {
    const uids = [...text.matchAll(/"uid": "([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(uids)).toEqual(new Set(['tailmark', '-- Grafana --', `\${datasource}`]));
  });

  it('has panels with ids of their own, beside each other', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  it('merges digests and averages no percentile', () => {
    expect(text).not.toMatch(/\bavg\(|"calcs": \["mean"\]|p\d+_ms/);
  });
});

describe('each query', () => {
  const chosen = choosing({
    ...{ stage: 'queue', version: ['v1', 'v2'], region: ['eu-west-1'] },
    ...{ request_type: ['search', "it's"], start: ['false', 'true'] },
  });

  it.each(targets.map(({ title, ...target }) => [title, target] as const))(
    'of panel %s runs, with a time where it has one',
    async (_title, { rawSql, format }) => {
      for (const of of [state, chosen]) {
        const rows = await ask(rawSql, of);
        if (format === 1) continue;
        const times = rows.map(({ time }) => String(time));
        expect(times.every((time) => /^\d{4}-\d\d-\d\d \d\d:\d\d:00$/.test(time))).toBe(true);
        expect(times).toEqual(times.toSorted());
      }
    },
  );

  it.each(variableQueries.map(({ name, rawSql }) => [name, rawSql] as const))(
    'of variable %s has values',
    async (_name, rawSql) => {
      expect((await ask(rawSql)).length).toBeGreaterThan(0);
    },
  );

  it.each([
    [30, 30, 'latency_1m'],
    [60, 3 * 1_440, 'latency_1h'],
    [15 * 1_440, 30, 'latency_1h'],
    [90 * 1_440, 90 * 1_440, 'latency_1d'],
  ])(
    'reads the finest table that may be read: %i minutes ago, %i long',
    async (ago, long, table) => {
      const { rawSql = '' } = variableQueries.find(({ name }) => name === 'windows') ?? {};
      const fromMs = toMs - Math.max(ago, long) * minuteMs;
      expect(await ask(rawSql, { ...state, fromMs, toMs: fromMs + long * minuteMs })).toEqual([
        { windows: table },
      ]);
    },
  );

  it('offers no name that would end a text', async () => {
    const { rawSql = '' } = variableQueries.find(({ name }) => name === 'model') ?? {};
    const models = (await ask(rawSql)).map(({ value }) => value);
    expect(models).toEqual(['ranker', 'few']);
    expect(models).not.toContain(hostileModel);
  });
});

/** A sentence of the API as it is stored: pages show its times in a zone of their own, and need the day. */
const undated = (summary: string) => summary.replace(/ as of [\d-]{10} /, ' as of ');

describe('the numbers', () => {
  it('of requests and failures are those of the API', async () => {
    const [whole] = await tailsOf({ by: 'stage', stage: 'total' });
    expect(whole?.requests).toBe(12_000);
    expect(await panelRows('Requests in range')).toEqual([{ requests: 12_000 }]);
    const [failed] = await panelRows('Failed');
    expect(failed?.failed).toBe((whole?.failed ?? NaN) / 12_000);
    const rates = await panelRows('Requests per second');
    const sum = rates.reduce((total, { requests }) => total + Number(requests) * 60, 0);
    expect(Math.round(sum)).toBe(12_000);
  });

  it('of requests are those of the versions, regions and starts that are chosen', async () => {
    const count = async (variables: GrafanaState['variables']) =>
      (await panelRows('Requests in range', choosing(variables)))[0]?.requests;
    const of = async (more: object) =>
      (await tailsOf({ by: 'stage', stage: 'total', ...more })).reduce(
        (n, row) => n + row.requests,
        0,
      );
    expect(await count({ version: ['v2'] })).toBe(6_000);
    expect(await count({ start: ['true'] })).toBe(300);
    expect(await count({ region: ['us-east-1'] })).toBe(await of({ region: 'us-east-1' }));
    expect(await count({ request_type: ['rank'] })).toBe(await of({ request_type: 'rank' }));
  });

  it('of the tail of a range are those of its merged digest', async () => {
    for (const stage of ['total', 'queue']) {
      const [whole] = await tailsOf({ by: 'stage', stage, q: '0.5,0.99,0.999' });
      const [row] = await panelRows(`\${stage} in range`, choosing({ stage }));
      expect(row?.n).toBe(whole?.requests);
      const error = errorOf(whole);
      expectMs(row?.p50, msOf(whole, 0.5), error);
      expectMs(row?.p99, msOf(whole, 0.99), error);
      expectMs(row?.['p99.9'], msOf(whole, 0.999), error);
    }
  });

  it('of the tail over time are those of each minute', async () => {
    const steps = (await tailsOf({ step_seconds: 60 })).filter(({ requests }) => requests > 0);
    const rows = await panelRows(`Tail of \${stage}`);
    expect(rows.map(({ time }) => `${String(time).replace(' ', 'T')}.000Z`)).toEqual(
      steps.map(({ at }) => at),
    );
    expect(rows.map(({ n }) => n)).toEqual(steps.map(({ requests }) => requests));
    for (const [i, row] of rows.entries()) {
      expectMs(row.p99, msOf(steps[i], 0.99), errorOf(steps[i]));
    }
  });

  it('of stages are those of the API', async () => {
    const stages = await tailsOf({ by: 'stage' });
    const rows = await panelRows('Tails by stage');
    expect(rows.map(({ stage, n }) => [stage, n]).toSorted()).toEqual(
      stages.map(({ by, requests }) => [by, requests]).toSorted(),
    );
    expect(stages.some(({ censored }) => censored > 0)).toBe(true);
    for (const stage of stages) {
      const row = rows.find((each) => each.stage === stage.by);
      expectMs(row?.p99, msOf(stage, 0.99), errorOf(stage));
      expect(row?.max).toBe(stage.max_ms);
      expect(row?.['at least from'] === null).toBe(stage.censored === 0);
    }
    const lines = new Set((await panelRows('p99 by stage')).map(({ stage }) => stage));
    expect(lines).toEqual(new Set(stages.map(({ by }) => by)));
  });

  it('of anomalies are those of the API, in the table and over the graphs', async () => {
    const marks = annotations.list.find(({ name }) => name === 'Anomalies')?.target?.rawSql ?? '';
    for (const model of ['ranker', 'few']) {
      const { rows } = await answerOf<AnomalyRow>(url, '/v1/anomalies', { model, ...inRange });
      const of = choosing({ model });
      const listed = await panelRows(`Anomalies of \${model}`, of);
      expect(listed.map(({ id, state: is, summary }) => [id, is, summary])).toEqual(
        rows.map(({ id, summary }) => [id, 'open', undated(summary)]),
      );
      expect((await ask(marks, of)).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    }
    expect(await panelRows('Open anomalies')).toEqual([{ open: 1 }]);
    expect((await ask(marks)).map(({ id, text: label }) => [id, label])).toEqual([
      [
        openId,
        expect.stringMatching(
          /^open: p99 of ranker is 412 ms, 3\.4 × its baseline 121 ms; as of [\d:]{8} UTC$/,
        ),
      ],
    ]);
  });

  it('of the pipeline are those of the ledger', async () => {
    const stored = await rig?.rows<{ n: string; offset: string }>(
      'SELECT sum(aggregated) AS n, max(end_offset) AS offset FROM flushes',
    );
    const untilNow = { ...state, toMs: Date.now() + 1_000 };
    const rates = await panelRows('Stored events', untilNow);
    const sum = rates.reduce((total, { counted }) => total + Number(counted) * 60, 0);
    expect(Math.round(sum)).toBe(Number(stored?.[0]?.n));
    const [partition, ...others] = await panelRows('Partitions');
    expect(others).toEqual([]);
    expect(partition).toMatchObject({ stored_offset: Number(stored?.[0]?.offset), problems: 0 });
    const [{ stored_ago } = {}] = await panelRows('Stored up to, ago');
    // The two queries may run in different seconds.
    expect(Math.abs(Number(stored_ago) - Number(partition?.watermark_ago))).toBeLessThan(10);
  });
});
