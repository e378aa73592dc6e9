import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import type { AnomalyAnswer } from '../../../src/views/answers/anomalies.ts';
import type { CompareAnswer } from '../../../src/views/answers/compare.ts';
import { parsePlace } from '../../../ui/src/state/url.ts';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import { store, trafficOf } from '../views/view-traffic.ts';
import { askApi } from './asked-api.ts';
import { openId, seedDashboard, useDashboard } from './kit/seeded-dashboard.ts';
import {
  addressOf,
  axeFindings,
  press,
  soon,
  tabTo,
  untilDrawn,
  useBrowser,
} from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
const dashboard = useDashboard(stack);

const title = (page: Page) => page.locator('h1').textContent();

/** Elements whose text is wider than their box. */
const clippedIn = (page: Page, selector: string) =>
  page
    .locator(selector)
    .evaluateAll((all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent),
    );

const isFocused = (target: Locator) =>
  target.evaluate((element) => element === element.ownerDocument.activeElement);

describe('a comparison', () => {
  it('opens with the newest two versions, and the index lists models with two and their verdicts', () =>
    withRig({ stack, name: 'dashboard-newest' }, async (rig) => {
      await seedDashboard(rig);
      const fromMs = Math.floor((Date.now() - 20 * minuteMs) / minuteMs) * minuteMs;
      const newest = { model: 'ranker', version: 'v3', fromMs, requests: 300, minutes: 14 };
      await store(rig, trafficOf({ ...newest, name: 'v3' }));
      const { url } = await rig.start(['ingest', 'serve']);
      const { page, complaints } = await browser.open(url);

      await page.goto('/compare?from=-1h');
      await soon(() => title(page)).toBe('1 model has two versions live');
      const row = page.locator('.verdict-row');
      await soon(() => row.locator('.hint').textContent()).toBe('B v3 against A v2');
      // What the index says is what the comparison says.
      const asked = { from: '-1h', model: 'ranker', 'a.version': 'v2', 'b.version': 'v3' };
      await soon(async () => {
        const { text } = await askApi(url, '/v1/compare', asked);
        const compared: CompareAnswer = JSON.parse(text);
        const shown = [
          await row.locator('.tag').textContent(),
          await row.locator('p').textContent(),
        ];
        return JSON.stringify(shown) === JSON.stringify([compared.verdict, compared.title]);
      }).toBe(true);
      const others = page.getByRole('list', { name: 'Other models' });
      await soon(() => others.locator('a').count()).toBe(2);

      await page.goto('/compare?from=-1h&model=ranker');
      await soon(() => addressOf(page).params).toEqual(asked);
      await soon(() => title(page)).toMatch(/^ranker: /);

      // A chosen B is compared with the version before it; a model with one version says so.
      await page.goto('/compare?from=-1h&model=ranker&b.version=v2');
      await soon(() => addressOf(page).params['a.version']).toBe('v1');
      await page.goto('/compare?from=-1h&model=few');
      await soon(() => title(page)).toBe('few: one version in this range, v1');
      expect(complaints).toEqual([]);
    }));
});

describe('the way from an incident', () => {
  it('to its model, a request, a comparison and back keeps incident, range and stage, at both widths', async () => {
    const url = dashboard.url();
    for (const width of [1280, 400]) {
      const { page, complaints } = await browser.open(url, { viewport: { width, height: 900 } });
      await page.goto(`/incidents/${openId}?from=-1h`);
      await untilDrawn(page);
      // The incident has a time of its own: a picker would do nothing.
      expect(await page.locator('.time-picker').count()).toBe(0);
      // Times in sentences of the server are in the zone of the page, as all others.
      await page.locator('[data-panel="evidence"] summary').click();
      expect(await page.locator('[data-panel="evidence"] time').count()).toBeGreaterThan(2);
      expect(await page.locator('main').textContent()).not.toMatch(/\d\d:\d\d(Z| UTC)/);
      // Every link to the model's requests has the time and the stage of the incident.
      const { event, dashboard } = JSON.parse(
        (await askApi(url, `/v1/anomalies/${openId}`)).text,
      ) as AnomalyAnswer;
      const ofIncident = { incident: openId, stage: dashboard.measured_stage };
      const links = await page
        .locator('a[href^="/models/"], a[href*="&model=ranker"]')
        .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
      expect(links.length).toBe(3);
      for (const link of links) {
        const linked = parsePlace(new URL(link, url), 0).params;
        const stage = link.includes('/models/') ? linked.stage : undefined;
        expect([link, linked.incident, stage ?? ofIncident.stage]).toEqual([
          ...[link, ofIncident.incident, ofIncident.stage],
        ]);
        expect([link, Date.parse(linked.from ?? '')]).toEqual([link, Date.parse(dashboard.from)]);
      }
      expect(links.some((link) => link.includes(`version=${event.version}`))).toBe(true);
      await page.locator('.incident-links a').first().click();
      await soon(() => addressOf(page)).toMatchObject({
        ...{ pathname: '/models/ranker' },
        params: { incident: openId, from: expect.stringMatching(/Z$/) },
      });
      const { from, to } = addressOf(page).params;
      expect(await page.locator('.time-picker').count()).toBe(1);
      await untilDrawn(page);
      await page.locator('.filters').getByLabel('Stage').selectOption('queue');
      await page.locator('.request-toggle').first().click();
      await soon(() => addressOf(page).params.at).toBeDefined();
      // The opened request is part of the address.
      await page.reload();
      await soon(() => page.locator('.request-toggle[aria-expanded="true"]').count()).toBe(1);

      await page.getByRole('link', { name: 'Compare versions' }).click();
      const context = { incident: openId, stage: 'queue', from, to };
      await soon(() => addressOf(page)).toMatchObject({
        ...{ pathname: '/compare' },
        params: { ...context, model: 'ranker', 'a.version': 'v1', 'b.version': 'v2' },
      });
      await page.getByRole('link', { name: 'What ranker is made of' }).click();
      await soon(() => addressOf(page)).toEqual({ pathname: '/models/ranker', params: context });
      await page.getByRole('link', { name: '← Incident' }).click();
      const back = { stage: 'queue', from, to };
      await soon(() => addressOf(page)).toEqual({
        pathname: `/incidents/${openId}`,
        params: back,
      });

      await page.getByRole('link', { name: 'Compare with before' }).click();
      await page.locator('.reason').getByText('B is the time of the incident,').waitFor();
      // All times of the page are in its zone, and the test of the incident has no interval of a percentile.
      await page.locator('.incident-context time').waitFor();
      const shown = await page.locator('main').textContent();
      expect(shown).not.toMatch(/\d\d:\d\d(Z| UTC)|interval holds|96 % interval/);
      const reason = await page.locator('.reason li').nth(1).textContent();
      expect(reason).toMatch(/^[A-Z]|^p\d/);
      expect(await page.locator('.time-picker').count()).toBe(0);
      await page.getByRole('link', { name: '← Incident' }).click();
      await soon(() => addressOf(page)).toEqual({
        pathname: `/incidents/${openId}`,
        params: back,
      });

      // The bar leads from the incident to the same comparison as its page.
      const before = page.getByRole('link', { name: 'Compare with before' });
      const linked = parsePlace(new URL((await before.getAttribute('href')) ?? '', url), 0).params;
      await page.getByRole('navigation', { name: 'Views' }).getByText('Compare').click();
      await page.locator('.reason').getByText('B is the time of the incident,').waitFor();
      expect(addressOf(page)).toEqual({ pathname: '/compare', params: linked });
      expect(await page.getByRole('link', { name: '← Incident' }).count()).toBe(1);
      const cut = await page
        .locator('.chart-shift .chart-axis text')
        .evaluateAll(
          (all) =>
            all.filter(
              (one) =>
                one.getBoundingClientRect().left <
                (one.ownerSVGElement?.getBoundingClientRect().left ?? 0),
            ).length,
        );
      expect([width, cut]).toEqual([width, 0]);
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });
});

describe('what an address names wrongly', () => {
  it('is said, with the names and times that there are', async () => {
    const url = dashboard.url();
    const { page } = await browser.open(url);
    await page.goto('/models/rankr?from=-1h');
    await soon(() => title(page)).toBe('There is no model rankr');
    const known = page.getByRole('list', { name: 'Known models' }).locator('a');
    await soon(() => known.first().textContent()).toBe('ranker');
    expect(await known.count()).toBe(3);
    await known.first().click();
    await soon(() => addressOf(page)).toEqual({
      pathname: '/models/ranker',
      params: { from: '-1h' },
    });

    await page.goto('/compare?model=rankr');
    await soon(() => title(page)).toBe('There is no model rankr');
    await soon(() => known.first().textContent()).toBe('ranker');

    await page.goto('/models/ranker?from=-1h&version=v9');
    await soon(() => page.locator('[data-panel="tail"] .notice').textContent()).toBe(
      'No request of model "ranker" has the version "v9". Known versions: v1, v2.',
    );

    await page.goto('/models/ranker?from=-30x');
    const notice = page.getByRole('alert');
    await soon(() => notice.textContent()).toBe(
      'The address has from=-30x, which is no time: what is shown is the last 6 h. A time is now, a duration ago such as -6h, -30m or -7d, RFC 3339 such as 2026-11-25T10:00:00Z, or milliseconds since 1970.',
    );
    expect(addressOf(page).params).toEqual({ from: '-30x' });
    await press(page, '[');
    await soon(() => notice.count()).toBe(0);
  });
});

describe('a page', () => {
  it('has one menu a panel, which is used by keyboard alone', async () => {
    const url = dashboard.url();
    const { page } = await browser.open(url);
    await page.goto('/models/ranker?from=-1h');
    await untilDrawn(page);
    const facetNote = 'in all regions, of all types, warm and cold, whatever is chosen above';
    await page.locator('[data-panel="facets"]').getByText(facetNote).waitFor();
    const panels = await page.locator('[data-panel]').count();
    expect(await page.locator('[data-panel] [aria-haspopup="menu"]').count()).toBe(panels);
    const panel = page.locator('[data-panel="by-region"]');
    const button = panel.getByRole('button', { name: 'More of this panel' });
    await tabTo(page, button);
    await press(page, 'Enter');
    await soon(() => button.getAttribute('aria-expanded')).toBe('true');
    const items = panel.getByRole('menu').locator('button');
    await soon(() => isFocused(items.first())).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    await press(page, 'ArrowUp');
    await soon(() => isFocused(items.last())).toBe(true);
    await press(page, 'ArrowDown');
    await soon(() => isFocused(items.first())).toBe(true);
    await press(page, 'Escape');
    await soon(() => panel.getByRole('menu').count()).toBe(0);
    expect(await isFocused(button)).toBe(true);
    await press(page, 'Enter');
    await press(page, 'Enter');
    await soon(() => addressOf(page).params.table).toBe('by-region');
    await press(page, 'Enter');
    await soon(() => items.first().getAttribute('aria-checked')).toBe('true');
  });

  it('joins the flags of versions that would stand on each other, and names them on focus', () =>
    withRig({ stack, name: 'dashboard-flags' }, async (rig) => {
      const fromMs = Math.floor((Date.now() - 20 * minuteMs) / minuteMs) * minuteMs;
      const of = (version: string, afterMinutes: number) =>
        trafficOf({
          ...{ name: version, model: 'ranker', version, requests: 300 },
          ...{ fromMs: fromMs + afterMinutes * minuteMs, minutes: 14 - afterMinutes },
        });
      await store(rig, [...of('2026-10-15', 0), ...of('2026-11-01', 1), ...of('2026-11-08', 12)]);
      const { url } = await rig.start(['ingest', 'serve']);
      const { page, complaints } = await browser.open(url);
      await page.goto('/models/ranker?from=-1h');
      await untilDrawn(page);
      const flags = page.locator('.chart-release');
      await soon(() => flags.count()).toBe(2);
      const names = flags.first().locator('.chart-release-names');
      expect(await flags.first().textContent()).toContain('⚑ 2 versions');
      expect(await names.isVisible()).toBe(false);
      await tabTo(page, flags.first());
      await soon(() => names.isVisible()).toBe(true);
      await soon(() => names.textContent()).toMatch(/^2026-10-15 \d\d:\d\d2026-11-01 \d\d:\d\d$/);
      await press(page, 'Enter');
      await soon(() => addressOf(page).params['b.version']).toBe('2026-11-01');
      await soon(() => addressOf(page).params['a.version']).toBe('2026-10-15');
      expect(complaints).toEqual([]);
    }));

  it('of 400 px has one bar, whole names, and numbers with their units', () =>
    withRig({ stack, name: 'dashboard-narrow' }, async (rig) => {
      await seedDashboard(rig);
      const { url } = await rig.start(['ingest', 'serve']);
      const { page } = await browser.open(url, { viewport: { width: 400, height: 900 } });
      const version = 'release-2026-11-01-with-a-long-name-of-its-own';
      const fromMs = Math.floor((Date.now() - 20 * minuteMs) / minuteMs) * minuteMs;
      await store(
        rig,
        trafficOf({ name: 'long', model: 'ranker', version, fromMs, requests: 300, minutes: 14 }),
      );
      for (const path of ['/?from=-1h', '/models/ranker?from=-1h', `/incidents/${openId}`]) {
        await page.goto(path);
        await untilDrawn(page);
        const bar = await page.locator('.top').boundingBox();
        expect([path, (bar?.height ?? 0) < 56]).toEqual([path, true]);
        const names = 'td.name, .splits th, .requests-name, .blame-name, h2';
        expect([path, await clippedIn(page, names)]).toEqual([path, []]);
      }
      await page.goto('/models/ranker?from=-1h');
      await untilDrawn(page);
      const unitOf = (selector: string) =>
        page.evaluate<string>(
          `getComputedStyle(document.querySelector('${selector}'), '::after').content`,
        );
      expect(await unitOf('.slice > .slice-mean')).toBe('" ms"');
      expect(await unitOf('.requests td.number')).toBe('" ms"');
      const menu = page.locator('.top').getByRole('button', { name: 'More of this page' });
      await menu.click();
      await page.getByRole('menuitemcheckbox', { name: /Times in UTC/ }).click();
      await soon(() => addressOf(page).params.utc).toBe('1');
    }));
});
