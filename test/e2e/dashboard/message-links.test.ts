import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { resolvedSample, sampleEvent } from '../../../src/alert/routing/sample-event.ts';
import { minuteMs } from '../../../src/base/time.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { firstMemberIdOf } from '../../../src/contract/anomaly-identity.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { useStack } from '../../containers/stack.ts';
import { anomalyFixture } from '../../contract/anomaly-fixture.ts';
import { linksByReceiver, noticeOf, receivers } from './kit/message-links.ts';
import { openId, seedDashboard, useDashboard } from './kit/seeded-dashboard.ts';
import { soon, untilDrawn, useBrowser, type WatchedPage } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();

const incidentId = 'c'.repeat(32);
const otherId = 'd'.repeat(32);

/** An incident of two series, of which the second is the worst, and its rows. */
function incidentEvents(): readonly [AnomalyEvent, ...AnomalyEvent[]] {
  const at = new Date(Date.now() - 8 * minuteMs).toISOString();
  const times = { started_at: at, detected_at: at, emitted_at: at };
  const lead = anomalyFixture({ id: incidentId, ...times, version: 'v1' });
  const worst = anomalyFixture({
    ...{ id: otherId, ...times, version: 'v2', ratio: 4.4, observed_ms: 532 },
    blame: [{ stage: 'queue', excess_ms: 400, share: 1 }],
    ...{ stage: 'queue', bottleneck: 'queue' },
  });
  const listed = (event: AnomalyEvent, id: string) => {
    const { service, model, version, request_type, region, host, tenant, cold_start } = event;
    const { stage, severity, observed_ms, baseline_ms, ratio, started_at, resolved_at } = event;
    const series = { service, model, version, request_type, region, host, tenant, cold_start };
    const own = { stage, severity, observed_ms, baseline_ms, ratio, started_at, resolved_at };
    return { id, ...series, ...own };
  };
  const { interval_ms, requests, evidence, blame, bottleneck, sql } = worst;
  const incident: AnomalyEvent = {
    ...lead,
    summary:
      '2 of 4 ranker series affected. Most affected: p99 of ranker is 532 ms, 4.4x its baseline',
    scope: { affected: 2, unresolved: 2, total: 4, common: [], values: [] },
    members: [listed(worst, otherId), listed(lead, firstMemberIdOf(incidentId))],
    worst: { interval_ms, requests, evidence, blame, bottleneck, sql },
  };
  return [
    incident,
    { ...lead, id: firstMemberIdOf(incidentId), incident_id: incidentId },
    { ...worst, incident_id: incidentId },
  ];
}

/** The heading of an opened address, when the page has its answer. */
async function headingAt(page: Page, url: string): Promise<string> {
  await page.goto(url);
  await untilDrawn(page);
  return (await page.locator('h1').textContent()) ?? '';
}

const dashboard = useDashboard(stack, async (rig) => {
  await seedDashboard(rig);
  const anomalies = new AnomalyStore(rig.client);
  for (const event of incidentEvents()) await anomalies.add(event);
});

async function served(): Promise<{ readonly url: string; readonly opened: WatchedPage }> {
  const url = dashboard.url();
  return { url, opened: await browser.open(url) };
}

describe('the link of a message', () => {
  it('opens the incident, from what each receiver is sent', async () => {
    const { url, opened } = await served();
    const { page, complaints } = opened;
    const [event] = incidentEvents();
    const over = { ...event, revision: 2, state: 'resolved', resolution: 'recovered' } as const;
    const at = new Date().toISOString();
    const end: AnomalyEvent = { ...over, emitted_at: at, resolved_at: at };
    const links = linksByReceiver(url, noticeOf(event));
    expect([...links.keys()]).toEqual([...receivers.map(({ name }) => name), 'mail as HTML']);
    const incidentUrl = `${url}/incidents/${incidentId}`;
    for (const [name, found] of links) {
      // Alertmanager's body for webhooks also has the address of the whole dashboard.
      expect([name, found]).toEqual([
        name,
        name === 'webhook' ? [`${url}/`, incidentUrl] : [incidentUrl],
      ]);
      for (const each of found.filter((link) => link === incidentUrl)) {
        expect(await headingAt(page, each)).toMatch(
          /^ranker, most affected: p99 532 ms, 4\.4x its baseline, blame queue; 2 of 4 series; since /,
        );
        expect(await page.locator('[data-state="error"]').count()).toBe(0);
      }
    }
    // PagerDuty closes by its key alone; all others link at the end too.
    for (const [name, found] of linksByReceiver(url, noticeOf(end))) {
      const expected = name === 'pagerduty' ? [] : [incidentUrl];
      expect([name, found.filter((link) => link !== `${url}/`)]).toEqual([name, expected]);
    }
    expect(complaints).toEqual([]);
  });

  it('of a test, which is stored nowhere, opens the dashboard', async () => {
    const { url, opened } = await served();
    const sample = sampleEvent('key', Date.now(), null);
    for (const event of [sample, resolvedSample(sample, Date.now())]) {
      const links = linksByReceiver(url, noticeOf(event, { isTest: true }));
      const all = new Set([...links.values()].flat());
      expect([...all]).toEqual([`${url}/`]);
    }
    expect(await headingAt(opened.page, `${url}/`)).not.toMatch(/There is no/);
    expect(opened.complaints).toEqual([]);
  });
});

describe('the page of an anomaly', () => {
  it('opens for each id that an event, the API or a command names', async () => {
    const { url, opened } = await served();
    const { page } = opened;
    const listed = await dashboard.rig().cli(['anomalies', '--json']);
    const { anomalies } = JSON.parse(listed.out) as { anomalies: readonly AnomalyEvent[] };
    const answer = await fetch(`${url}/v1/anomalies?from=-1h`);
    const { rows } = (await answer.json()) as { rows: readonly { id: string }[] };
    const ids = new Set([
      ...anomalies.flatMap(({ id, members = [] }) => [id, ...members.map((each) => each.id)]),
      ...rows.map(({ id }) => id),
      ...incidentEvents().map(({ id }) => id),
    ]);
    expect(ids).toContain(openId);
    expect(ids).toContain(otherId);
    expect(ids).toContain(firstMemberIdOf(incidentId));
    for (const id of ids) {
      expect(await headingAt(page, `${url}/incidents/${id}`)).toMatch(/ since /);
      const explained = await dashboard.rig().cli(['explain', id]);
      expect(explained.out).toContain(id);
    }
  });

  it('opens at the address that messages of earlier versions have', async () => {
    const { url, opened } = await served();
    const { page } = opened;
    expect(await headingAt(page, `${url}/anomalies/${incidentId}?from=-1h`)).toMatch(
      /^ranker, most affected: p99/,
    );
    await soon(() => new URL(page.url()).pathname).toBe(`/incidents/${incidentId}`);
    expect(new URL(page.url()).searchParams.get('from')).toBe('-1h');
  });

  it('says so where no anomaly has the id', async () => {
    const { url, opened } = await served();
    const none = 'e'.repeat(32);
    await opened.page.goto(`${url}/incidents/${none}`);
    await opened.page.getByText(`There is no incident ${none}`).waitFor();
  });
});
