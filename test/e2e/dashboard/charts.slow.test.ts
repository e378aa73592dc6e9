import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import type { Rate } from '../../../src/contract/anomaly-event.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import type { AnomalyAnswer } from '../../../src/views/answers/anomalies.ts';
import type { CompareAnswer } from '../../../src/views/answers/compare.ts';
import type { CompositionAnswer } from '../../../src/views/answers/composition.ts';
import type { DensityAnswer } from '../../../src/views/answers/density.ts';
import type { RequestsAnswer } from '../../../src/views/answers/requests.ts';
import type { TailsAnswer } from '../../../src/views/answers/tails.ts';
import { isHollow } from '../../../ui/src/format/number.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { poll } from '../kit/poll.ts';
import { withRig } from '../kit/with-rig.ts';
import { openId, seedDashboard, useDashboard } from './kit/seeded-dashboard.ts';
import { press, tabTo, untilDrawn, useBrowser, valuesIn } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
const dashboard = useDashboard(stack);

/** The newest answers that a page has had, by a part of their address. */
function answersOf(page: Page) {
  const bodies = new Map<string, Promise<unknown>>();
  page.on('response', (response) => {
    if (response.url().includes('/v1/') && response.status() === 200) {
      // A page that is left takes its bodies with it.
      bodies.set(
        response.url(),
        response.json().catch(() => undefined),
      );
    }
  });
  return async <Answer>(...parts: readonly string[]): Promise<Answer> => {
    // A busy server may refuse at first: the page asks again.
    const found = await poll(`an answer to ${parts.join(' ')}`, () =>
      [...bodies].findLast(([url]) => parts.every((part) => url.includes(part))),
    );
    const body = await found[1];
    if (body === undefined) throw new Error(`the page has left the answer to ${parts.join(' ')}`);
    return body as Answer;
  };
}

/** The last 45 minutes, which do not move on while a test reads them. */
function fixedRange(): string {
  const toMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const iso = (ms: number) => new Date(ms).toISOString();
  return `from=${iso(toMs - 45 * minuteMs)}&to=${iso(toMs)}`;
}

const spokenBy = (page: Page, chart: string) =>
  page
    .locator(`${chart} [aria-live]`)
    .textContent()
    .then((text) => text ?? '');

/** Left and width of bars, in percent of what they are drawn on. */
const barsOf = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) =>
    all.map((bar) => {
      const { left, width } = (bar as unknown as { style: Record<string, string> }).style;
      return { left: Number.parseFloat(left ?? ''), width: Number.parseFloat(width ?? '') };
    }),
  );

const numbers = (row: readonly unknown[]) => row.filter((value) => typeof value === 'number');

describe('the view of a model', () => {
  it('draws the numbers of the API, step by step and part by part', async () => {
    const url = dashboard.url();
    const { page, complaints } = await browser.open(url);
    const answer = answersOf(page);
    await page.goto(`/models/ranker?${fixedRange()}`);
    await untilDrawn(page);

    const overall = await answer<TailsAnswer>('tails?', 'by=stage');
    const p99 = overall.rows[0]?.quantiles.find(({ q }) => q === 0.99)?.ms ?? 0;
    expect(await page.locator('h1').textContent()).toMatch(
      new RegExp(`^ranker: p99 ${Math.round(p99)}.*; (around|beyond) it, \\d+ % is queue$`),
    );
    const legend = '.chart-fan .chart-legend';
    expect(await valuesIn(page, legend)).toEqual(overall.rows[0]?.quantiles.map(({ ms }) => ms));

    // Every step of the fan, by keyboard.
    const fan = await answer<TailsAnswer>('tails?', 'by=time');
    const stepMs = (fan.range.step_seconds ?? 0) * 1000;
    const byTime = new Map(fan.rows.map((row) => [Date.parse(row.at ?? ''), row]));
    await page.locator('.chart-fan [role="application"]').focus();
    await press(page, 'ArrowRight');
    await press(page, 'Home');
    let hasGap = false;
    for (let at = Date.parse(fan.range.from); at < Date.parse(fan.range.to); at += stepMs) {
      const row = byTime.get(at);
      const known = row?.quantiles.map(({ ms }) => ms).filter((ms) => ms !== null) ?? [];
      expect(await valuesIn(page, legend)).toEqual(known);
      hasGap ||= known.length === 0;
      const spoken = await spokenBy(page, '.chart-fan');
      if (known.length === 0) expect(spoken).toMatch(/no requests|not stored yet/);
      else expect(spoken).toMatch(/p50 .*\sms.*(requests|needs)/);
      await press(page, 'ArrowRight');
    }
    expect(hasGap).toBe(true);

    // Each slice and each part of it.
    const { rows } = await answer<CompositionAnswer>('composition?');
    const mostMs = Math.max(
      ...rows.flatMap(({ mean_ms, baseline }) => [mean_ms ?? 0, baseline?.mean_ms ?? 0]),
    );
    expect(await valuesIn(page, '.slices')).toEqual(
      rows.flatMap(({ mean_ms, requests }) => [mean_ms, requests]),
    );
    const parts = await barsOf(page, '.slice-part');
    const drawn = rows.flatMap((row) => row.parts.filter(({ mean_ms }) => mean_ms > 0));
    const lengths = parts.map(({ width }) => (width / 100) * mostMs).sort((x, y) => x - y);
    const means = drawn.map(({ mean_ms }) => mean_ms).sort((x, y) => x - y);
    expect(lengths.length).toBe(means.length);
    for (const [i, mean] of means.entries()) expect(lengths[i]).toBeCloseTo(mean, 2);

    // Splits and the slowest requests.
    for (const by of ['version', 'region', 'request_type', 'start']) {
      const split = await answer<TailsAnswer>('tails?', `by=${by}`);
      const bySize = split.rows.toSorted((x, y) => y.requests - x.requests);
      expect(await valuesIn(page, `[data-panel="by-${by.replace('_', '-')}"]`)).toEqual(
        bySize.flatMap((row) => [row.quantiles.at(-1)?.ms, row.requests]),
      );
    }
    const slowest = await answer<RequestsAnswer>('requests?');
    const totals = await valuesIn(page, '.requests > tbody > tr > .number');
    expect(totals).toEqual(slowest.rows.slice(0, totals.length).map(({ total_ms }) => total_ms));
    expect(totals.length).toBeGreaterThan(4);

    // A stage has one colour on the page: in the composition's legend, in each request, and in its stages.
    await page.locator('.request-toggle').first().click();
    const fillsOf = (selector: string) =>
      page
        .locator(selector)
        .evaluateAll((all) => all.map((one) => /stage-(\d|focus|rest)/.exec(one.className)?.[0]));
    const legendOf = async (panel: string) => {
      const keys = `[data-panel="${panel}"] .chart-key-static:has(.chart-swatch[class*="stage-"])`;
      const names = await page.locator(keys).allTextContents();
      const fills = await fillsOf(`${keys} .chart-swatch`);
      return new Map(names.map((name, i) => [name.split(' ')[0], fills[i]]));
    };
    const [ofAll, ofRequests] = [await legendOf('composition'), await legendOf('requests')];
    expect(ofRequests.size).toBeGreaterThan(1);
    for (const [stage, fill] of ofRequests)
      expect([stage, ofAll.get(stage)]).toEqual([stage, fill]);
    const drawnStages = slowest.rows.slice(0, totals.length).flatMap(({ stages }) => stages);
    expect(await fillsOf('.request-bar i')).toEqual(
      drawnStages.map(({ stage }) => ofAll.get(stage)),
    );
    for (const fill of await fillsOf('.stage-bar')) expect([...ofAll.values()]).toContain(fill);
    expect(complaints).toEqual([]);
  });

  it('gives the same numbers as tables, and the density as counts', async () => {
    const url = dashboard.url();
    const { page, complaints } = await browser.open(url);
    const answer = answersOf(page);
    await page.goto(`/models/ranker?${fixedRange()}&table=tail,composition`);
    await untilDrawn(page);
    const fan = await answer<TailsAnswer>('tails?', 'by=time');
    expect(await valuesIn(page, '[data-panel="tail"] table')).toEqual(
      fan.rows.flatMap(({ requests, failed, quantiles, baseline: b }) =>
        numbers([
          ...[requests, failed, ...quantiles.map(({ ms }) => ms)],
          ...[b?.low_ms, b?.median_ms, b?.high_ms],
        ]),
      ),
    );

    await page.goto(`/models/ranker?${fixedRange()}&view=density`);
    await untilDrawn(page);
    const { rows, range } = await answer<DensityAnswer>('density?');
    const busy = rows.findLast(({ requests }) => requests > 0);
    const first = Math.min(...rows.flatMap(({ bands }) => bands.map(({ band }) => band)));
    await page.locator('.chart-density [role="application"]').focus();
    await press(page, 'ArrowLeft');
    const most = Math.max(...(busy?.bands.map(({ requests }) => requests) ?? []));
    expect(await spokenBy(page, '.chart-density')).toContain(
      `${most} of ${busy?.requests} requests`,
    );
    expect(Date.parse(range.from)).toBeLessThan(Date.parse(busy?.at ?? ''));
    // Down to the lowest band, whose requests may be of other steps.
    for (let i = 0; i < 60; i++) await press(page, 'ArrowDown');
    const lowest = busy?.bands.find(({ band }) => band === first)?.requests;
    expect(await spokenBy(page, '.chart-density')).toMatch(
      lowest === undefined ? /none of/ : new RegExp(`: ${lowest} of`),
    );
    expect(complaints).toEqual([]);
  });

  it('leads from a selected time to a comparison, by keyboard alone, and does not refresh under it', async () => {
    const url = dashboard.url();
    const { page } = await browser.open(url);
    await page.goto('/models/ranker?from=-1h');
    await untilDrawn(page);
    await page.locator('.chart-fan [role="application"]').focus();
    for (const key of ['ArrowLeft', 'ArrowLeft', 'Shift+PageUp']) await press(page, key);
    await page.getByText('selected').waitFor();
    await page.getByText('held').waitFor();
    const link = page.getByRole('link', { name: 'Compare with before' });
    await tabTo(page, link);
    await press(page, 'Enter');
    const { pathname, searchParams } = new URL(page.url());
    expect(pathname).toBe('/compare');
    const [a, b] = [
      ['a.from', 'a.to'],
      ['b.from', 'b.to'],
    ].map(([from = '', to = '']) => ({
      from: Date.parse(searchParams.get(from) ?? ''),
      to: Date.parse(searchParams.get(to) ?? ''),
    }));
    expect(a?.to).toBe(b?.from);
    expect((a?.to ?? 0) - (a?.from ?? 0)).toBe((b?.to ?? 0) - (b?.from ?? 0));
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe('/models/ranker');
  });

  it('zooms into the steps that a pointer is drawn over, and reads on', () =>
    withRig({ stack, name: 'dashboard-zoom' }, async (rig) => {
      await seedDashboard(rig);
      const { url } = await rig.start(['ingest', 'serve']);
      const { page, complaints } = await browser.open(url);
      const answer = answersOf(page);
      await page.goto(`/models/ranker?${fixedRange()}`);
      await untilDrawn(page);
      const plot = page.locator('.chart-fan .chart-plot');
      await plot.scrollIntoViewIfNeeded();
      const box = await plot.boundingBox();
      const at = (part: number) => (box?.x ?? 0) + part * (box?.width ?? 0);
      await page.mouse.move(at(0.6), (box?.y ?? 0) + 90);
      await page.mouse.down();
      await page.mouse.move(at(0.75), (box?.y ?? 0) + 60, { steps: 4 });
      await page.mouse.up();
      await page.getByText('held').waitFor();
      expect(await page.locator('.chart-brush').count()).toBe(1);
      await page.getByRole('link', { name: 'Zoom in' }).click();
      await page.getByText('held').waitFor({ state: 'detached' });
      await untilDrawn(page);
      const { searchParams } = new URL(page.url());
      const [from = '', to = ''] = ['from', 'to'].map((key) => searchParams.get(key) ?? '');
      const { range, rows } = await answer<TailsAnswer>(
        'tails?',
        'by=time',
        `from=${encodeURIComponent(from)}`,
      );
      expect([range.from, range.to].map(Date.parse)).toEqual([from, to].map(Date.parse));
      expect(rows.some(({ requests }) => requests > 0)).toBe(true);
      expect(await page.locator('.chart-brush').count()).toBe(0);
      expect(complaints).toEqual([]);
    }));
});

describe('the view of an incident', () => {
  it('draws blame that adds up, the distribution before and during, and the timeline', async () => {
    const url = dashboard.url();
    const { page, complaints } = await browser.open(url);
    const answer = answersOf(page);
    await page.goto(`/incidents/${openId}`);
    await untilDrawn(page);
    const { event, headline, distribution } = await answer<AnomalyAnswer>(`anomalies/${openId}`);
    const title = (await page.locator('h1').textContent()) ?? '';
    expect(title.slice(0, headline.length)).toBe(headline);
    expect(title.slice(headline.length)).toMatch(/^; since \d\d:\d\d:\d\d, as of \d\d:\d\d:\d\d$/);

    const sum = event.blame.reduce((all, { excess_ms }) => all + excess_ms, 0);
    const drawn = await valuesIn(page, '.blame');
    const expected = event.blame.flatMap(({ excess_ms, share }) => [excess_ms, share]);
    expect(drawn).toEqual([...expected, expect.closeTo(sum, 9), 1]);
    const bars = await barsOf(page, '.blame-bar');
    const scale = (bars[0]?.width ?? 0) / Math.abs(event.blame[0]?.excess_ms ?? 1);
    for (const [i, { excess_ms }] of event.blame.entries()) {
      expect(bars[i]?.width).toBeCloseTo(Math.abs(excess_ms) * scale, 3);
    }

    expect(await page.locator('[data-panel="distribution"] p.hint').textContent()).toMatch(
      /^Requests of the affected series: before, 1 Nov \d\d:00 to 1 Nov \d\d:58 \(baseline\); during, \d\d:\d\d:\d\d to now\.$/,
    );

    const chart = '.chart-distribution';
    await page.locator(`${chart} [role="application"]`).focus();
    const held = distribution.filter(({ before, during }) => before + during > 0);
    for (const [key, band] of [['Home', held[0]] as const, ['End', held.at(-1)] as const]) {
      await press(page, 'ArrowRight');
      await press(page, key);
      const spoken = (await spokenBy(page, chart)).replaceAll(',', '');
      expect(spoken).toContain(`(${band?.before})`);
      expect(spoken).toContain(`(${band?.during})`);
    }

    // The baseline of the fixture is a day without traffic.
    expect(distribution.some(({ before }) => before > 0)).toBe(false);
    const panel = page.locator('[data-panel="distribution"]');
    expect(await panel.getAttribute('data-state')).toBe('partial');
    expect(await panel.textContent()).toMatch(/before no requests/);
    expect(await panel.locator('.partial-note').textContent()).toMatch(
      /^No request of the baseline is stored: 1 Nov.* to 1 Nov.*\.$/,
    );

    const timeline = await answer<TailsAnswer>('tails?', 'by=time');
    expect(timeline.rows.some(({ requests }) => requests > 0)).toBe(true);
    expect(await page.locator('.chart-incident').count()).toBe(1);
    await page.getByRole('link', { name: 'What ranker is made of' }).click();
    expect(new URL(page.url()).pathname).toBe('/models/ranker');
    expect(complaints).toEqual([]);
  });

  it('shows failures as a share of the requests, and an incident of tailmark without a series', () =>
    withRig({ stack, name: 'dashboard-failures' }, async (rig) => {
      await seedDashboard(rig);
      const [failing, ofItself] = ['c'.repeat(32), 'd'.repeat(32)];
      const at = new Date(Date.now() - 12 * minuteMs).toISOString();
      const times = { started_at: at, detected_at: at, emitted_at: at, version: 'v2' };
      const observed = { observed: 0.02, baseline: 0.001, ratio: 20 };
      const rate: Rate = { unit: 'failures per request', ...observed, interval: [0.01, 0.03] };
      const all = { region: '', request_type: '', ...times };
      const anomalies = new AnomalyStore(rig.client);
      await anomalies.add(anomalyFixture({ id: failing, kind: 'error_rate', rate, ...all }));
      await anomalies.add(
        anomalyFixture({ id: ofItself, kind: 'pipeline', ...all, model: '', version: '' }),
      );
      const { url } = await rig.start(['ingest', 'serve']);
      const { page, complaints } = await browser.open(url);
      const answer = answersOf(page);
      await page.goto(`/incidents/${failing}`);
      await untilDrawn(page);
      const { rows } = await answer<TailsAnswer>('tails?', 'by=time');
      const row = rows.findLast(({ requests }) => requests > 0);
      const chart = '[data-panel="timeline"] .chart-rate';
      await page.locator(`${chart} [role="application"]`).focus();
      await press(page, 'ArrowRight');
      expect(await spokenBy(page, chart)).toContain(
        ` failed, ${row?.failed} of ${row?.requests} requests`,
      );
      expect(await page.locator('.rate-baseline').count()).toBe(1);
      expect(await page.locator('[data-panel="requests"]').count()).toBe(0);
      expect(await valuesIn(page, '[data-panel="series"]')).toEqual([0.02, 0.001, 20]);

      await page.goto(`/incidents/${ofItself}`);
      await untilDrawn(page);
      expect(await page.locator('[data-panel="series"]').textContent()).toContain(
        'of tailmark itself',
      );
      expect(await valuesIn(page, '[data-panel="series"]')).toEqual([]);
      expect(complaints).toEqual([]);
    }));
});

describe('the view of a comparison', () => {
  it('draws the ratios of the API on its axes, and a difference by stage that adds up', async () => {
    const url = dashboard.url();
    const { page, complaints } = await browser.open(url);
    const answer = answersOf(page);
    await page.goto(`/compare?${fixedRange()}&model=ranker&a.version=v1&b.version=v2`);
    await untilDrawn(page);
    const compared = await answer<CompareAnswer>('compare?');
    expect(await page.locator('h1').textContent()).toBe(`ranker: ${compared.title}`);
    const { quantiles, stages } = compared;

    // A point is as far on as its quantile has nines, and as high as the logarithm of its ratio.
    const known = quantiles.filter(({ ratio }) => ratio !== null);
    const places = await page
      .locator('.shift-point')
      .evaluateAll((all) =>
        all.map((one) => ['cx', 'cy'].map((key) => Number(one.getAttribute(key)))),
      );
    expect(places.length).toBe(known.length);
    const fewest = Math.min(compared.a.requests, compared.b.requests);
    const hollow = known.filter(({ q }) => isHollow(q, fewest));
    expect(await page.locator('.shift-point[data-thin="true"]').count()).toBe(hollow.length);
    expect(hollow.length).toBeGreaterThan(0);
    const [first, last] = [0, known.length - 1];
    for (const [i, { q, ratio }] of known.entries()) {
      const nines = (at: number) => -Math.log10(1 - (known[at]?.q ?? 0));
      const part = (-Math.log10(1 - q) - nines(first)) / (nines(last) - nines(first));
      const [x0, x1] = [places[first]?.[0] ?? 0, places[last]?.[0] ?? 0];
      expect(places[i]?.[0]).toBeCloseTo(x0 + part * (x1 - x0), 3);
      const higher = known.filter((other) => (other.ratio ?? 0) > (ratio ?? 0));
      for (const other of higher) {
        expect(places[known.indexOf(other)]?.[1]).toBeLessThan(places[i]?.[1] ?? 0);
      }
    }
    await page.locator('.chart-shift [role="application"]').focus();
    await press(page, 'ArrowRight');
    for (const { q, ratio } of known) {
      const percent = Math.round(((ratio ?? 0) - 1) * 100);
      expect((await spokenBy(page, '.chart-shift')).replace('−', '-')).toMatch(
        new RegExp(`^p${Number((q * 100).toFixed(4))}: \\+?${percent}\\s%`),
      );
      await press(page, 'ArrowRight');
    }

    const shown = stages.filter(({ excess_ms }) => excess_ms !== null);
    const sum = shown.reduce((all, { excess_ms }) => all + (excess_ms ?? 0), 0);
    const drawn = await valuesIn(page, '.blame');
    expect(drawn.at(-2)).toBeCloseTo(sum, 6);
    expect(drawn.slice(0, -2)).toEqual(
      shown.flatMap(({ excess_ms, share_of_excess }) => numbers([excess_ms, share_of_excess])),
    );
    await page.getByRole('link', { name: 'Swap' }).click();
    expect(new URL(page.url()).search).toContain('a.version=v2&b.version=v1');
    expect(complaints).toEqual([]);
  });
});
