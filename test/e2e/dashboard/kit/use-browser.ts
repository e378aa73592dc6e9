import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { poll } from '../../kit/poll.ts';

const executables = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

export const widths = [1280, 400] as const;

/** A page that keeps what it complained of. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the console, errors that nobody caught, and requests to other origins. */
  readonly complaints: string[];
}

/** What axe found, as `impact rule: element`. */
export async function axeFindings(page: Page): Promise<string[]> {
  // A script tag would break the page's own policy.
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<AxeResult>('axe.run()');
  return violations.flatMap(({ impact, id, nodes }) =>
    nodes.map(({ html }) => `${impact} ${id}: ${html.slice(0, 200)}`),
  );
}

interface AxeResult {
  readonly violations: readonly {
    readonly impact: string;
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/**
 * The system's chromium for the tests of a file; call it at the top of the file. Where there is none, each
 * test is skipped with the reason.
 */
export function useBrowser(): TestBrowser {
  const browser = useBrowserIfThere();
  beforeEach((context) => {
    if (!browser.isThere) context.skip(`no chromium: ${executables.join(', ')}`);
  });
  return browser;
}

interface TestBrowser {
  open(base: string | undefined, options?: BrowserContextOptions): Promise<WatchedPage>;
}

/** The same for tests that have more to show than pages: they are not skipped. */
export function useBrowserIfThere(): TestBrowser & { readonly isThere: boolean } {
  const executablePath = executables.find(existsSync);
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (executablePath === undefined) return;
    // Tests run as root in containers, where chromium's own sandbox cannot be made.
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  });
  afterAll(() => browser?.close());
  return {
    isThere: executablePath !== undefined,
    async open(base, options = {}) {
      if (browser === undefined || base === undefined) throw new Error('no chromium, or no server');
      const context = await browser.newContext({
        timezoneId: 'Europe/Berlin',
        locale: 'en-GB',
        baseURL: base,
        ...options,
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error.stack)));
      page.on('request', (request) => {
        if (!request.url().startsWith(base)) complaints.push(`request to ${request.url()}`);
      });
      return { page, complaints };
    },
  };
}

/** Waits until no panel of a page loads. */
export async function untilDrawn(page: Page): Promise<void> {
  await page.locator('[data-panel]').first().waitFor({ state: 'attached' });
  const loading = page.locator('[data-state="loading"]');
  await poll(
    'panels that are drawn',
    async () => ((await loading.count()) === 0 ? true : undefined),
    {
      seen: () => page.url(),
    },
  );
}

/**
 * Presses a key, and waits until the page has drawn what follows: effects run after the next frame, and what
 * they change is drawn with the one after it.
 */
export async function press(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key);
  await page.evaluate(
    `new Promise((done) => {
      const frame = (then) => requestAnimationFrame(() => setTimeout(then));
      frame(() => frame(done));
    })`,
  );
}

/** Moves the focus on by Tab until it is on an element, as who has no mouse does. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  const mostTabs = 200;
  for (let tabs = 0; tabs < mostTabs; tabs++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`not reached by ${mostTabs} tabs: ${await target.textContent()}`);
}

/** What a page comes to have: it draws after a key, a click or an answer. */
export const soon = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 60_000 });

/** Path and parameters of a page. */
export function addressOf(page: Page) {
  const { pathname, searchParams } = new URL(page.url());
  return { pathname, params: Object.fromEntries(searchParams) };
}

/** Exact numbers in an element, in their order, as machines read them. */
export const valuesIn = (page: Page, selector: string): Promise<number[]> =>
  page
    .locator(`${selector} data`)
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute('value'))));
