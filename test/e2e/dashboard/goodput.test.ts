import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import { useStack } from '../../containers/stack.ts';
import { packed } from '../kit/packed.ts';
import { withRig } from '../kit/with-rig.ts';
import { soon, untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();

describe('goodput', () => {
  const slos = [
    {
      ...{ name: 'chat', model: 'chat', objective: 0.99 },
      all: { first_token: '500ms', total: '10s' },
    },
  ];
  const settings = { DETECT_SLOS: JSON.stringify(slos), WINDOWS_IDLE_PARTITION: '1s' };

  it('stands on the page of its model and in comparisons, and nowhere else', () =>
    withRig({ stack, name: 'dashboard-goodput', settings }, async (rig) => {
      const fromMs = Math.floor(Date.now() / minuteMs - 20) * minuteMs;
      const toMs = fromMs + 10 * minuteMs;
      // One in ten of v1 waits too long for its first token, three in ten of v2.
      const requests = Array.from({ length: 2_000 }, (_, n) => ({
        ts: fromMs + Math.floor((n * 9.9 * minuteMs) / 2_000),
        ...{ model: 'chat', version: n % 2 === 0 ? 'v1' : 'v2', total_ms: 900 },
        stages_ms: { queue: 10 },
        milestones_ms: { first_token: (n >> 1) % 10 < (n % 2 === 0 ? 1 : 3) ? 700 : 300 },
      }));
      const other = { ts: toMs + minuteMs, model: 'ranker', total_ms: 5 };
      await rig.publish(packed([...requests, other]));
      const { url } = await rig.start(['ingest', 'serve']);
      await rig.untilConsumed(requests.length + 1);

      const { page, complaints } = await browser.open(url);
      const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
      await page.goto(`/models/chat?${range}`);
      await untilDrawn(page);
      await soon(async () => (await page.locator('.goodput').textContent())?.trim()).toBe(
        'Goodput 80 %: of 2,000 requests 400 missed one of first_token 500 ms, total 10 s, or failed (objective 99 %)',
      );
      // Neither a stage nor an option has the row that counts them.
      expect(await page.content()).not.toContain('objective: ');
      await page.goto(`/models/chat?${range}&version=v2`);
      await soon(() => page.locator('.goodput').textContent()).toContain('Goodput 70 %: of 1,000');

      await page.goto(`/compare?${range}&model=chat&a.version=v1&b.version=v2`);
      await untilDrawn(page);
      await soon(() => page.locator('.reason').textContent()).toContain(
        'Goodput of A 90 % of 1,000 requests, of B 70 % of 1,000 requests: first_token 500 ms, total 10 s.',
      );
      expect(await page.content()).not.toContain('objective: ');

      await page.goto(`/models/ranker?from=${new Date(fromMs).toISOString()}&to=now`);
      await untilDrawn(page);
      expect(await page.locator('.goodput').count()).toBe(0);
      expect(complaints).toEqual([]);
    }));
});
