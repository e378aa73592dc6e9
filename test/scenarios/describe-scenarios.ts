import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { AnomalyEvent } from '../../src/contract/anomaly-event.ts';
import { StageTable } from '../../src/contract/stage-table.ts';
import { seriesKey } from '../../src/series/series-key.ts';
import type { SeriesWindow } from '../../src/series/series-window.ts';
import { eventLine, streamLine } from '../golden/event-lines.ts';
import { expectGolden } from '../golden/expect-golden.ts';
import { detectOptions, type EmittedEvent, restartScenario, runScenario } from './run-scenario.ts';
import { type Scenario, scenarioSchema } from './scenario-schema.ts';
import { scenarioSeries, scenarioStartMs, scenarioWindows } from './scenario-windows.ts';

const folder = new URL('.', import.meta.url);
/** Weeks of windows take seconds: they are in scenarios.slow.test.ts. */
const mostQuickWindows = 5_000;

const scenarios = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((file) => {
    const scenario = scenarioSchema.parse(parse(readFileSync(new URL(file, folder), 'utf8')));
    return { file, scenario, isQuick: scenario.windows <= mostQuickWindows };
  });

/** Describes the scenarios that are quick, or the others: what each emits. */
export function describeScenarios(areQuick: boolean): void {
  describe.each(scenarios.filter(({ isQuick }) => isQuick === areQuick))('$file', describeScenario);
}

/** Describes what restarts of the scenarios emit. */
export function describeRestarts(): void {
  const restarted = scenarios.filter(({ scenario }) => scenario.restarts.length > 0);
  describe.each(restarted)('$file', describeRestartsOf);
}

/** Runs a scenario before the tests of it. */
function useRun(scenario: Scenario) {
  const options = detectOptions(scenario.detect);
  let windows: SeriesWindow[][] = [];
  let emitted: EmittedEvent[] = [];
  beforeAll(() => {
    windows = scenarioWindows(scenario, options.window);
    emitted = runScenario(windows, options);
  });
  // Later files of the worker need the memory.
  afterAll(() => {
    windows = [];
    emitted = [];
  });
  return () => ({ options, windows, emitted });
}

function describeScenario({ file, scenario }: (typeof scenarios)[number]): void {
  const run = useRun(scenario);

  it(scenario.title, () => {
    const { emitted } = run();
    const pages = emitted.filter(({ event }) => event.incident_id === undefined);
    const outlined = pages.map(({ window, event }) => {
      const { state, stage, model, version, region, request_type, scope } = event;
      const hit = scope === undefined ? '' : ` ${scope.affected}/${scope.total}`;
      return `${window} ${state} ${stage} ${[model, version, region, request_type]}${hit}`;
    });
    expect(outlined, outlined.join('; ')).toHaveLength(scenario.expect.length);
    scenario.expect.forEach((expected, i) => {
      expectEvent(scenario, pages[i] as EmittedEvent, expected);
    });
  });

  it('emits the recorded events, bit by bit', () => {
    const { emitted } = run();
    const lines = emitted.map(({ window, event }) => `${window} ${eventLine(event)}`);
    const text = [streamLine(emitted.map(({ event }) => event)), ...lines].join('\n');
    expectGolden(`events/${file.replace('.yaml', '.txt')}`, text);
  });

  it('blames in shares that add up to 1, of which none is above it or of what is no part', () => {
    const { emitted } = run();
    for (const { event } of emitted) {
      if (event.blame.length === 0) continue;
      const shares = event.blame.map(({ share }) => share);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
      const noParts = event.blame.filter(({ stage }) => {
        const kind = StageTable.standard.kindOf(stage);
        return kind !== 'part' && (kind === 'milestone' || stage !== event.evidence.measured_stage);
      });
      expect(noParts).toEqual([]);
    }
  });

  it('resolves every anomaly at most once, in revisions without a gap', () => {
    const { emitted } = run();
    const revisions = new Map<string, EmittedEvent[]>();
    for (const one of emitted) {
      revisions.set(one.event.id, [...(revisions.get(one.event.id) ?? []), one]);
    }
    for (const events of revisions.values()) {
      expect(events.map(({ event }) => event.revision)).toEqual(events.map((_, i) => i + 1));
      expect(events[0]?.event.state).toBe('opened');
      const ends = events.filter(({ event }) => event.state === 'resolved');
      expect(ends.length).toBeLessThanOrEqual(1);
      if (ends.length === 1) expect(events.at(-1)).toBe(ends[0]);
    }
  });

  it('says how each open series is at the time of the event, and how bad it has been', () => {
    const { emitted, options, windows } = run();
    const endOf = (window: number) =>
      new Date(scenarioStartMs + (window + 1) * options.window).toISOString();
    // A drift is measured by whole hours.
    const measured = emitted.filter(({ event }) => event.kind !== 'drift');
    const pages = measured.filter(({ event }) => event.incident_id === undefined);
    for (const { window, event } of pages.filter((each) => each.event.state !== 'resolved')) {
      const { members = [] } = event;
      const open = members.filter(({ resolved_at }) => resolved_at === null);
      const shown = members.length === 0 ? [event] : open;
      // One that has no request is as it was when it had one.
      const present = new Set(windows[window]?.map(({ series }) => seriesKey(series)));
      const known = isOfModel(event) ? shown : shown.filter((each) => present.has(seriesKey(each)));
      const asOf = known.map(({ measured_at }) => measured_at);
      expect([window, event.summary, ...new Set(asOf)]).toEqual([
        ...[window, event.summary, ...(known.length === 0 ? [] : [endOf(window)])],
      ]);
      // The worst one comes first.
      expect(members[0]?.resolved_at ?? null).toBe(null);
      const [worst = event] = shown;
      expect(event.summary).toContain(`as of ${worst.measured_at?.slice(11, 19)} UTC`);
    }
    for (const { event } of measured) {
      const { peak, rate, ratio } = event;
      const isDrop = rate?.unit === 'requests per second';
      const [worst, now] = isDrop
        ? [-(peak?.rate ?? 0), -rate.observed]
        : [peak?.rate ?? peak?.ratio ?? 0, rate?.observed ?? ratio];
      expect([event.summary, worst >= now]).toEqual([event.summary, true]);
    }
  });
}

function describeRestartsOf({ scenario }: (typeof scenarios)[number]): void {
  const run = useRun(scenario);

  it.each(scenario.restarts)('emits the same when restarted before window %i', (at) => {
    const { emitted, options, windows } = run();
    const history = scenario.restart_history;
    const again = restartScenario(windows, options, emitted, { at, history });
    if (history === undefined) {
      expect(again).toEqual(emitted);
      return;
    }
    // One that knows less of the past may end it some windows sooner or later: all but the ends are the same.
    const withoutEnds = (events: readonly EmittedEvent[]) =>
      events.filter(({ event }) => event.state !== 'resolved');
    expect(withoutEnds(again)).toEqual(withoutEnds(emitted));
    expect(again.map(({ event }) => event.id)).toEqual(emitted.map(({ event }) => event.id));
    scenario.expect.forEach((expected, i) => {
      expectEvent(scenario, again[i] as EmittedEvent, expected);
    });
  });
}

function expectEvent(
  scenario: Scenario,
  { window, event }: EmittedEvent,
  expected: Scenario['expect'][number],
): void {
  const [first, last] = expected.windows;
  expect(window, event.summary).toBeGreaterThanOrEqual(first);
  expect(window, event.summary).toBeLessThanOrEqual(last);
  if (expected.started !== undefined) {
    const startMs = Date.parse(event.started_at) - scenarioStartMs;
    const started = startMs / detectOptions(scenario.detect).window;
    expect([event.summary, started >= expected.started[0], started <= expected.started[1]]).toEqual(
      [event.summary, true, true],
    );
  }
  expect(event).toMatchObject({
    state: expected.state,
    ...scenarioSeries(scenario, expected.series),
  });
  const { kind, stage, severity, bottleneck, resolution } = expected;
  for (const [field, value] of Object.entries({ kind, stage, severity, bottleneck, resolution })) {
    if (value !== undefined) expect(event).toHaveProperty(field, value);
  }
  if (expected.measured !== undefined) {
    expect(event.evidence.measured_stage).toBe(expected.measured);
  }
  if (expected.min_share !== undefined) {
    expect(event.blame[0]?.share).toBeGreaterThanOrEqual(expected.min_share);
  }
  const { scope } = event;
  expect(scope && [scope.affected, scope.total], event.summary).toEqual(expected.hit);
  if (expected.common !== undefined) {
    const common = scope?.common.map(({ dimension, value }) => [dimension, value]);
    expect(Object.fromEntries(common ?? [])).toEqual(expected.common);
  }
}

const isOfModel = ({ kind }: AnomalyEvent) => ['throughput_drop', 'no_data'].includes(kind);
