import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { AnomalyEvent } from '../../../src/detect/event/anomaly-event.ts';
import { defaultFleet } from '../../../src/generate/default-fleet.ts';
import { publishedTraffic } from '../../../src/generate/publish/published-traffic.ts';
import { AnomalyStore } from '../../../src/sink/anomalies/anomaly-store.ts';
import { useStack } from '../../containers/stack.ts';
import { poll } from '../kit/poll.ts';
import type { Rig } from '../kit/rig.ts';
import { withRig } from '../kit/with-rig.ts';
import { disagreements, type Statement } from './kit/statements.ts';
import { untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
const minuteMs = 60_000;
/** From the start of the traffic: a past to learn from, and a stage that is slow to the end. */
const plot = { faultFromMs: 18 * minuteMs, endMs: 24 * minuteMs };
const fault = { model: 'ranker', region: 'eu-west-1', stage: 'features' };

function messages(startMs: number) {
  const events = [
    ...publishedTraffic({
      ...{ seed: 'numbers', startMs, durationMs: plot.endMs, ratePerSecond: 100, dailySwing: 0 },
      models: defaultFleet.filter(({ name }) => name === fault.model),
      faults: [
        {
          ...{ kind: 'slow_stage', ...fault, factor: 12, share: 0.25 },
          ...{ fromMs: plot.faultFromMs, forMs: plot.endMs - plot.faultFromMs },
        },
      ],
    }),
  ];
  return events.map(({ event }) => JSON.stringify(event));
}

/** Messages of 20 events. */
function* batches(events: readonly string[]) {
  for (let from = 0; from < events.length; from += 20) {
    yield { value: events.slice(from, from + 20).join('\n') };
  }
}

/** The newest event of the open incident, once the detector has evaluated the traffic up to its last minute. */
async function openIncident(rig: Rig, endMs: number): Promise<AnomalyEvent> {
  const anomalies = new AnomalyStore(rig.client);
  let evaluatedMs: number | undefined;
  let found: AnomalyEvent[] = [];
  return poll(
    'an open incident',
    async () => {
      evaluatedMs = await anomalies.evaluatedUntilMs(rig.config.kafka.group_id);
      if (evaluatedMs === undefined || evaluatedMs < endMs - minuteMs) return undefined;
      found = await anomalies.since(0, { model: fault.model, state: '', limit: 10 });
      return found.find(({ kind, state }) => kind === 'tail_shift' && state !== 'resolved');
    },
    { deadlineMs: 120_000, seen: () => [evaluatedMs, found.map(({ summary }) => summary)] },
  );
}

/** Numbers of the tail of a model over a range, as each place states them. */
async function tailStatements(page: Page, rig: Rig, range: URLSearchParams): Promise<Statement[]> {
  const statements: Statement[] = [];
  const add = (what: string, where: string, text: string | null) =>
    statements.push({ thing: `${what} of ${fault.model}`, where, text: text ?? '' });

  await page.goto(`/?${range}`);
  await untilDrawn(page);
  const heads = await page.locator('[data-panel="models"] thead th').allTextContents();
  const row = page.locator('[data-panel="models"] tbody tr', { hasText: fault.model });
  for (const name of ['p50', 'p95', 'p99']) {
    const column = heads.findIndex((head) => head.trim() === name);
    add(name, 'Now', await row.locator('td').nth(column).textContent());
  }

  await page.goto(`/models/${fault.model}?${range}`);
  await untilDrawn(page);
  const [, p99 = ''] =
    /p99 (\S+\s\S+?) in/.exec((await page.locator('h1').textContent()) ?? '') ?? [];
  add('p99', 'title of the model', p99);
  const keys = await page.locator('[data-panel="tail"] .chart-key').allTextContents();
  for (const name of ['p50', 'p95', 'p99']) {
    const key = keys.find((text) => new RegExp(`^${name}\\s`).test(text.trim())) ?? '';
    add(name, 'legend of the model', `${key.trim().slice(name.length)} ms`);
  }

  const to = range.get('to') ?? '';
  const from = range.get('from') ?? '';
  const tails = await tailsOf(rig, from, to);
  for (const name of ['p50', 'p95', 'p99'] as const) add(name, 'tails', tails[name]);
  return statements;
}

/** What `tailmark tails --warm` prints of the whole request. */
async function tailsOf(rig: Rig, from: string, to: string) {
  const argv = ['tails', '--warm', '--model', fault.model, '--stage', 'total'];
  const { out } = await rig.cli([...argv, '--since', from, '--until', to]);
  const line = out.split('\n').find((text) => text.includes('total')) ?? '';
  const [p50 = '', , p95 = '', p99 = ''] = line.match(/[\d.]+ (?:µs|ms|s|min)\b/g) ?? [];
  return { p50, p95, p99 };
}

/** Numbers of the incident, as each place states them. */
async function incidentStatements(page: Page, rig: Rig, event: AnomalyEvent): Promise<Statement[]> {
  const statements: Statement[] = [];
  const ofSentence = (where: string, text: string | null) => {
    const [, observed = '', ratio = '', baseline = ''] =
      /(\S+ (?:ms|s)), ([\d.]+x) its baseline of (\S+ (?:ms|s))/.exec(text ?? '') ?? [];
    statements.push(
      { thing: 'observed by the incident', where, text: observed },
      { thing: 'ratio of the incident', where, text: ratio },
      { thing: 'baseline of the incident', where, text: baseline },
    );
  };
  ofSentence('message', event.summary);
  ofSentence('anomalies', (await rig.cli(['anomalies'])).out);
  ofSentence('explain', (await rig.cli(['explain', event.id])).out);

  await page.goto('/');
  await untilDrawn(page);
  ofSentence('Now', await page.locator('[data-panel="open"] a').textContent());
  const ratio = page.locator('[data-panel="models"] tbody tr', { hasText: fault.model });
  const cell = ratio.locator('.ratio-cell .ratio');
  statements.push({
    ...{ thing: 'ratio of the incident', where: 'table of models' },
    text: (await cell.locator('data').textContent()) ?? '',
  });
  const [, observed = '', baseline = ''] =
    /is (\S+\s\S+), baseline (\S+\s\S+)$/.exec((await cell.getAttribute('title')) ?? '') ?? [];
  statements.push(
    { thing: 'observed by the incident', where: 'table of models', text: observed },
    { thing: 'baseline of the incident', where: 'table of models', text: baseline },
  );

  await page.goto(`/incidents/${event.id}`);
  await untilDrawn(page);
  ofSentence('incident', await page.locator('.page-title + p').textContent());
  const [, inTitle = '', ratioInTitle = ''] =
    /(\S+\s(?:ms|s)), ([\d.]+x) its/.exec((await page.locator('h1').textContent()) ?? '') ?? [];
  const worst = page.locator('[data-panel="series"] tbody tr').first();
  const number = (at: number) => worst.locator('td.number').nth(at).textContent();
  statements.push(
    { thing: 'observed by the incident', where: 'title of the incident', text: inTitle },
    { thing: 'ratio of the incident', where: 'title of the incident', text: ratioInTitle },
    { thing: 'observed by the incident', where: 'worst series', text: `${await number(0)} ms` },
    { thing: 'baseline of the incident', where: 'worst series', text: `${await number(1)} ms` },
    { thing: 'ratio of the incident', where: 'worst series', text: (await number(2)) ?? '' },
  );
  return [...statements, ...(await evidenceStatements(page, rig, event))];
}

/** The first sentence of the evidence, on the page and the console. */
async function evidenceStatements(page: Page, rig: Rig, event: AnomalyEvent) {
  const onPage = (await page.locator('[data-panel="evidence"] li').first().textContent()) ?? '';
  const { out } = await rig.cli(['explain', event.id]);
  const [, onConsole = ''] = /\nEvidence\n\s+([^\n]+)/.exec(out) ?? [];
  expect(onConsole).toBe(onPage);
  expect(onPage).toMatch(
    /^[\d,]+ of [\d,]+ requests( of ranker \(.*\))? were slower than the slowest 1 % of normal, .*; (fewer than )?[\d,]+ w(as|ere) expected$/,
  );
  expect(await page.locator('[data-panel="evidence"] .sentences').textContent()).not.toMatch(
    /probab|dispers|budget/i,
  );
  const [, normal = ''] = /of normal, (\S+\s\S+);/.exec(onPage) ?? [];
  return [
    { thing: 'baseline of the first series', where: 'evidence', text: normal },
    ...['event', 'event again'].map((where) => ({
      ...{ thing: 'baseline of the first series', where },
      text: `${event.baseline_ms} ms`,
    })),
  ];
}

describe('the same number', () => {
  it('stands on every page, on the command line and in the message', () =>
    withRig({ stack, name: 'numbers-agree' }, async (rig) => {
      const { url } = await rig.start(['ingest', 'detect', 'serve'], {
        ...rig.config,
        detect: { ...rig.config.detect, interval: 250 },
      });
      const startMs = Math.floor((Date.now() - plot.endMs) / minuteMs) * minuteMs;
      const sent = messages(startMs);
      await rig.publish(batches(sent));
      await rig.untilConsumed(sent.length);
      const endMs = startMs + plot.endMs;

      const { page, complaints } = await browser.open(url);
      const range = new URLSearchParams({
        from: new Date(startMs).toISOString(),
        to: new Date(endMs).toISOString(),
      });
      const ofIncident = await poll('statements of one revision', async () => {
        const event = await openIncident(rig, endMs);
        const stated = await incidentStatements(page, rig, event);
        const { revision } = await openIncident(rig, endMs);
        return revision === event.revision ? stated : undefined;
      });
      const statements = [...ofIncident, ...(await tailStatements(page, rig, range))];
      expect(disagreements(statements)).toEqual([]);
      expect(new Set(statements.map(({ thing }) => thing)).size).toBe(7);
      expect(complaints).toEqual([]);
    }));
});
