import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { type Look, problemsOfViews } from './kit/drawn-views.ts';
import { useDashboard } from './kit/seeded-dashboard.ts';
import { untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
const dashboard = useDashboard(stack);
// The other two looks are in views.slow.test.ts.
describe('each view', () => {
  it.each<Look>([
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 400 },
  ])('is drawn, accessible, no wider than the window: $theme, $width px', async (look) => {
    expect(await problemsOfViews(browser, dashboard.url(), look)).toEqual([]);
  });
});

describe('the page of the pipeline', () => {
  it('says who added a mute, and who ended it', async () => {
    const { page } = await browser.open(dashboard.url());
    await page.goto('/pipeline');
    await untilDrawn(page);
    const cells = await page.locator('[data-panel="mutes"] tbody td').allTextContents();
    expect([cells[0], ...cells.slice(3)]).toEqual([
      ...['model nobody*, region eu-*', 'load test', 'ann for the drill', 'bob'],
    ]);
  });
});

describe('scripts and styles', () => {
  it('are at most 120 kB compressed', () => {
    const assets = new URL('../../../dist/ui/assets/', import.meta.url);
    const sizes = readdirSync(assets)
      .filter((name) => /\.(js|css)\.gz$/.test(name))
      .map((name) => readFileSync(new URL(name, assets)).length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(120_000);
  });
});
