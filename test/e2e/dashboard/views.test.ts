import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { hostileModel } from '../views/view-traffic.ts';
import { openId, useDashboard } from './kit/seeded-dashboard.ts';
import { axeFindings, themes, untilDrawn, useBrowser, widths } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
const dashboard = useDashboard(stack);
const range = 'from=-1h';
const views = [
  ['now', `/?${range}`],
  ['incident', `/incidents/${openId}?${range}`],
  ['model', `/models/ranker?${range}`],
  ['density', `/models/ranker?${range}&view=density`],
  ['over-time', `/models/ranker?${range}&by=time`],
  ['hostile', `/models/${encodeURIComponent(hostileModel)}?${range}`],
  ['compare', `/compare?${range}&model=ranker&a.version=v1&b.version=v2`],
  ['compare-index', `/compare?${range}`],
  ['wrong-time', '/models/ranker?from=-30x'],
  ['pipeline', '/pipeline'],
  ['tables', `/?${range}&table=models,incidents`],
] as const;

describe('each view', () => {
  it('is drawn, accessible, no wider than the window, and complains of nothing', async () => {
    const url = dashboard.url();
    const found: string[] = [];
    for (const theme of themes) {
      for (const width of widths) {
        const viewport = { width, height: 900 };
        const { page, complaints } = await browser.open(url, { viewport, colorScheme: theme });
        for (const [name, path] of views) {
          const where = `${name}, ${theme}, ${width} px`;
          await page.goto(path);
          await untilDrawn(page);
          const wider = await page.evaluate<number>(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          if (wider > 0) found.push(`${where}: wider than the window by ${wider} px`);
          for (const panel of await page.locator('[data-state="error"]').all()) {
            found.push(`${where}: ${await panel.textContent()}`);
          }
          found.push(...(await axeFindings(page)).map((text) => `${where}: ${text}`));
          found.push(...complaints.splice(0).map((text) => `${where}: ${text}`));
          if (process.env.TAILMARK_SCREENSHOTS !== undefined) {
            const file = `${process.env.TAILMARK_SCREENSHOTS}/${name}-${theme}-${width}.png`;
            await page.screenshot({ path: file, fullPage: true });
          }
        }
        await page.context().close();
      }
    }
    expect(found).toEqual([]);
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
