import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import { useStack } from '../../containers/stack.ts';
import { packed } from '../kit/packed.ts';
import { withRig } from '../kit/with-rig.ts';
import { axeFindings, soon, untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
const plain = (text: string | null) => (text ?? '').replaceAll('\u202f', ' ').trim();

describe('the page of a language model', () => {
  const settings = { WINDOWS_IDLE_PARTITION: '1s' };

  it('has the tails of its milestones and tokens, and other pages have none', () =>
    withRig({ stack, name: 'dashboard-tokens', settings }, async (rig) => {
      const fromMs = Math.floor(Date.now() / minuteMs - 20) * minuteMs;
      const toMs = fromMs + 10 * minuteMs;
      const requests = Array.from({ length: 1_200 }, (_, n) => ({
        ts: fromMs + Math.floor((n * 9.9 * minuteMs) / 1_200),
        ...{ model: 'chat', version: 'v1', total_ms: 900 + (n % 100) },
        ...{ input_tokens: 1_000, output_tokens: 21, id: `r${n}` },
        stages_ms: { decode: 500 + (n % 100), queue: 100, prefill: 300 },
        milestones_ms: { first_token: 400 },
        itl_ms: [20, 20, 700],
      }));
      const other = { ts: toMs, model: 'ranker', total_ms: 5, stages_ms: { queue: 1 } };
      await rig.publish(packed([...requests, other]));
      const { url } = await rig.start(['ingest', 'serve']);
      await rig.untilConsumed(requests.length + 1);

      const { page, complaints } = await browser.open(url);
      const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
      await page.goto(`/models/chat?${range}`);
      await untilDrawn(page);
      const titles = page.locator('.columns-tails h2');
      await soon(() => titles.count()).toBe(4);
      await untilDrawn(page);
      expect((await titles.allTextContents()).map(plain)).toEqual([
        'TTFT: p99 400 ms',
        expect.stringMatching(/^TPOT: p99 29\.\d ms per token$/),
        'ITL: p99 700 ms between tokens',
        expect.stringMatching(/^total: p99 99\d ms$/),
      ]);
      // 1,000 tokens are 512 to 1,023, and 21 are 16 to 31: 120 requests a minute.
      expect(plain(await page.locator('.token-rates li').textContent())).toBe(
        'Tokens a second: ≈ 1,500 in (between 1,000 and 2,000), ≈ 47 out (between 32 and 62). Lengths are stored by powers of two, not summed.',
      );
      const facets = page.locator('[data-panel="facets"] caption');
      expect(await facets.allTextContents()).toEqual(['By input tokens', 'By output tokens']);
      const order = await page
        .locator('[data-panel]')
        .evaluateAll((all) => all.map((one) => one.getAttribute('data-panel')));
      expect(order.indexOf('facets')).toBeLessThan(order.indexOf('by-version'));
      const options = page.locator('form.filters label', { hasText: 'Stage' }).locator('option');
      expect(await options.allTextContents()).toEqual([
        ...['total', 'decode', 'prefill', 'queue', 'TTFT (first_token)'],
        ...['ITL (inter_token_latency)', 'prefill_per_1k_input_tokens'],
        'TPOT (time_per_output_token)',
      ]);
      const tokens = page.locator('[data-panel="requests"] .request-tokens');
      expect(await tokens.first().textContent()).toBe('1,000, 21');
      // Parts stand in the order of the request, so its first token is where prefill ends.
      const parts = page.locator('[data-panel="requests"] .request-bar').first().locator('i');
      const names = await parts.evaluateAll((all) => all.map((one) => one.getAttribute('title')));
      expect(names.map((name) => name?.split(' ')[0])).toEqual(['queue', 'prefill', 'decode']);
      expect(await axeFindings(page)).toEqual([]);

      await titles.first().locator('a').click();
      await soon(async () => plain(await page.locator('#composition-title').textContent())).toBe(
        'TTFT (first_token) takes 400 ms on average: 75 % of it prefill',
      );
      const legend = page.locator('[data-panel="composition"] .chart-legend');
      expect(plain(await legend.textContent())).toContain('prefill 300');
      expect(await legend.textContent()).not.toContain('decode');

      await page.goto(`/models/ranker?from=${new Date(fromMs).toISOString()}&to=now`);
      await untilDrawn(page);
      expect(await page.locator('.columns-tails, .token-rates, .request-tokens').count()).toBe(0);
      expect(complaints).toEqual([]);
    }));
});
