import { hostileModel } from '../../views/view-traffic.ts';
import { openId } from './seeded-dashboard.ts';
import { axeFindings, untilDrawn, type useBrowser, type widths } from './use-browser.ts';

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

/** How pages are shown. */
export interface Look {
  readonly theme: 'light' | 'dark';
  readonly width: (typeof widths)[number];
}

/** What is wrong with the views: wider than the window, errors, what axe finds, complaints of the browser. */
export async function problemsOfViews(
  browser: ReturnType<typeof useBrowser>,
  url: string,
  { theme, width }: Look,
): Promise<string[]> {
  const found: string[] = [];
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
  return found;
}
