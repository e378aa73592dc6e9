import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/base/time.ts';
import { objectiveRow } from '../../src/config/slos.ts';
import { resolutions } from '../../src/sink/windows/read-tails.ts';
import { useStack } from '../containers/stack.ts';
import { readWindows } from '../sink/windows/read-windows.ts';
import { answerOf, askApi } from './dashboard/asked-api.ts';
import { addressOf, soon, untilDrawn, useBrowserIfThere } from './dashboard/kit/use-browser.ts';
import { packed } from './kit/packed.ts';
import type { Rig } from './kit/rig.ts';
import { withRig } from './kit/with-rig.ts';

const stack = useStack();
const browser = useBrowserIfThere();
/** Ten whole minutes, some time ago. */
const fromMs = Math.floor(Date.now() / minuteMs - 20) * minuteMs;
const toMs = fromMs + 10 * minuteMs;
const inRange = { from: fromMs, to: toMs, start: 'all' };
const slos = [
  {
    name: 'lora',
    match: { model: 'llm', attributes: { adapter: 'lora-*' } },
    all: { total: '100ms' },
    objective: 0.9,
  },
  // Of no request here: it is listed nowhere.
  { name: 'other', match: { attributes: { tier: '9*' } }, all: { total: '100ms' }, objective: 0.9 },
];
const settings = {
  WINDOWS_IDLE_PARTITION: '1s',
  WINDOWS_DIMENSIONS: 'model,version,attributes.adapter,attributes.tier,cold_start',
  WINDOWS_FACETS: 'host,attributes.gpu',
  DETECT_SLOS: JSON.stringify(slos),
};

/** Attributes as they are sent, how often, and how long these requests take. */
const kinds = [
  { attributes: { adapter: 'lora-1', gpu: 'h100' }, count: 300, ms: 50 },
  { attributes: { gpu: 'a100', adapter: 'lora,2%', other: { deep: [1] } }, count: 200, ms: 80 },
  { attributes: { adapter: 'lora-3', tier: 3 }, count: 120, ms: 200 },
  { attributes: null, count: 100, ms: 20 },
  { attributes: undefined, count: 80, ms: 20 },
] as const;

/** More adapters than an answer has: those of one request are slower, and some of them are left out. */
const many = Array.from({ length: 1_100 }, (_, n) => n).flatMap((n) =>
  Array.from({ length: n < 950 ? 2 : 1 }, () => ({
    ts: fromMs + 2_000,
    model: 'many',
    attributes: { adapter: `a${n}` },
    total_ms: n < 950 ? 10 : 500 + n,
  })),
);

const requests = kinds
  .flatMap<{ readonly ts: number }>(({ attributes, count, ms }) =>
    Array.from({ length: count }, (_, n) => ({
      ts: fromMs + 1_000 + Math.floor((n / count) * 9 * minuteMs),
      model: 'llm',
      version: n % 2 === 0 ? 'v1' : 'v2',
      ...(attributes !== undefined && { attributes }),
      total_ms: ms,
    })),
  )
  .concat(many)
  .toSorted((a, b) => a.ts - b.ts);
const last = { ts: toMs + minuteMs, model: 'later', total_ms: 1 };

async function ingest(rig: Rig): Promise<void> {
  await rig.publish(packed([...requests, last]));
  const pipeline = await rig.start(['ingest']);
  await rig.untilConsumed(requests.length + 1);
  await pipeline.stop();
}

describe('own dimensions and facets', () => {
  it('have exact counts in SQL, tails, objectives, comparisons and the API', () =>
    withRig({ stack, name: 'own-attributes', settings }, async (rig) => {
      await ingest(rig);

      for (const resolution of resolutions) {
        expect(
          await rig.rows(
            `SELECT attribute['adapter'] AS adapter, attribute['tier'] AS tier, toUInt32(sum(l.requests)) AS requests
             FROM {table:Identifier} AS l WHERE model = 'llm' AND stage = 'total'
             GROUP BY adapter, tier ORDER BY adapter`,
            { table: `latency_${resolution}` },
          ),
        ).toEqual([
          { adapter: '', tier: '', requests: 180 },
          { adapter: 'lora,2%', tier: '', requests: 200 },
          { adapter: 'lora-1', tier: '', requests: 300 },
          { adapter: 'lora-3', tier: '3', requests: 120 },
        ]);
      }
      const texts = await rig.rows<{ attributes: string; requests: number }>(
        `SELECT attributes, toUInt32(sum(requests)) AS requests, any(attribute) AS attribute FROM tails_1m
         WHERE model = 'llm' AND stage = 'total' GROUP BY attributes ORDER BY attributes`,
      );
      expect(texts).toEqual([
        { attributes: '', requests: 180, attribute: {} },
        { attributes: 'adapter=lora%2C2%25', requests: 200, attribute: { adapter: 'lora,2%' } },
        { attributes: 'adapter=lora-1', requests: 300, attribute: { adapter: 'lora-1' } },
        {
          ...{ attributes: 'adapter=lora-3,tier=3', requests: 120 },
          attribute: { adapter: 'lora-3', tier: '3' },
        },
      ]);

      const windows = await readWindows(rig.client, { fromMs, toMs, windowMs: minuteMs });
      const ofSeries = new Map<string | undefined, number>();
      for (const { series, stages } of windows.filter(({ series }) => series.model === 'llm')) {
        const { attributes } = series;
        const counted = ofSeries.get(attributes) ?? 0;
        ofSeries.set(attributes, counted + (stages.get('total')?.requests ?? 0));
      }
      expect(Object.fromEntries(ofSeries)).toEqual({
        undefined: 180,
        'adapter=lora%2C2%25': 200,
        'adapter=lora-1': 300,
        'adapter=lora-3,tier=3': 120,
      });

      const row = objectiveRow({ total: 100 });
      expect(
        await rig.rows(
          `SELECT toUInt32(sum(l.requests)) AS requests, toUInt32(sum(l.sum_ms)) AS missed
           FROM latency_1m AS l WHERE stage = {row:String}`,
          { row },
        ),
      ).toEqual([{ requests: 420, missed: 120 }]);

      const ran = async (...argv: string[]) => {
        const { exitCode, out, err } = await rig.cli([...argv, '--json']);
        expect([exitCode, err]).toEqual([0, '']);
        return JSON.parse(out);
      };
      const range = [
        '--since',
        new Date(fromMs).toISOString(),
        '--until',
        new Date(toMs).toISOString(),
      ];
      const by = await ran('tails', '--model', 'llm', '--by', 'attributes.adapter', ...range);
      const counts = (rows: { value: string; requests: number }[]) =>
        Object.fromEntries(rows.map(({ value, requests }) => [value, requests]));
      expect(counts(by.tails)).toEqual({ '': 180, 'lora,2%': 200, 'lora-1': 300, 'lora-3': 120 });
      const one = ['--where', 'attributes.adapter=lora,2%'];
      const of = await ran('tails', '--model', 'llm', '--stage', 'total', ...one, ...range);
      expect(of.tails).toMatchObject([{ requests: 200, max_ms: 80 }]);
      const without = ['--where', 'attributes.adapter='];
      const none = await ran('tails', '--model', 'llm', '--stage', 'total', ...without, ...range);
      expect(none.tails).toMatchObject([{ requests: 180, max_ms: 20 }]);
      await expectStoredRows(rig, ['--model', 'llm', '--stage', 'total', ...range, '--json']);
      const gpus = await ran('tails', '--model', 'llm', '--by', 'attributes.gpu', ...range);
      expect(counts(gpus.tails)).toEqual({ h100: 300, a100: 200 });

      const sides = ['--model', 'llm', '--a', 'v1', '--b', 'v2', ...range];
      const compared = await ran('compare', ...sides, '--where', 'attributes.adapter=lora-1');
      expect(compared).toMatchObject({
        requests: { baseline: 150, candidate: 150 },
        goodput: [{ name: 'lora', a: { requests: 150 }, b: { requests: 150 } }],
      });

      const serve = await rig.start(['serve']);
      const ask = (path: string, asked: Record<string, string>) =>
        answerOf<Record<string, unknown>>(serve.url, path, { model: 'llm', ...inRange, ...asked });
      const tails = await ask('/v1/tails', { by: 'attributes.adapter' });
      expect(tails.rows.map((each) => [each.by, each.requests])).toEqual([
        ['lora-1', 300],
        ['lora,2%', 200],
        ['', 180],
        ['lora-3', 120],
      ]);
      const cut = await ask('/v1/tails', { model: 'many', by: 'attributes.adapter' });
      expect([cut.rows.length, cut.left_out]).toEqual([1_000, { rows: 100, requests: 100 }]);
      expect(cut.rows.slice(0, 950).every((each) => each.requests === 2)).toBe(true);
      expect(tails.left_out).toEqual({ rows: 0, requests: 0 });
      const lacking = await ask('/v1/tails', { by: 'stage', attributes: 'adapter=,tier=' });
      expect(lacking.rows).toMatchObject([{ by: 'total', requests: 180 }]);
      const absent = await ask('/v1/tails', { attributes: 'adapter=lora-9' });
      expect(absent.unknown).toContain('has the attributes.adapter "lora-9". Known values: ');
      const own = { attributes: 'adapter=lora-3,tier=3' };
      expect((await ask('/v1/tails', { by: 'stage', ...own })).rows).toMatchObject([
        { by: 'total', requests: 120 },
      ]);
      const broken = await askApi(serve.url, '/v1/tails', {
        ...{ model: 'llm', ...inRange, attributes: 'adapter=50%' },
      });
      expect([broken.status, JSON.parse(broken.text).detail]).toEqual([
        ...[400, expect.stringContaining('must be pairs such as adapter=lora-7,gpu=h100')],
      ]);
      const facets = await answerOf<Record<string, unknown>>(serve.url, '/v1/facets', {
        ...{ model: 'llm', from: fromMs, to: toMs },
      });
      expect(facets.rows.map((each) => [each.facet, each.value, each.requests])).toEqual([
        ['attributes.gpu', 'h100', 300],
        ['attributes.gpu', 'a100', 200],
      ]);
      expect((await ask('/v1/goodput', {})).rows).toMatchObject([{ requests: 420, missed: 120 }]);
      expect((await ask('/v1/goodput', { model: 'many' })).rows).toEqual([]);
      const ofOne = await ask('/v1/goodput', { attributes: 'adapter=lora-1' });
      expect(ofOne.rows).toMatchObject([{ requests: 300, missed: 0 }]);
      for (const path of ['/v1/density', '/v1/composition', '/v1/requests', '/v1/models']) {
        for (const attributes of [own.attributes, 'adapter=']) {
          const { rows } = await ask(path, { attributes });
          expect([path, attributes, rows.length > 0]).toEqual([path, attributes, true]);
        }
      }
      if (browser.isThere) await expectPanel(serve.url);
      await serve.stop();
    }));
});

/** What is stored of an own dimension stays, also where it is no longer configured; other names are said. */
async function expectStoredRows(rig: Rig, flags: readonly string[]): Promise<void> {
  const env = {
    ...rig.env,
    TAILMARK_WINDOWS_DIMENSIONS: 'model,cold_start',
    TAILMARK_DETECT_SLOS: '[]',
  };
  const ask = (...more: readonly string[]) => rig.cli(['tails', ...flags, ...more], { env });
  const one = await ask('--where', 'attributes.adapter=lora-3');
  expect(JSON.parse(one.out).tails).toMatchObject([{ requests: 120 }]);
  const by = await ask('--by', 'attributes.adapter');
  expect(JSON.parse(by.out).tails).toHaveLength(4);
  const unknown = await ask('--where', 'attributes.adapter=lora-4');
  expect([unknown.exitCode, unknown.err.split('Known')[0], unknown.err.endsWith('.\n')]).toEqual([
    ...[1, 'No request of model "llm" has the attributes.adapter "lora-4". ', true],
  ]);
  expect(unknown.err).toContain('Known values: ');
  const never = await ask('--by', 'attributes.pool');
  expect([never.exitCode, never.err]).toEqual([
    64,
    expect.stringContaining('windows.dimensions must have it'),
  ]);
}

/** The model's page splits by each own dimension; a value filters the page, and the others stay in the panel. */
async function expectPanel(url: string | undefined): Promise<void> {
  const { page, complaints } = await browser.open(url);
  await page.goto(`/models/llm?from=${fromMs}&to=${toMs}`);
  await untilDrawn(page);
  const valuesOf = (name: string) =>
    page.locator(`[data-panel="by-attributes.${name}"] tbody th`).allTextContents();
  await soon(() => valuesOf('tier')).toEqual(['(none)', '3']);
  const all = ['lora-1', 'lora,2%', '(none)', 'lora-3'];
  await soon(() => valuesOf('adapter')).toEqual(all);
  await page.getByRole('link', { name: 'lora,2%' }).click();
  await soon(() => addressOf(page).params.attributes).toBe('adapter=lora%2C2%25');
  await soon(() => page.locator('[data-panel="tail"]').textContent()).toContain('200 requests');
  expect(await valuesOf('adapter')).toEqual(all);
  const chip = page.getByLabel('Own dimensions').locator('option:checked');
  expect(await chip.textContent()).toBe('adapter=lora,2%');
  await page
    .locator('[data-panel="by-attributes.adapter"]')
    .getByRole('link', { name: '(none)' })
    .click();
  await soon(() => addressOf(page).params.attributes).toBe('adapter=');
  await soon(() => page.locator('[data-panel="tail"]').textContent()).toContain('180 requests');
  expect(await chip.textContent()).toBe('adapter=(none)');
  await page.goto(`/models/many?from=${fromMs}&to=${toMs}`);
  const panel = page.locator('[data-panel="by-attributes.adapter"]');
  const note = '1,000 of 1,100 values, those with the most requests.';
  await soon(() => panel.locator('.partial-note').textContent()).toBe(note);
  expect(await panel.locator('table').textContent()).toContain(
    '1,092 more with fewer requests, 992 of them in the table; slowest of these 992 ',
  );
  expect(complaints).toEqual([]);
  await page.context().close();
}
