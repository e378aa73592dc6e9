import { describe, expect, it } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { withRig } from '../kit/with-rig.ts';
import { seedDashboard } from './kit/seeded-dashboard.ts';
import { press, untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
const soon = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 20_000 });

describe('now', () => {
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

      await press(page, '/');
      await page.keyboard.type('FEW');
      await soon(names).toEqual(['few']);
      await soon(() => panel.locator('.count').textContent()).toBe('1 of 3 models');
      await page.keyboard.type('nothing');
      await soon(() => panel.locator('.panel-body').textContent()).toContain('No model');
      expect(complaints).toEqual([]);
    }));
});
