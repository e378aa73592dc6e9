import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { useStack } from '../../containers/stack.ts';
import type { Rig } from '../kit/rig.ts';
import { withRig } from '../kit/with-rig.ts';
import { fault, openIncident, plots, publishFault } from './kit/detected-incident.ts';
import { bodiesByReceiver, linksByReceiver, noticeOf } from './kit/message-links.ts';
import { disagreements, type Statement } from './kit/statements.ts';
import { addressOf, soon, untilDrawn, useBrowser, widths } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();

/** Whose message the journey starts with. */
const paged = ['slack', 'pagerduty', 'mail as HTML', 'alertmanager'] as const;

const textOf = async (page: Page, selector: string) =>
  (await page.locator(selector).first().textContent()) ?? '';

/** Numbers of the tail in a sentence: "p99 512 ms, 2.1x its baseline of 244 ms", each where it is given. */
function tailOf(where: string, text: string): Statement[] {
  const [, observed = '', ratio = '', baseline] =
    /(\d[\d.]*\s(?:ms|s)), ([\d.]+x) its baseline(?: of (\S+\s(?:ms|s)))?/.exec(text) ?? [];
  return [
    { thing: 'p99', where, text: observed },
    { thing: 'ratio', where, text: ratio },
    ...(baseline === undefined ? [] : [{ thing: 'baseline', where, text: baseline }]),
  ];
}

/** The blamed stage and its part: "features +254 ms (86 %)", "features +254 ms, 86 % of". */
function blameOf(where: string, text: string): Statement[] {
  const [, excess = '', share = ''] =
    new RegExp(`${fault.stage} \\+(\\S+\\s(?:ms|s))(?: \\(|, )(\\d+\\s%)`).exec(text) ?? [];
  return [
    { thing: 'blame', where, text: excess },
    { thing: 'part of the blame', where, text: share },
  ];
}

async function incidentStatements(page: Page): Promise<Statement[]> {
  const table = page.getByRole('table', { name: 'Affected series' });
  // At 400 px the heads are not drawn.
  const series = table
    .getByRole('row')
    .filter({ has: page.getByRole('link') })
    .first();
  const cell = (label: string) => series.locator(`[data-label="${label}"]`).textContent();
  return [
    ...tailOf('title of the incident', await textOf(page, 'h1')),
    ...tailOf('incident', await textOf(page, '.page-title + p')),
    ...blameOf(
      'blame panel',
      (await page.getByRole('heading', { name: /^Blame:/ }).textContent()) ?? '',
    ),
    { thing: 'p99', where: 'worst series', text: `${await cell('Observed')} ms` },
    { thing: 'baseline', where: 'worst series', text: `${await cell('Baseline')} ms` },
    { thing: 'ratio', where: 'worst series', text: (await cell('Ratio')) ?? '' },
  ];
}

/** What the page of the model, or a comparison, says of the incident from which one came. */
async function contextStatements(page: Page, where: string): Promise<Statement[]> {
  const context = page.getByRole('navigation', { name: 'Incident' });
  const sentence = context.getByText('its baseline');
  await sentence.waitFor();
  return tailOf(where, (await sentence.textContent()) ?? '');
}

/** Goes from the page of an incident to its model, a request, the comparison, and back; returns what each states. */
async function walk(page: Page, id: string): Promise<Statement[]> {
  const statements = await incidentStatements(page);
  await page.getByRole('link', { name: `What ${fault.model} is made of` }).click();
  await untilDrawn(page);
  const { pathname, params } = addressOf(page);
  expect([pathname, params.incident]).toEqual([`/models/${fault.model}`, id]);
  const { from, to } = params;
  expect([from, to]).toEqual([expect.stringMatching(/Z$/), expect.stringMatching(/Z$/)]);
  statements.push(...(await contextStatements(page, 'model')));
  const open = page.getByRole('list', { name: 'Open incidents' }).getByRole('link');
  statements.push(...tailOf('open incidents of the model', (await open.textContent()) ?? ''));

  await page.locator('.filters').getByLabel('Stage').selectOption(fault.stage);
  await soon(() => addressOf(page).params.stage).toBe(fault.stage);
  await untilDrawn(page);
  const context = { incident: id, stage: fault.stage, from, to };
  const request = page.locator('[data-panel="requests"] .request-toggle').first();
  await request.click();
  await soon(() => request.getAttribute('aria-expanded')).toBe('true');
  expect(addressOf(page).params).toMatchObject({ ...context, at: expect.stringContaining('Z') });

  await page.getByRole('link', { name: '← Incident' }).click();
  const back = { pathname: `/incidents/${id}`, params: { stage: fault.stage, from, to } };
  await soon(() => addressOf(page)).toEqual(back);
  await untilDrawn(page);
  statements.push(...(await incidentStatements(page)));

  await page.getByRole('link', { name: 'Compare with before' }).click();
  await untilDrawn(page);
  await page.getByText('B is the time of the incident,').waitFor();
  expect(addressOf(page).params).toMatchObject({
    ...context,
    model: fault.model,
    region: fault.region,
  });
  statements.push(...(await contextStatements(page, 'comparison')));
  // Another measure, of all affected series: its stage is the one to blame.
  await page.getByRole('heading', { name: `Largest difference: ${fault.stage} +` }).waitFor();
  await page.getByRole('link', { name: '← Incident' }).click();
  await soon(() => addressOf(page)).toEqual(back);
  await untilDrawn(page);
  expect(await page.locator('[data-state="error"]').count()).toBe(0);
  return [...statements, ...(await incidentStatements(page))];
}

/** An incident as the detector left it, and pages of it that nothing changes any more. */
async function servedIncident(rig: Rig): Promise<{ event: AnomalyEvent; url: string }> {
  const detect = { ...rig.config.detect, interval: 250 };
  const detector = await rig.start(['ingest', 'detect'], { ...rig.config, detect });
  const event = await openIncident(rig, await publishFault(rig, plots.opened), plots.opened);
  await detector.stop();
  const { url = '' } = await rig.start(['serve']);
  const newest = await rig.cli(['anomalies', '--json']);
  const { anomalies } = JSON.parse(newest.out) as { anomalies: readonly AnomalyEvent[] };
  return { event: anomalies.find(({ id }) => id === event.id) ?? event, url };
}

describe('who is woken by a message', () => {
  it('goes from its link to incident, model, request, comparison and back, and reads the same numbers', () =>
    withRig({ stack, name: 'journey' }, async (rig) => {
      const { event, url } = await servedIncident(rig);
      const bodies = bodiesByReceiver(url, noticeOf(event));
      const links = linksByReceiver(url, noticeOf(event));
      for (const width of widths) {
        for (const name of paged) {
          const { page, complaints } = await browser.open(url, {
            viewport: { width, height: 900 },
          });
          const [link = ''] = links.get(name) ?? [];
          expect(link).toBe(`${url}/incidents/${event.id}`);
          await page.goto(link);
          await untilDrawn(page);
          const message = bodies.get(name) ?? '';
          const statements = [...tailOf(name, message), ...(await walk(page, event.id))];
          if (name !== 'alertmanager') statements.push(...blameOf(name, message));
          expect([name, width, disagreements(statements)]).toEqual([name, width, []]);
          expect(new Set(statements.map(({ thing }) => thing)).size).toBe(5);
          expect([name, width, complaints]).toEqual([name, width, []]);
          await page.context().close();
        }
      }
    }));
});
