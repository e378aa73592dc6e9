import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { DeliveryStore } from '../../../src/sink/anomalies/delivery-store.ts';
import { MuteStore } from '../../../src/sink/anomalies/mute-store.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { packed } from '../kit/packed.ts';
import type { Rig } from '../kit/rig.ts';
import { withRig } from '../kit/with-rig.ts';
import { untilDrawn, useBrowser, widths } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();

/** A text in which no line breaks by itself. */
const long = (name: string, chars = 110) => `${name}-${'x'.repeat(chars)}`;
const [model, version, region, type] = ['model', 'version', 'region', 'type'].map(long) as [
  string,
  string,
  string,
  string,
];
const stages = [long('decode', 50), 'prefill', 'queue'] as const;
const id = 'a'.repeat(32);
const minutes = 20;

/** Requests of an LLM, whose slowest take ten seconds and more; one in fifty failed. */
function eventsFrom(startMs: number, of: { readonly version: string; readonly factor: number }) {
  return Array.from({ length: 2_400 }, (_, n) => {
    const decode = (n % 40 === 0 ? 12_976 : 300 + (n % 100) * 5) * of.factor;
    const stages_ms = { [stages[0]]: decode, prefill: 45.12, queue: 12.34 };
    const total_ms = decode + 60;
    return {
      // A request ends in its minute.
      ts: Math.floor(startMs + (n * minutes * minuteMs) / 2_400 - total_ms),
      ...{ model, version: of.version, region, request_type: n % 2 === 0 ? type : 'chat' },
      ...{ host: long(`host-${n % 3}`), status: n % 50 === 0 ? 'timeout' : 'ok' },
      ...{ trace_id: long(`trace-${n}`), id: long(`request-${n}`), input_tokens: 512 },
      ...{ total_ms, stages_ms },
    };
  });
}

async function seed(rig: Rig, startMs: number): Promise<void> {
  const events = [
    ...eventsFrom(startMs, { version, factor: 1 }),
    ...eventsFrom(startMs, { version: 'v2', factor: 1.5 }),
  ].toSorted((x, y) => x.ts + x.total_ms - y.ts - y.total_ms);
  await rig.publish(packed(events));
  const pipeline = await rig.start(['ingest']);
  await rig.untilConsumed(events.length);
  await pipeline.stop();
  const at = new Date(startMs + 10 * minuteMs).toISOString();
  const fixture = anomalyFixture();
  const facet = { facet: 'host', value: long('host-1'), share_of_slow: 0.7, share_of_all: 0.3 };
  await new AnomalyStore(rig.client).add({
    ...fixture,
    ...{ id, model, version, region, request_type: type, stage: stages[0] },
    ...{ started_at: at, detected_at: at, emitted_at: at },
    blame: [{ stage: stages[0], excess_ms: 12_976, share: 1 }],
    evidence: {
      ...fixture.evidence,
      baseline_from: new Date(startMs).toISOString(),
      baseline_to: at,
    },
    drivers: [
      {
        ...facet,
        slow_rate: 0.1,
        slow_rate_of_others: 0.01,
        baseline_slow_rate: 0.01,
        baseline_slow_rate_of_others: 0.01,
      },
    ],
    summary: `p99 of ${model} is 13 s, 3.4x its baseline of 3.8 s`,
    runbook_url: `https://example.com/${long('runbook')}`,
  });
  await new DeliveryStore(rig.client).add([
    {
      ...{
        receiver,
        id,
        revision: 1,
        attempt: 1,
        form: 'full',
        state: 'opened',
        outcome: 'failed',
        severity: 'critical',
      },
      ...{
        answer: `connect to ${long('host')}: ${'refused, '.repeat(20)}`,
        memory: '',
        mayHaveArrived: true,
      },
      atMs: startMs + 11 * minuteMs,
    },
  ]);
  await new MuteStore(rig.client).put({
    ...{ id: 'm1', fromMs: startMs, untilMs: startMs + 9 * minuteMs, kinds: [] },
    ...{ models: [long('nobody')], dimensions: { region: long('eu') }, why: long('test') },
    ...{ who: long('ann'), onBehalfOf: long('drill'), addedMs: startMs },
    ...{ plannedUntilMs: startMs + 9 * minuteMs, endedMs: startMs + 9 * minuteMs },
    endedBy: long('bob'),
  });
}

const receiver = long('receiver', 50);

/** What is wider than the window, or than the panel that it stands in; tables of numbers scroll in their own box. */
const wider = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const window = document.documentElement;
    const found = window.scrollWidth > window.clientWidth
      ? ['the page by ' + (window.scrollWidth - window.clientWidth) + ' px'] : [];
    for (const panel of document.querySelectorAll('[data-panel], header, .filters, .incident-context')) {
      const right = panel.getBoundingClientRect().right;
      for (const one of panel.querySelectorAll('*')) {
        if (one.closest('.sr, .table-scroll, svg') !== null) continue;
        const isClipped = one.parentElement.closest('.clipped, .requests-name, .blame-name, .splits th') !== null;
        if (!isClipped && one.getBoundingClientRect().right > right + 1) {
          found.push((panel.dataset.panel ?? panel.className) + ': ' + one.tagName + '.' + one.className);
        }
      }
    }
    return [...new Set(found)].slice(0, 10);
  })()`);

describe('a page of long texts', () => {
  it('is no wider than the window, and its durations have three digits in the unit of their axis', () =>
    withRig({ stack, name: 'dashboard-long' }, async (rig) => {
      const startMs = Math.floor(Date.now() / minuteMs - minutes - 2) * minuteMs;
      await seed(rig, startMs);
      const { alert } = configSchema.parse({
        alert: { receivers: [{ type: 'webhook', name: receiver, url: 'http://127.0.0.1:1/hook' }] },
      });
      const { url } = await rig.start(['serve'], { ...rig.config, alert });
      const name = encodeURIComponent(model);
      const sides = `a.version=${encodeURIComponent(version)}&b.version=v2`;
      const paths = [
        ...['/?from=-1h', '/?from=-1h&table=models', `/models/${name}?from=-1h`],
        ...[`/models/${name}?from=-1h&by=time`, `/models/${name}?from=-1h&view=density`],
        ...[`/models/${name}?from=-1h&stage=${stages[0]}`, `/models/${long('nobody')}`],
        ...[`/incidents/${id}`, `/incidents/${long('none')}`, '/pipeline', `/${long('page')}`],
        ...['/compare?from=-1h', `/compare?from=-1h&model=${name}&${sides}`],
      ];
      const found: string[] = [];
      for (const width of widths) {
        const viewport = { width, height: 900 };
        const { page } = await browser.open(url, { viewport });
        for (const path of paths) {
          await page.goto(path);
          if (!path.startsWith(`/${long('page')}`)) await untilDrawn(page).catch(() => undefined);
          for (const toggle of await page.locator('.failures, .request-toggle').all()) {
            if (await toggle.isVisible()) await toggle.click();
            if ((await page.locator('.request-detail').count()) > 0) break;
          }
          if (path.startsWith('/models/model') && !path.includes('density')) {
            const legend = page.locator('.chart-composition .chart-legend').first();
            const text = (await legend.textContent()) ?? '';
            expect(text).toMatch(
              /^slowest \S+\s%, s:decode-x+ (13|19\.5)prefill 0\.0451queue 0\.0123/,
            );
            expect(await page.locator('.slice-part').allTextContents()).not.toContainEqual(
              expect.stringMatching(/\d,\d{3}/),
            );
            // As many as the share of failed requests counts, whether they are kept or not.
            const failed = page.locator('[data-panel="requests"] .hint', {
              hasText: 'listed apart',
            });
            expect(await failed.textContent()).toContain('listed apart: 96 time-outs');
          }
          const where = `${path.slice(0, 40)}, ${width} px`;
          found.push(...(await wider(page)).map((text) => `${where}: ${text}`));
          if (process.env.TAILMARK_SCREENSHOTS !== undefined) {
            const file = `${process.env.TAILMARK_SCREENSHOTS}/long-${paths.indexOf(path)}-${width}.png`;
            await page.screenshot({ path: file, fullPage: true });
          }
        }
        await page.context().close();
      }
      expect(found).toEqual([]);
    }));
});
