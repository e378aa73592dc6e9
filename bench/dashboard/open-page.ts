import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const executables = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];

export function startBrowser(): Promise<Browser> {
  const executablePath = executables.find(existsSync);
  if (executablePath === undefined) throw new Error(`no chromium: ${executables.join(', ')}`);
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** A page that was just drawn for the first time. */
export interface DrawnPage {
  readonly page: Page;
  /** Milliseconds from the begin of the navigation. */
  readonly firstPaintMs: number;
  readonly drawnMs: number;
  /** Questions that it asked, as paths. */
  readonly questions: readonly string[];
}

/** Watches for the frame in which no panel loads any more. */
const watch = `{
  const look = () => {
    const panels = [...document.querySelectorAll('[data-panel]')];
    if (panels.length > 0 && panels.every((one) => one.dataset.state !== 'loading')) {
      window.drawnMs = performance.now();
    } else {
      requestAnimationFrame(look);
    }
  };
  requestAnimationFrame(look);
}`;

/** Opens an address in a context without a cache. The context is the caller's to close. */
export async function openPage(browser: Browser, url: string): Promise<DrawnPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const questions: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith('/v1/')) questions.push(pathname + search);
  });
  await page.addInitScript(watch);
  await page.goto(url);
  // Not waitForFunction: the page's own policy forbids its eval.
  const drawnMs = await page.evaluate<number>(
    `new Promise((done) => {
      const look = () => (window.drawnMs === undefined ? setTimeout(look, 20) : done(window.drawnMs));
      look();
    })`,
  );
  const firstPaintMs = await page.evaluate<number>(
    "performance.getEntriesByName('first-contentful-paint')[0].startTime",
  );
  const failed = await page.locator('[data-state="error"]').count();
  if (failed > 0) throw new Error(`${url}: ${failed} panels with errors`);
  return { page, firstPaintMs, drawnMs, questions: [...new Set(questions)] };
}
