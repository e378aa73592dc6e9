import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import { hostileModel } from '../views/view-traffic.ts';
import { openId, seedDashboard, useDashboard } from './kit/seeded-dashboard.ts';
import { press, soon, untilDrawn, useBrowser, valuesIn } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
const dashboard = useDashboard(stack);

const models = '[data-panel="models"]';
const query = (page: Page) => new URL(page.url()).search;

describe('the dashboard', () => {
  it('is used by keyboard, keeps its state in the address, and shares it', async () => {
    const url = dashboard.url();
    const { page, complaints } = await browser.open(url, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.goto('/?from=-1h');
    await untilDrawn(page);

    // The title is the answer.
    await soon(() => page.locator('h1').textContent()).toMatch(/^1 open: .*ranker/);
    await soon(() => page.title()).toMatch(/^1 open: .* · tailmark$/);
    // A name from traffic is text.
    expect(await page.locator('td.name').allInnerTexts()).toContainEqual(
      expect.stringContaining('<script>'),
    );

    await press(page, '/');
    await page.keyboard.type('rank');
    await soon(() => query(page)).toBe('?from=-1h&filter=rank');
    await soon(() => page.locator('table.cards tbody tr').count()).toBe(1);
    await press(page, 'Escape');

    await press(page, 'u');
    await soon(() => query(page)).toBe('?from=-1h&filter=rank&utc=1');
    await press(page, 'u');

    await press(page, '[');
    await soon(() => query(page)).toMatch(/^\?from=\d{4}-\S+Z&to=\d{4}-\S+Z&filter=rank$/);
    await press(page, ']');
    await soon(() => query(page)).toBe('?from=-1h&filter=rank');
    await page.goBack();
    await soon(() => query(page)).toMatch(/^\?from=\d{4}/);
    await page.goForward();

    await press(page, '?');
    await soon(() => page.locator('dialog[open]').count()).toBe(1);
    await press(page, 'Escape');
    await soon(() => page.locator('dialog[open]').count()).toBe(0);

    // The copied link has the same numbers in a fresh browser whose clock is an hour on. Rates of a range
    // that is not complete still change, so this one ends before the newest windows.
    await page.goto('/?from=-1h&to=-10m');
    await untilDrawn(page);
    await press(page, 'c');
    await page.getByText('Link copied').waitFor();
    const link = await clipboard();
    expect(link).toMatch(/\?from=\d{4}-\S+Z&to=\d{4}-\S+Z$/);
    const later = await browser.open(url);
    await later.page.clock.install({ time: Date.now() + 3_600_000 });
    await later.page.goto(link);
    await untilDrawn(later.page);
    expect(await valuesIn(later.page, models)).toEqual(await valuesIn(page, models));
    await later.page.context().close();

    // The query of a panel is copied, and returns a row a model.
    const panel = page.locator(models);
    await panel.getByRole('button', { name: 'More of this panel' }).click();
    await panel.getByRole('menuitem', { name: /SQL/ }).click();
    await panel.getByText('SQL copied').waitFor();
    expect((await dashboard.rig().rows(await clipboard())).length).toBe(3);

    // One panel alone, for embedding.
    await page.goto('/?from=-1h&only=models');
    await untilDrawn(page);
    await soon(() => page.locator('[data-panel]').count()).toBe(1);
    await soon(() => page.locator('h1, nav').count()).toBe(0);

    // j and Enter open the first row, which is the incident that is open.
    await page.goto('/?from=-1h');
    await untilDrawn(page);
    await press(page, 'j');
    await press(page, 'Enter');
    await soon(() => new URL(page.url()).pathname).toBe(`/incidents/${openId}`);
    await soon(() => query(page)).toContain('from=-1h');
    await page.goto(`/models/${encodeURIComponent(hostileModel)}`);
    await untilDrawn(page);
    await soon(() => page.locator('h1').textContent()).toContain('<script>');
    expect(complaints).toEqual([]);
  });

  it('keeps what it had while the server is away, and recovers by itself', async () => {
    const url = dashboard.url();
    const { page } = await browser.open(url);
    await page.clock.install();
    await page.goto('/?from=-1h');
    await untilDrawn(page);
    const before = await valuesIn(page, models);
    const panel = page.locator(models);
    const away = [
      [{ abort: true }, 'tailmark cannot be reached. Shown as of'],
      [
        {
          status: 503,
          body: '{"detail":"ClickHouse is away."}',
          headers: { 'retry-after': '1' },
        },
        'ClickHouse is away. Shown as of',
      ],
    ] as const;
    for (const [how, text] of away) {
      await page.route('**/v1/**', (route) =>
        'abort' in how ? route.abort() : route.fulfill(how),
      );
      await page.clock.runFor(6_000);
      await panel.getByText(text).waitFor();
      expect(await panel.getAttribute('data-state')).toBe('error');
      expect(await valuesIn(page, models)).toEqual(before);
      await page.unroute('**/v1/**');
      await page.clock.runFor(61_000);
      await page.locator('[data-panel="models"]:not([data-state="error"])').waitFor();
      await soon(() => panel.getByText('Shown as of').count()).toBe(0);
    }
  });

  it('asks for a token where http.auth is set, and keeps it from scripts', () =>
    withRig({ stack, name: 'dashboard-login' }, async (rig) => {
      const folder = mkdtempSync(join(tmpdir(), 'tailmark-tokens-'));
      rig.atEnd(async () => rmSync(folder, { recursive: true, force: true }));
      const token = 'a-token-of-the-test-1234';
      const file = join(folder, 'tokens');
      writeFileSync(file, `ann ${createHash('sha256').update(token).digest('hex')}\n`);
      const http = { ...rig.config.http, auth: { tokens_file: file } };
      await seedDashboard(rig);
      const { url } = await rig.start(['ingest', 'serve'], { ...rig.config, http });
      expect((await fetch(`${url}/v1/models`)).status).toBe(401);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);

      const { page } = await browser.open(url);
      await page.goto('/?from=-1h');
      await page.getByLabel('Token').fill('wrong');
      await press(page, 'Enter');
      await page.getByText('No such token.').waitFor();
      await page.getByLabel('Token').fill(token);
      await press(page, 'Enter');
      await page.locator('[data-panel="models"] td.name').first().waitFor();
      expect(await page.evaluate('document.cookie')).toBe('');
      const [cookie] = await page.context().cookies();
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
      expect(cookie?.value).not.toContain(token);
      await page.reload();
      await page.locator('[data-panel="models"] td.name').first().waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByLabel('Token').waitFor();
      expect(await page.context().cookies()).toEqual([]);
      const stolen = { cookie: `${cookie?.name}=${cookie?.value}` };
      expect((await fetch(`${url}/v1/models`, { headers: stolen })).status).toBe(401);
    }));
});
