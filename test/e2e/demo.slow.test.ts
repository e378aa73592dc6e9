import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import type { AnomaliesAnswer, AnomalyRow } from '../../src/views/answers/anomalies.ts';
import { useStack } from '../containers/stack.ts';
import { press, soon, tabTo, untilDrawn, useBrowserIfThere } from './dashboard/kit/use-browser.ts';
import { poll } from './kit/poll.ts';
import { startChild } from './kit/start-child.ts';

const dir = mkdtempSync(join(tmpdir(), 'tailmark-demo-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

// The demo starts its own servers; it is skipped where this machine cannot run them.
const stack = useStack();
const browser = useBrowserIfThere();

it.runIf(stack.kind === 'local')(
  'demo tells its story, and its links lead a newcomer to the stage to blame, by keyboard alone',
  async () => {
    const demo = startChild(['demo', '--dir', dir], process.env, 'pipe');
    const untilPrinted = (text: string) =>
      poll(
        `the demo prints "${text}"`,
        () => (demo.isOver() || demo.out().includes(text) ? true : undefined),
        { deadlineMs: 600_000, seen: () => demo.out() + demo.err() },
      );
    try {
      await demo.logged('dashboard http://127.0.0.1:');
      await untilPrinted('Log of the pipeline');
      // The fault stays, and the incident is open.
      expect(demo.out()).toMatch(/^open, \w+ {2}.*\bp\d+ of ranker /m);
      expect(demo.out()).not.toMatch(/^resolved .*ranker/m);
      const env = shellOf(demo.out());
      await doctorPasses(env);
      expect(demo.out()).not.toMatch(/^resolved .*ranker/m);
      demo.type('\n');
      await untilPrinted('\nok  ');
      const printed = demo.out();
      expect(printed).toContain(
        '\nok  found, blamed on features, resolved; every event counted exactly once\n',
      );
      const [, home = ''] = /dashboard (http:\S+\/)$/m.exec(demo.err()) ?? [];
      const [, incident = ''] = /^incident {2}(http:\S+)$/m.exec(printed) ?? [];
      await withoutMerges(env);
      if (browser.isThere) await newcomersPath(home, incident);
      demo.signal('SIGINT');
      expect([await demo.exited, demo.err()]).toEqual([0, demo.err()]);
    } finally {
      demo.signal('SIGKILL');
      await demo.exited;
    }
  },
);

/** The environment that the demo prints for another shell. */
function shellOf(printed: string): Readonly<Record<string, string>> {
  const exports = [...printed.matchAll(/^ {2}export (\w+)=(.*)$/gm)];
  expect(exports.map(([, name]) => name)).toEqual([
    ...['TAILMARK_KAFKA_BROKERS', 'TAILMARK_KAFKA_GROUP_ID', 'TAILMARK_CLICKHOUSE_URL'],
  ]);
  return Object.fromEntries(exports.map(([, name = '', value = '']) => [name, value]));
}

/** A merge of parts in ClickHouse merges digests in another order, which moves a percentile by up to 0.4 %. */
async function withoutMerges(env: Readonly<Record<string, string>>): Promise<void> {
  const { TAILMARK_CLICKHOUSE_URL: url = '' } = env;
  const body = 'SYSTEM STOP MERGES';
  const response = await fetch(url, { method: 'POST', body });
  expect([response.status, await response.text()]).toEqual([200, '']);
}

/** Expects that all is well in the very shell that the demo prints. */
async function doctorPasses(env: Readonly<Record<string, string>>): Promise<void> {
  const doctor = startChild(['doctor', '--json'], env);
  const exitCode = await doctor.exited;
  expect([exitCode, doctor.out(), doctor.err()]).toEqual([0, doctor.out(), doctor.err()]);
}

/** The path of whoever opens the printed links: what is slow and since when, the blame, the composition. */
async function newcomersPath(home: string, incident: string): Promise<void> {
  const { page, complaints } = await browser.open(home, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const title =
    /^ranker(?: \(eu-west-1\))?(?:, most affected:)? p\d+ .* (?:[2-9]|\d{2,})(?:\.\d+)?x its baseline, blame features.*; (?:\d+ \w+ )?\d\d:\d\d(?::\d\d)? to (?:\d+ \w+ )?\d\d:\d\d(?::\d\d)? \(\d.*\)/;

  // The link of the incident: what was slow, and when.
  await page.goto(incident);
  await untilDrawn(page);
  await soon(() => page.locator('h1').textContent()).toMatch(title);

  // One step from the dashboard to the same: blame, and the requests before and during.
  await page.goto(home);
  await untilDrawn(page);
  await soon(async () => {
    const count = /^Nothing open\. (\d+) incidents?/.exec((await titleOf(page)) ?? '')?.[1];
    return [Number(count) - (await pipelineIncidents(home)).length];
  }).toEqual([1]);
  const { pathname } = new URL(incident);
  do await press(page, 'j');
  while (!(await page.evaluate<string>('document.activeElement.href ?? ""')).includes(pathname));
  await press(page, 'Enter');
  await soon(() => page.url()).toContain(pathname);
  await untilDrawn(page);
  await soon(() => page.locator('h1').textContent()).toMatch(title);
  expect(await page.locator('#blame-title').textContent()).toMatch(
    /^Blame: features \+\d+\sms, \d+\s%/,
  );
  const spoken = page.locator('.chart-distribution [aria-live]');
  await page.locator('.chart-distribution [role="application"]').focus();
  await press(page, 'ArrowRight');
  await press(page, 'End');
  expect(await spoken.textContent()).toMatch(/before .*\([1-9]\d*\), during .*\([1-9]\d*\)/);
  await sameNumbersElsewhere(page, home);

  // The second step: what the slow requests are made of.
  await tabTo(page, page.getByRole('link', { name: 'What ranker is made of' }));
  await press(page, 'Enter');
  await soon(() => new URL(page.url()).pathname).toBe('/models/ranker');
  await untilDrawn(page);
  const slowest = page.locator('[data-panel="composition"]');
  await soon(() => slowest.getAttribute('data-state')).toMatch(/^(ready|partial)$/);
  await sameNumbersElsewhere(page, home);
  expect(complaints).toEqual([]);
  await page.context().close();
}

/** Incidents of a pipeline that a busy machine kept waiting: they say nothing of the traffic. */
async function pipelineIncidents(home: string): Promise<readonly AnomalyRow[]> {
  const response = await fetch(new URL('/v1/anomalies', home));
  const { rows } = (await response.json()) as AnomaliesAnswer;
  return rows.filter(({ kind }) => kind === 'pipeline');
}

/** Expects that the copied link of a page has its numbers in a fresh browser whose clock is an hour on. */
async function sameNumbersElsewhere(page: Page, home: string): Promise<void> {
  await press(page, 'c');
  await page.getByText('Link copied').waitFor();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(link).toMatch(/from=\d{4}-\S+Z&to=\d{4}-\S+Z/);
  const later = await browser.open(home);
  await later.page.clock.install({ time: Date.now() + 3_600_000 });
  await later.page.goto(link);
  await untilDrawn(later.page);
  await page.goto(link);
  await untilDrawn(page);
  expect((await numbersOf(page)).length).toBeGreaterThan(30);
  await soon(async () => [await titleOf(later.page), await numbersOf(later.page)]).toEqual([
    await titleOf(page),
    await numbersOf(page),
  ]);
  expect(later.complaints).toEqual([]);
  await later.page.context().close();
}

/** The title with its times in minutes: those of another day have a date and no seconds. */
const titleOf = async (page: Page) =>
  (await page.locator('h1').textContent())?.replace(/(?:\d+ \w+ )?(\d\d:\d\d)(?::\d\d)?/g, '$1');

const numbersOf = (page: Page) =>
  page
    .locator('[data-panel] data')
    .evaluateAll((all) => all.map((one) => one.getAttribute('value')));
