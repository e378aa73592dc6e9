import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { StageTable } from '../../src/contract/stage-table.ts';
import type { SeriesWindow } from '../../src/series/series-window.ts';
import { eventLine, streamLine } from '../golden/event-lines.ts';
import { expectGolden } from '../golden/expect-golden.ts';
import { detectOptions, type EmittedEvent, restartScenario, runScenario } from './run-scenario.ts';
import { type Scenario, scenarioSchema } from './scenario-schema.ts';
import { scenarioSeries, scenarioWindows } from './scenario-windows.ts';

const folder = new URL('.', import.meta.url);
/** Weeks of windows take seconds: they are in scenarios.slow.test.ts. */
const mostQuickWindows = 5_000;

const scenarios = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((file) => {
    const scenario = scenarioSchema.parse(parse(readFileSync(new URL(file, folder), 'utf8')));
    return { file, scenario, isQuick: scenario.windows <= mostQuickWindows };
  });

/** Describes the scenarios that are quick, or the others. */
export function describeScenarios(areQuick: boolean): void {
  describe.each(scenarios.filter(({ isQuick }) => isQuick === areQuick))('$file', describeScenario);
}

function describeScenario({ file, scenario }: (typeof scenarios)[number]): void {
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

  it(scenario.title, () => {
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
    const lines = emitted.map(({ window, event }) => `${window} ${eventLine(event)}`);
    const text = [streamLine(emitted.map(({ event }) => event)), ...lines].join('\n');
    expectGolden(`events/${file.replace('.yaml', '.txt')}`, text);
  });

  it('blames in shares that add up to 1, of which none is above it or of what is no part', () => {
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

  it.each(scenario.restarts)('emits the same when restarted before window %i', (at) => {
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
