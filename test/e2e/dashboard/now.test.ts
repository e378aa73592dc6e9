import { describe, expect, it } from 'vitest';
import { hourMs } from '../../../src/base/time.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import type { ModelsAnswer } from '../../../src/views/answers/models.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { withRig } from '../kit/with-rig.ts';
import { seedDashboard } from './kit/seeded-dashboard.ts';
import { press, soon, untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();

describe('now', () => {
  it('compares a model with its baseline by the same estimate, marks it, and says when all is old', () =>
    withRig({ stack, name: 'dashboard-same' }, async (rig) => {
      const { url } = await rig.start(['ingest', 'serve']);
      const { page, complaints } = await browser.open(url);
      const notice = page.locator('.stale-notice');
      await page.goto('/?from=-1h');
      await soon(() => notice.textContent()).toContain('no window of events is complete');
      await page.goto('/pipeline');
      await soon(() => page.locator('h1').textContent()).toBe('No event has arrived yet.');

      // The same durations today and on all seven days before, far from the edges of their band.
      const toMs = Math.floor(Date.now() / hourMs) * hourMs;
      const days = [7, 6, 5, 4, 3, 2, 1, 0].map((day) => toMs - day * 24 * hourMs);
      const events = days.flatMap((endMs) =>
        Array.from({ length: 2_000 }, (_, n) => {
          const ms = n % 500 === 0 ? 1_000 : 161;
          const ts = endMs - hourMs + Math.floor((n * (hourMs - 10_000)) / 2_000);
          return { value: JSON.stringify({ ts, model: 'same', version: 'v1', total_ms: ms }) };
        }),
      );
      await rig.publish(events);
      await rig.untilConsumed(events.length);
      const at = new Date(toMs - 600_000).toISOString();
      const times = { started_at: at, detected_at: at, emitted_at: at };
      await new AnomalyStore(rig.client).add(anomalyFixture({ ...times, model: 'same' }));
      const range = `from=${new Date(toMs - hourMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
      await page.goto(`/?${range}`);
      const row = page.locator('[data-panel="models"] tr', { hasText: 'same' });
      await soon(() => row.locator('.tag').textContent()).toBe('open');
      const response = await fetch(`${url}/v1/models?${range}`);
      const answer = (await response.json()) as ModelsAnswer;
      expect(answer.rows).toMatchObject([{ p99_ms: 161, baseline_p99_ms: 161, ratio: 1 }]);
      expect(complaints).toEqual([]);
    }));

  it('says how many models it leaves out, and finds them by name', () =>
    withRig({ stack, name: 'dashboard-cut' }, async (rig) => {
      await seedDashboard(rig);
      const { url } = await rig.start(['ingest', 'serve']);
      const { page, complaints } = await browser.open(url);
      await page.route(
        ({ pathname }) => pathname === '/v1/models',
        (route) => {
          const asked = new URL(route.request().url());
          asked.searchParams.set('limit', '2');
          return route.continue({ url: String(asked) });
        },
      );
      await page.goto('/?from=-1h');
      await untilDrawn(page);
      const panel = page.locator('[data-panel="models"]');
      const names = () => panel.locator('td.name').allTextContents();
      await soon(() => panel.getAttribute('data-state')).toBe('partial');
      await soon(() => panel.locator('.partial-note').textContent()).toContain(
        '2 of 3 models, those with the most requests.',
      );
      await soon(() => panel.locator('.count').textContent()).toBe('2 of 3 models');
      expect(await names()).not.toContain('few');
      // A line of p99 and a line of requests for each model.
      expect(await panel.locator('tbody tr .spark-line').count()).toBe(4);
      await soon(() => panel.locator('.legend').textContent()).toContain('dashed is the baseline');

      await press(page, '/');
      await page.keyboard.type('FEW');
      await soon(names).toEqual(['few']);
      await soon(() => panel.locator('.count').textContent()).toBe('1 of 3 models');
      await page.keyboard.type('nothing');
      await soon(() => panel.locator('.panel-body').textContent()).toContain('No model');
      expect(complaints).toEqual([]);
    }));

  it('has models whose events have no total, and their view says so', () =>
    withRig({ stack, name: 'dashboard-stages' }, async (rig) => {
      const events = Array.from({ length: 60 }, (_, n) => ({
        ...{ ts: Date.now() - 600_000 + n * 1_000, model: 'parts', partial: true },
        stages_ms: n < 40 ? { queue: 5, forward: 20 } : { queue: 5 },
      }));
      await rig.publish(events.map((event) => ({ value: JSON.stringify(event) })));
      const { url } = await rig.start(['ingest', 'serve']);
      await rig.untilConsumed(events.length);
      const { page, complaints } = await browser.open(url);
      const textOf = (name: string) => page.locator(`[data-panel="${name}"]`).textContent();
      await page.goto('/?from=-1h');
      await soon(() => textOf('models')).toContain('stages only, no total');
      await page.locator('td.name a').click();
      const sentence =
        'No event of parts in this range has a total. Choose one of its stages: queue, forward.';
      await soon(() => page.locator('h1').textContent()).toMatch(
        /no event has a total .*, only stages/,
      );
      for (const name of ['tail', 'composition', 'by-version']) {
        await soon(() => textOf(name)).toContain(sentence);
      }
      await soon(() => textOf('requests')).toContain('Requests are kept where they have a total.');
      await page.getByLabel('Stage').selectOption('queue');
      await soon(() => page.locator('h1').textContent()).toContain('queue of parts: median');
      await soon(() => page.locator('[data-panel="tail"] .chart-plot svg').count()).toBe(1);
      await soon(() => textOf('composition')).toContain(sentence);
      expect(complaints).toEqual([]);
    }));

  it('opens models whose names browsers take for folders, by their link and by their address', () =>
    withRig({ stack, name: 'dashboard-dots' }, async (rig) => {
      const names = ['.', '..', '~..', 'a/..'];
      const events = names.map((model, n) => ({
        ...{ ts: Date.now() - 600_000 + n, model, stages_ms: { queue: 5 } },
      }));
      await rig.publish(events.map((event) => ({ value: JSON.stringify(event) })));
      const { url } = await rig.start(['ingest', 'serve']);
      await rig.untilConsumed(events.length);
      const { page, complaints } = await browser.open(url);
      for (const name of names) {
        await page.goto('/?from=-1h');
        await page.locator('td.name a').getByText(name, { exact: true }).click();
        const title = () => page.locator('h1').textContent();
        await soon(title).toContain(`${name}: median 5`);
        const link = page.url();
        await page.goto('/pipeline');
        await page.goto(link);
        await soon(title).toContain(`${name}: median 5`);
        expect(page.url()).toBe(link);
      }
      expect(complaints).toEqual([]);
    }));

  it('shows the most severe incident first, and the others as less severe', () =>
    withRig({ stack, name: 'dashboard-severities' }, async (rig) => {
      const anomalies = new AnomalyStore(rig.client);
      for (const [n, severity] of (['critical', 'warning', 'info'] as const).entries()) {
        const at = new Date(Date.now() - (9 - n) * 60_000).toISOString();
        const id = severity.slice(0, 1).repeat(32);
        const times = { started_at: at, detected_at: at, emitted_at: at };
        const kind = severity === 'critical' ? 'tail_shift' : 'drift';
        await anomalies.add(anomalyFixture({ id, ...times, severity, kind, model: severity }));
      }
      const { url } = await rig.start(['serve']);
      const { page, complaints } = await browser.open(url);
      await page.goto('/?from=-1h');
      await untilDrawn(page);
      const open = page.locator('[data-panel="open"]');
      await soon(() => open.locator('.tag').allTextContents()).toEqual([
        ...['critical', 'warning', 'info'],
      ]);
      expect(await page.locator('h1').textContent()).toMatch(/^3 open: .*critical/);
      const borders = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.incident')].map((one) => getComputedStyle(one).borderLeftColor)`,
      );
      expect(new Set(borders).size).toBe(3);
      expect(complaints).toEqual([]);
      // Its model has no requests, which the browser says as well.
      await page.goto(`/incidents/${'i'.repeat(32)}`);
      await soon(() => page.locator('.page-title .tag').textContent()).toContain('info, open');
    }));
});
