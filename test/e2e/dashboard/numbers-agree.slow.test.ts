import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Comparison } from '../../../src/compare/comparison.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { ofWorstSeries } from '../../../src/contract/worst-series.ts';
import { useStack } from '../../containers/stack.ts';
import { poll } from '../kit/poll.ts';
import type { Rig } from '../kit/rig.ts';
import { withRig } from '../kit/with-rig.ts';
import { fault, openIncident, type Plot, plots, publishFault } from './kit/detected-incident.ts';
import { disagreements, type Statement } from './kit/statements.ts';
import { untilDrawn, useBrowser } from './kit/use-browser.ts';

const stack = useStack();
const browser = useBrowser();
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

  for (const { name, where, text } of await modelStatements(page, range)) add(name, where, text);
  const tails = await tailsOf(rig, range);
  for (const name of ['p50', 'p95', 'p99'] as const) add(name, 'tails', tails[name]);
  return statements;
}

/** Percentiles of a model over a range, as its page states them. */
async function modelStatements(page: Page, range: URLSearchParams) {
  await page.goto(`/models/${fault.model}?${range}`);
  await untilDrawn(page);
  const title = (await page.locator('h1').textContent()) ?? '';
  const [, p99 = ''] = /p99 (\S+\s\S+?) in/.exec(title) ?? [];
  const keys = await page.locator('[data-panel="tail"] .chart-key').allTextContents();
  const ofLegend = ['p50', 'p95', 'p99'].map((name) => {
    const key = keys.find((text) => new RegExp(`^${name}\\s`).test(text.trim())) ?? '';
    return { name, where: 'legend of the model', text: `${key.trim().slice(name.length)} ms` };
  });
  return [{ name: 'p99', where: 'title of the model', text: p99 }, ...ofLegend];
}

/** Percentiles of two times that are compared, as the comparison and the page of the model state them. */
async function comparedStatements(page: Page, rig: Rig, startMs: number): Promise<Statement[]> {
  const timeAt = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString();
  // Both have all their minutes, and B the first ones of the fault.
  const sides = { a: [timeAt(0), timeAt(10)], b: [timeAt(10), timeAt(20)] } as const;
  const [[aFrom, aTo], [bFrom, bTo]] = [sides.a, sides.b];
  const asked = { model: fault.model, 'a.from': aFrom, 'a.to': aTo, 'b.from': bFrom, 'b.to': bTo };
  await page.goto(`/compare?${new URLSearchParams({ ...asked, table: 'shift' })}`);
  await untilDrawn(page);
  const rows = page.locator('[data-panel="shift"] tbody tr');
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')),
  );
  const argv = ['compare', '--model', fault.model, '--json', '--a-from', aFrom, '--a-to', aTo];
  const { out } = await rig.cli([...argv, '--b-from', bFrom, '--b-to', bTo]);
  const { quantiles } = JSON.parse(out) as Comparison;
  const statements: Statement[] = [];
  for (const [i, side] of (['a', 'b'] as const).entries()) {
    const [from, to] = sides[side];
    const range = new URLSearchParams({ from, to });
    const add = (name: string, where: string, text: string) =>
      statements.push({ thing: `${name} of side ${side}`, where, text });
    for (const [name, q] of [
      ['p50', 0.5],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const) {
      const shown = cells.find(([level]) => level === String(q))?.[i + 1] ?? '';
      add(name, 'comparison', `${shown} ms`);
      const known = quantiles.find((each) => each.q === q);
      const ofCommand = [known?.baseline_ms, known?.candidate_ms][i] ?? 0;
      // A table has six digits.
      expect([name, side, Number(ofCommand.toPrecision(6))]).toEqual([name, side, Number(shown)]);
    }
    for (const { name, where, text } of await modelStatements(page, range)) add(name, where, text);
  }
  return statements;
}

/** What `tailmark tails --warm` prints of the whole request. */
async function tailsOf(rig: Rig, range: URLSearchParams) {
  const argv = ['tails', '--warm', '--model', fault.model, '--stage', 'total'];
  const [since = '', until = ''] = [range.get('from'), range.get('to')].map(String);
  const { out } = await rig.cli([...argv, '--since', since, '--until', until]);
  const line = out.split('\n').find((text) => text.includes('total')) ?? '';
  const [p50 = '', , p95 = '', p99 = ''] = line.match(/[\d.]+ (?:µs|ms|s|min)\b/g) ?? [];
  return { p50, p95, p99 };
}

/** Minutes and seconds of the time of the numbers in a text, which has its day where that was yesterday. */
function measuredIn(text: string | null): string {
  return /as of (?:\d+ \w+ )?\d\d:(\d\d:\d\d)/.exec(text ?? '')?.[1] ?? '';
}

/** Numbers of the incident, as each place states them. */
async function incidentStatements(page: Page, rig: Rig, event: AnomalyEvent): Promise<Statement[]> {
  const statements: Statement[] = [];
  /** Minutes and seconds of the time that each place gives. */
  const asOf: { readonly where: string; readonly text: string }[] = [];
  const isTail = event.rate === undefined;
  const add = (thing: string, where: string, text: string) =>
    statements.push({ thing: `${thing} the incident`, where, text });
  const ofSentence = (where: string, text: string | null) => {
    const [, observed = '', ratio, baseline = ''] =
      /(\S+ (?:ms|s)), ([\d.]+x) its baseline of (\S+ (?:ms|s))/.exec(text ?? '') ??
      /(\S+ %) of requests fail( )\(baseline (\S+ %)\)/.exec(text ?? '') ??
      [];
    add('observed by', where, observed);
    if (ratio?.trim()) add('ratio of', where, ratio);
    add('baseline of', where, baseline);
    asOf.push({ where, text: measuredIn(text) });
  };
  ofSentence('message', event.summary);
  const listed = (await rig.cli(['anomalies'])).out.split('\n\n');
  ofSentence('anomalies', listed.find((text) => text.includes(event.id)) ?? '');
  ofSentence('explain', (await rig.cli(['explain', event.id])).out);

  await page.goto('/');
  await untilDrawn(page);
  const link = page.locator(`[data-panel="open"] a[href*="${event.id}"]`);
  ofSentence('Now', await link.textContent());
  if (isTail && (await page.locator('[data-panel="open"] a').count()) === 1) {
    statements.push(...(await rowStatements(page)));
  }

  await page.goto(`/incidents/${event.id}`);
  await untilDrawn(page);
  ofSentence('incident', await page.locator('.page-title + p').textContent());
  const title = (await page.locator('h1').textContent()) ?? '';
  const [, inTitle = '', ratioInTitle = ''] =
    /(\S+\s(?:ms|s)), ([\d.]+x) its/.exec(title) ??
    /(\S+\s%) of requests fail, ([\d.]+x) the/.exec(title) ??
    [];
  asOf.push({ where: 'title', text: measuredIn(title) });
  const worst = page.locator('[data-panel="series"] tbody tr').first();
  const number = (at: number) => worst.locator('td.number').nth(at).textContent();
  const unit = isTail ? ' ms' : '';
  add('observed by', 'title of the incident', inTitle);
  add('ratio of', 'title of the incident', ratioInTitle);
  add('observed by', 'worst series', `${await number(0)}${unit}`);
  add('baseline of', 'worst series', `${await number(1)}${unit}`);
  add('ratio of', 'worst series', (await number(2)) ?? '');
  const cell = await worst.locator('[data-label="As of"]').textContent();
  asOf.push({ where: 'worst series', text: cell?.slice(-5) ?? '' });
  // Pages have a zone of their own.
  const measured = ofWorstSeries(event).measured_at?.slice(14, 19);
  expect(asOf).toEqual(asOf.map(({ where }) => ({ where, text: measured })));
  return isTail ? [...statements, ...(await evidenceStatements(page, rig, event))] : statements;
}

/** Numbers of the only open incident in the table of models. */
async function rowStatements(page: Page): Promise<Statement[]> {
  const statements: Statement[] = [];
  const ratio = page.locator('[data-panel="models"] tbody tr', { hasText: fault.model });
  const cell = ratio.locator('.ratio-cell .ratio');
  statements.push({
    ...{ thing: 'ratio of the incident', where: 'table of models' },
    text: (await cell.locator('data').textContent()) ?? '',
  });
  const [, observed = '', baseline = ''] =
    /is (\S+\s\S+), baseline (\S+\s\S+) as of/.exec((await cell.getAttribute('title')) ?? '') ?? [];
  statements.push(
    { thing: 'observed by the incident', where: 'table of models', text: observed },
    { thing: 'baseline of the incident', where: 'table of models', text: baseline },
  );
  return statements;
}

/** The first sentence of the evidence, on the page and the console. */
async function evidenceStatements(page: Page, rig: Rig, event: AnomalyEvent) {
  const onPage = (await page.locator('[data-panel="evidence"] li').first().textContent()) ?? '';
  const { out } = await rig.cli(['explain', event.id]);
  const [, onConsole = ''] = /\nEvidence\n\s+([^\n]+)/.exec(out) ?? [];
  expect(onConsole).toBe(onPage);
  expect(onPage).toMatch(
    /^[\d,]+ of [\d,]+ requests( of ranker \(.*\))? were slower( in forward)? than the slowest \d+ % of normal, .*; (fewer than )?[\d,]+ w(as|ere) expected$/,
  );
  expect(await page.locator('[data-panel="evidence"] .sentences').textContent()).not.toMatch(
    /probab|dispers|budget/i,
  );
  const [, normal = ''] = /of normal, (\S+\s\S+);/.exec(onPage) ?? [];
  const { baseline_ms } = ofWorstSeries(event);
  return [
    { thing: 'baseline of the incident', where: 'evidence', text: normal },
    { thing: 'baseline of the incident', where: 'event', text: `${baseline_ms} ms` },
  ];
}

/** Things that are stated of an incident, and of a range of a model's traffic. */
const thingsOf = { incident: 3, traffic: 9 } as const;

describe('the same number', () => {
  it.each<[keyof typeof plots, boolean]>([
    ['opened', true],
    ['updated', false],
    ['second', false],
    ['failures', false],
  ])('stands on every page, on the command line and in the message: %s', (name, isOfTraffic) =>
    withRig({ stack, name: `numbers-agree-${name}` }, async (rig) => {
      const plot: Plot = plots[name];
      const { url } = await rig.start(['ingest', 'detect', 'serve'], {
        ...rig.config,
        detect: { ...rig.config.detect, interval: 250 },
      });
      const traffic = await publishFault(rig, plot);

      const { page, complaints } = await browser.open(url);
      const range = new URLSearchParams({
        from: new Date(traffic.startMs).toISOString(),
        to: new Date(traffic.endMs).toISOString(),
      });
      const ofIncident = await poll('statements of one revision', async () => {
        const event = await openIncident(rig, traffic, plot);
        const stated = await incidentStatements(page, rig, event);
        const { revision } = await openIncident(rig, traffic, plot);
        return revision === event.revision ? stated : undefined;
      });
      const ofTraffic = isOfTraffic
        ? [
            ...(await tailStatements(page, rig, range)),
            ...(await comparedStatements(page, rig, traffic.startMs)),
          ]
        : [];
      const statements = [...ofIncident, ...ofTraffic];
      expect(disagreements(statements)).toEqual([]);
      const things = thingsOf.incident + (isOfTraffic ? thingsOf.traffic : 0);
      expect(new Set(statements.map(({ thing }) => thing)).size).toBe(things);
      expect(complaints).toEqual([]);
    }),
  );
});
