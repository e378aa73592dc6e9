// Covers src/roles/detect/pipeline-handover.ts.

import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import {
  type Completeness,
  nothingWrong,
} from '../../../src/roles/detect/completeness/completeness.ts';
import { WindowEvaluator } from '../../../src/roles/detect/window-evaluator.ts';
import { scenarioSchema } from '../../scenarios/scenario-schema.ts';
import { scenarioStartMs, scenarioWindows } from '../../scenarios/scenario-windows.ts';
import { FakeTables } from './fake-tables.ts';
import { keptOutbox } from './kept-outbox.ts';

const windowMs = 10_000;
const config = configSchema.parse({
  detect: { baseline: '10m', resolve_windows: 3 },
  windows: { grace: '2s' },
});
/** A fault from window 80 to 95. */
const windows = scenarioWindows(
  scenarioSchema.parse({
    title: '',
    seed: 5,
    windows: 115,
    series: [{ model: 'a', requests: 300, stages: { forward: { median_ms: 50, sigma: 0.3 } } }],
    faults: [{ series: 0, windows: [80, 95], stage: 'forward', factor: 4, share: 0.5 }],
    expect: [],
  }),
  windowMs,
).flat();

function evaluatorOn(tables: FakeTables, probe?: () => Completeness) {
  const metrics = createMetrics();
  const emitted: AnomalyEvent[] = [];
  const deliver = (event: AnomalyEvent) => {
    emitted.push(event);
  };
  const evaluator = new WindowEvaluator({
    config,
    groupId: 'g',
    client: tables.client,
    outbox: keptOutbox(tables, deliver),
    log: createLog({ level: 'silent' }),
    metrics,
    nowMs: () => tables.clockMs ?? tables.watermarkMs + 1_000,
    ...(probe && { completeness: { probe: async () => probe() } }),
  });
  /** The watermark reaches the end of a window and the grace after it. */
  const stepTo = async (window: number) => {
    tables.watermarkMs = scenarioStartMs + (window + 1) * windowMs + 2_000;
    await evaluator.step();
  };
  return { emitted, evaluator, stepTo, metrics };
}

const outline = (events: readonly AnomalyEvent[]) =>
  events.map(({ id, state }) => `${id} ${state}`);

/** Events of a run without failures. */
async function emittedWithoutFailure(): Promise<AnomalyEvent[]> {
  const tables = new FakeTables(windows);
  const { emitted, evaluator, stepTo } = evaluatorOn(tables);
  await evaluator.start();
  for (let window = 0; window < 115; window++) await stepTo(window);
  await evaluator.flush();
  expect(outline(tables.events)).toEqual(outline(emitted));
  return emitted;
}

describe('WindowEvaluator', () => {
  it('opens an anomaly once and resolves it once, with exemplars', async () => {
    const emitted = await emittedWithoutFailure();
    expect(emitted.map(({ state }) => state)).toEqual(['opened', 'resolved']);
    expect(new Set(emitted.map(({ id }) => id)).size).toBe(1);
    expect(emitted[0]?.exemplars).toEqual(['trace-1']);
  });

  it.each([
    ['all of the past', 1, 120],
    // Three million stages are 80 windows of this size.
    ['its newest part where all of it would take too long', 37_500, 80],
    ['enough for a baseline, whatever that takes', 1_000_000, 60],
  ])('learns %s at a first start', async (_, size, learnt) => {
    const tables = new FakeTables(windows);
    tables.windowSize = size;
    tables.watermarkMs = scenarioStartMs + 115 * windowMs;
    const { evaluator } = evaluatorOn(tables);
    await evaluator.start();
    expect(tables.readFromMs[0]).toBe(tables.watermarkMs - learnt * windowMs);
  });

  it('exports how far it has evaluated, how late, and how long its steps take', async () => {
    const tables = new FakeTables(windows);
    const { evaluator, stepTo, metrics } = evaluatorOn(tables);
    const evaluatedUntil = async () => (await metrics.detectorEvaluatedSeconds.get()).values[0];
    await evaluator.start();
    // A second passes between the watermark and the step.
    await stepTo(3);
    await stepTo(4);
    expect(await evaluatedUntil()).toMatchObject({
      value: (scenarioStartMs + 5 * windowMs) / 1000,
    });
    const valuesOf = async (histogram: typeof metrics.detectorStepSeconds) =>
      (await histogram.get()).values;
    const sums = (await valuesOf(metrics.eventEvaluatedSeconds)).filter(({ metricName }) =>
      /_(sum|count)$/.test(metricName ?? ''),
    );
    // Windows 0 to 4: 33, 23, 13 and 3 s after their ends in the first step, then 3 s.
    expect(sums.map(({ value }) => value)).toEqual([75, 5]);
    const steps = await valuesOf(metrics.detectorStepSeconds);
    expect(steps.find(({ metricName }) => metricName?.endsWith('_count'))?.value).toBe(2);
    evaluator.end();
    expect(await evaluatedUntil()).toMatchObject({ value: 0 });
  });

  it('emits by the clock, once, that live traffic has stopped', async () => {
    const tables = new FakeTables(windows.slice(0, 70));
    tables.baselineRequests = 300 * 60;
    tables.watermarkMs = scenarioStartMs + 2_000;
    const { emitted, evaluator, stepTo } = evaluatorOn(tables);
    await evaluator.start();
    await stepTo(69);
    const endMs = scenarioStartMs + 70 * windowMs;
    // Half a minute for a partition to be idle, ten seconds for storing its records, and the grace.
    for (const [afterMs, events] of [
      [341_000, 0],
      [343_000, 1],
      [400_000, 1],
    ] as const) {
      tables.clockMs = endMs + afterMs;
      await evaluator.step();
      await evaluator.flush();
      expect(emitted.map(({ kind, model }) => `${model} ${kind}`)).toHaveLength(events);
    }
    expect(emitted[0]).toMatchObject({ kind: 'no_data', model: '', severity: 'critical' });
    expect(outline(tables.events)).toEqual(outline(emitted));
  });

  it('emits nothing by the clock at the end of a recording', async () => {
    const tables = new FakeTables(windows.slice(0, 70));
    tables.baselineRequests = 300 * 60;
    tables.flushedMs = scenarioStartMs + 30 * 86_400_000;
    const { emitted, evaluator, stepTo } = evaluatorOn(tables);
    tables.clockMs = tables.flushedMs;
    await evaluator.start();
    await stepTo(69);
    tables.clockMs += 3_600_000;
    await evaluator.step();
    await evaluator.flush();
    expect(emitted).toEqual([]);
  });

  it('emits at once that the store is away, stores the event when it is back, and continues it', async () => {
    const tables = new FakeTables(windows);
    const fine = {
      ...nothingWrong,
      completeMs: scenarioStartMs,
      knownMs: undefined,
      hasAllTraffic: true,
    };
    let now: Completeness = fine;
    const first = evaluatorOn(tables, () => now);
    tables.clockMs = scenarioStartMs + 10_000;
    await first.evaluator.start();
    await first.evaluator.step();
    const error = new Error('connect ECONNREFUSED');
    now = { ...fine, storeOutage: { sinceMs: tables.clockMs, reason: error.message, error } };
    tables.away.add('anomalies');
    for (const [seconds, count] of [
      [59, 0],
      [60, 1],
      [400, 1],
    ] as const) {
      tables.clockMs = scenarioStartMs + 10_000 + seconds * 1_000;
      await expect(first.evaluator.step()).rejects.toBe(error);
      expect(first.emitted).toHaveLength(count);
    }
    expect(first.emitted).toMatchObject([
      { kind: 'pipeline', state: 'opened', severity: 'warning' },
    ]);
    expect(first.evaluator.problems()).toEqual([
      'detect: ClickHouse has not responded for 7 min (connect ECONNREFUSED); no window is evaluated',
    ]);
    expect(tables.events).toEqual([]);
    // Back; records from meanwhile are still to be stored.
    tables.away.clear();
    now = {
      ...fine,
      behind: [{ name: 't/0', behindMs: 400_000, lagMessages: 9, isGivenUp: false }],
    };
    await first.evaluator.step();
    expect(tables.events).toEqual(first.emitted);
    // A successor knows of it, and the detector of models does not.
    const second = evaluatorOn(tables, () => now);
    await second.evaluator.start();
    now = fine;
    await second.evaluator.step();
    expect(second.emitted).toMatchObject([
      { id: first.emitted[0]?.id, state: 'resolved', revision: 2, resolution: 'recovered' },
    ]);
    expect(tables.events).toEqual([...first.emitted, ...second.emitted]);
  });

  it('concludes nothing from the amount of traffic while part of it is missing', async () => {
    // The model stops for good at window 70, since all of it is in a partition that is not stored.
    const tables = new FakeTables(windows.slice(0, 70));
    tables.baselineRequests = 300 * 60;
    for (const hasAllTraffic of [false, true]) {
      let atMs = scenarioStartMs;
      const state = () => ({
        ...nothingWrong,
        completeMs: atMs,
        knownMs: undefined,
        hasAllTraffic,
      });
      const { emitted, evaluator } = evaluatorOn(tables, state);
      tables.evaluatedUntilMs = undefined;
      await evaluator.start();
      for (const end of [70, 120]) {
        atMs = scenarioStartMs + end * windowMs + 2_000;
        tables.clockMs = atMs;
        await evaluator.step();
      }
      await evaluator.flush();
      expect(emitted.map(({ kind }) => kind)).toEqual(hasAllTraffic ? ['no_data'] : []);
    }
  });

  it('names the requests behind it, and traffic mix for larger ones, in every event', async () => {
    const tables = new FakeTables(windows);
    const facet = 'batch_size';
    tables.facets = [
      { facet, value: '1', now_bands: { 0: 900 }, baseline_bands: { 0: 880 } },
      { facet, value: '2-3', now_bands: { 0: 810, 10: 90 }, baseline_bands: { 0: 108, 10: 12 } },
    ];
    const { emitted, evaluator, stepTo } = evaluatorOn(tables);
    await evaluator.start();
    await stepTo(114);
    await evaluator.flush();
    expect(emitted.map(({ state }) => state)).toEqual(['opened', 'resolved']);
    for (const event of emitted) {
      expect(event).toMatchObject({ bottleneck: 'traffic_mix', mix_share: 1 });
      expect(event.drivers).toMatchObject([
        { facet, value: '2-3', share_of_slow: 1, share_of_all: 0.5 },
      ]);
    }
    expect(emitted[0]?.summary).toContain(
      'more large requests (batch_size 2 to 3: 100 % of slow requests, 50 % of all) explain 100 % of the rise',
    );
    expect(tables.events).toEqual(emitted);
  });

  it('emits all else when it cannot read which requests are behind it', async () => {
    const tables = new FakeTables(windows);
    tables.facets = undefined;
    const { emitted, evaluator, stepTo } = evaluatorOn(tables);
    await evaluator.start();
    await stepTo(114);
    await evaluator.flush();
    expect(outline(emitted)).toEqual(outline(await emittedWithoutFailure()));
    expect(emitted[0]?.drivers).toBeUndefined();
  });

  it('emits one page of several series, and stores each of them in the table', async () => {
    const stages = { forward: { median_ms: 50, sigma: 0.3 } };
    const regions = ['eu', 'us', 'ap'];
    const many = scenarioSchema.parse({
      ...{ title: '', seed: 6, windows: 115, expect: [] },
      series: regions.map((region) => ({ model: 'a', region, requests: 300, stages })),
      faults: [{ series: [0, 1], windows: [80, 95], stage: 'forward', factor: 4, share: 0.5 }],
    });
    const tables = new FakeTables(scenarioWindows(many, windowMs).flat());
    const { emitted, evaluator, stepTo } = evaluatorOn(tables);
    await evaluator.start();
    await stepTo(114);
    await evaluator.flush();
    expect(emitted.map(({ state }) => state)).toEqual(['opened', 'resolved']);
    expect(emitted[1]?.scope).toMatchObject({ affected: 2, unresolved: 0, total: 3 });
    const rows = tables.events.filter(({ incident_id }) => incident_id === emitted[0]?.id);
    expect(rows.map(({ state, region }) => `${state} ${region}`).sort()).toEqual([
      ...['opened eu', 'opened us', 'resolved eu', 'resolved us'],
    ]);
    expect(tables.events).toHaveLength(emitted.length + rows.length);
  });

  it('evaluates a window only when the watermark has passed it and the grace', async () => {
    const tables = new FakeTables(windows);
    const { evaluator } = evaluatorOn(tables);
    await evaluator.start();
    tables.watermarkMs = scenarioStartMs + windowMs + 1_999;
    await evaluator.step();
    expect(tables.evaluatedUntilMs).toBeUndefined();
    tables.watermarkMs += 1;
    await evaluator.step();
    expect(tables.evaluatedUntilMs).toBe(scenarioStartMs + windowMs);
  });

  it('emits the same in one large step as in many', async () => {
    const { emitted, evaluator, stepTo } = evaluatorOn(new FakeTables(windows));
    await evaluator.start();
    await stepTo(114);
    await evaluator.flush();
    expect(outline(emitted)).toEqual(outline(await emittedWithoutFailure()));
  });

  it('emits an event that could not be stored at a later step, once', async () => {
    const tables = new FakeTables(windows);
    const { emitted, evaluator, stepTo } = evaluatorOn(tables);
    await evaluator.start();
    let failed = 0;
    for (let window = 0; window < 115; window++) {
      // The table is away from the fault on, for a few steps.
      if (window === 80) tables.away.add('anomalies');
      if (window === 90) tables.away.clear();
      await stepTo(window).catch(() => {
        failed++;
      });
      if (window === 89) {
        await evaluator.flush();
        expect(tables.evaluatedUntilMs).toBeLessThan(scenarioStartMs + 90 * windowMs);
      }
    }
    await evaluator.flush();
    expect(failed).toBeGreaterThan(1);
    const expected = outline(await emittedWithoutFailure());
    expect(outline(emitted)).toEqual(expected);
    expect(outline(tables.events)).toEqual(expected);
    expect(tables.evaluatedUntilMs).toBe(scenarioStartMs + 115 * windowMs);
  });

  it('after a restart continues at the last evaluated window, and emits nothing twice', async () => {
    const tables = new FakeTables(windows);
    const first = evaluatorOn(tables);
    await first.evaluator.start();
    for (let window = 0; window < 60; window++) await first.stepTo(window);
    await first.evaluator.flush();
    const second = evaluatorOn(tables);
    await second.evaluator.start();
    for (let window = 60; window < 115; window++) await second.stepTo(window);
    await second.evaluator.flush();
    expect(outline([...first.emitted, ...second.emitted])).toEqual(
      outline(await emittedWithoutFailure()),
    );
  });
});
