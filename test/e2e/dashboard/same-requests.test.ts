import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/base/time.ts';
import type { Explanation } from '../../../src/cli/text/render-explanation.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { withRig } from '../kit/with-rig.ts';
import { store, trafficOf } from '../views/view-traffic.ts';
import { untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();

const ms = { observed_ms: 412, baseline_ms: 121, ratio: 412 / 121 };

/** An incident of two versions in one region, whose worst series blames another stage than the one that opened it. */
function incidentAt(fromMs: number, toMs: number | undefined): AnomalyEvent {
  const started_at = new Date(fromMs).toISOString();
  const resolved_at = toMs === undefined ? null : new Date(toMs).toISOString();
  const base = anomalyFixture({ started_at, detected_at: started_at, emitted_at: started_at });
  const { service, host, tenant, cold_start, evidence, interval_ms, bottleneck, sql } = base;
  const seriesOf = (version: string, stage: string) => ({
    ...{ id: version.padEnd(32, '0'), service, host, tenant, cold_start, ...ms },
    ...{ model: 'ranker', version, request_type: 'search', region: 'eu-west-1', stage },
    ...{ severity: 'critical' as const, started_at, resolved_at },
  });
  return anomalyFixture({
    ...{ started_at, detected_at: started_at, emitted_at: started_at, version: 'v1' },
    ...(resolved_at !== null && {
      ...({ state: 'resolved', resolution: 'recovered' } as const),
      ...{ ended_at: resolved_at, resolved_at },
    }),
    ...{ stage: 'queue', blame: [{ stage: 'queue', excess_ms: 40, share: 1 }] },
    scope: {
      ...{ affected: 2, unresolved: resolved_at === null ? 2 : 0, total: 8 },
      common: [{ dimension: 'region', value: 'eu-west-1' }],
      values: [],
    },
    members: [seriesOf('v2', 'forward'), seriesOf('v1', 'queue')],
    worst: {
      ...{ interval_ms, evidence, bottleneck, sql, requests: 100 },
      blame: [{ stage: 'forward', excess_ms: 90, share: 1 }],
    },
  });
}

describe('the slowest requests of an incident', () => {
  it.each([
    ['open', undefined],
    ['over', 14],
  ])(
    'that is %s are the same ones in its page and in explain, in the same order',
    (name, minutes) =>
      withRig({ stack, name: `same-requests-${name}` }, async (rig) => {
        const fromMs = Math.floor((Date.now() - 25 * minuteMs) / minuteMs) * minuteMs;
        const of = (version: string) =>
          trafficOf({
            name: version,
            model: 'ranker',
            version,
            fromMs,
            requests: 3_000,
            minutes: 20,
          });
        await store(rig, [...of('v1'), ...of('v2')]);
        const at = (after: number) => fromMs + after * minuteMs + 10_000;
        const event = incidentAt(at(5), minutes === undefined ? undefined : at(minutes));
        await new AnomalyStore(rig.client).add(event);

        const { url } = await rig.start(['ingest', 'serve']);
        const { page } = await browser.open(url);
        await page.goto(`/incidents/${event.id}`);
        await untilDrawn(page);
        const panel = page.locator('[data-panel="requests"]');
        await panel.getByRole('heading', { name: 'took longest in forward' }).waitFor();
        const rows = panel.locator('table.requests').first().locator('.request-toggle');
        const onPage = await rows.evaluateAll((all) =>
          all.map((each) => each.closest('tr')?.textContent ?? ''),
        );
        const { out } = await rig.cli(['explain', event.id, '--json']);
        const { slowest } = JSON.parse(out) as Explanation;
        expect(slowest).toHaveLength(5);
        const traces = slowest.map(({ trace_id }) => trace_id);
        const shown = onPage.slice(0, 5).map((text) => /trace\/\d+\?/.exec(text)?.[0] ?? text);
        expect(shown).toEqual(traces);
        const forward = slowest.map(({ stages_ms }) => stages_ms.forward ?? 0);
        expect(forward).toEqual(forward.toSorted((x, y) => y - x));

        // What "+" is beside stands below the rows.
        const [, medianMs = ''] =
          /“\+” and “−” are beside ([\d.,]+)\sms, the time in forward of a median request/.exec(
            (await panel.locator('p.hint').allTextContents()).join(' '),
          ) ?? [];
        const signed = panel.locator('tbody tr .hint', { hasText: /^\s*[+−]/ }).first();
        const more = (await signed.textContent()) ?? '';
        const numberIn = (text: string) =>
          Number(text.replaceAll(/[^\d.−]/g, '').replace('−', '-'));
        expect(numberIn(more)).toBeCloseTo((forward[0] ?? 0) - numberIn(medianMs), -1);
      }),
  );
});
