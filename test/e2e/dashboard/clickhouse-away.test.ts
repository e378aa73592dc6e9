import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import {
  type ClickHouseServer,
  startClickHouse,
} from '../../../src/local/clickhouse/clickhouse-server.ts';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import { openId, seedDashboard } from './kit/seeded-dashboard.ts';
import { soon, untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();

// A server of this file, to be stopped and started on its data and port.
let dir: string;
let clickhouse: ClickHouseServer | undefined;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tailmark-away-'));
  clickhouse = await runClickHouse();
});
afterAll(async () => {
  await clickhouse?.stop();
  rmSync(dir, { recursive: true, force: true });
});

function runClickHouse(httpPort?: number): Promise<ClickHouseServer> {
  const onProgress = () => undefined;
  return startClickHouse({ dataDir: dir, httpPort, database: 'tailmark', onProgress });
}

/** State and exact numbers of every panel of a page. */
const panelsOf = (page: Page) =>
  page.locator('[data-panel]').evaluateAll((all) =>
    all.map((panel) => ({
      name: panel.getAttribute('data-panel'),
      state: panel.getAttribute('data-state'),
      values: [...panel.querySelectorAll('data')].map((one) => one.getAttribute('value')),
    })),
  );

describe('a ClickHouse that is stopped and started under open pages', () => {
  it('leaves what they had, and they recover without a reload', () => {
    const own = { ...stack, clickhouseUrl: clickhouse?.url ?? '' };
    return withRig({ stack: own, name: 'dashboard-clickhouse' }, async (rig) => {
      await seedDashboard(rig);
      const { url } = await rig.start(['ingest', 'serve']);
      const toMs = Math.floor(Date.now() / minuteMs - 5) * minuteMs;
      const range = `from=${new Date(toMs - 30 * minuteMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
      const paths = [
        `/?${range}`,
        `/models/ranker?${range}`,
        `/incidents/${openId}`,
        `/compare?${range}&model=ranker&a.version=v1&b.version=v2`,
        '/pipeline',
      ];
      const opened = [];
      for (const path of paths) {
        const { page, complaints } = await browser.open(url);
        await page.goto(path);
        await page.evaluate('window.isTheSame = true');
        await untilDrawn(page);
        opened.push({ path, page, complaints, before: await panelsOf(page) });
      }
      const port = Number(new URL(own.clickhouseUrl).port);
      await clickhouse?.stop();
      for (const { page, before } of opened) {
        await page.locator('[data-state="error"]').first().waitFor({ timeout: 60_000 });
        await page.getByText('Shown as of').first().waitFor();
        expect((await panelsOf(page)).map(({ values }) => values.length)).toEqual(
          before.map(({ values }) => values.length),
        );
      }
      clickhouse = await runClickHouse(port);
      for (const { page, complaints, before, path } of opened) {
        await soon(async () => (await panelsOf(page)).map(({ state }) => state)).toEqual(
          before.map(({ state }) => state),
        );
        await soon(() => page.getByText('Shown as of').count()).toBe(0);
        expect(await page.evaluate('window.isTheSame')).toBe(true);
        // The browser itself says that requests had no answer.
        expect(complaints.filter((text) => !/\b503\b/.test(text))).toEqual([]);
        if (path !== '/pipeline') expect(await panelsOf(page)).toEqual(before);
        const failures = complaints.length;
        await page.reload();
        await untilDrawn(page);
        expect(complaints.slice(failures)).toEqual([]);
      }
    });
  });
});

describe('a ClickHouse that takes connections and answers nothing', () => {
  it('is what each page says, not that tailmark does not answer', () => {
    const own = { ...stack, clickhouseUrl: clickhouse?.url ?? '' };
    return withRig({ stack: own, name: 'dashboard-hang' }, async (rig) => {
      await seedDashboard(rig);
      const { url } = await rig.start(['ingest', 'serve']);
      const { pid = 0 } = clickhouse ?? {};
      process.kill(pid, 'SIGSTOP');
      try {
        for (const path of ['/', '/models/ranker', `/incidents/${openId}`]) {
          const { page } = await browser.open(url);
          await page.goto(path);
          const failed = page.locator('[data-state="error"]');
          await failed.first().waitFor({ timeout: 30_000 });
          const texts = await failed.allTextContents();
          expect(
            texts.filter((text) => !/ClickHouse has not answered within 8 s\./.test(text)),
          ).toEqual([]);
        }
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    });
  });
});
