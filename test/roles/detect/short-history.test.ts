// Covers src/roles/detect/completeness/ledger-completeness.ts.

import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { createMetrics } from '../../../src/base/telemetry/metrics.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { AnomalyEvent } from '../../../src/contract/anomaly-event.ts';
import { WindowEvaluator } from '../../../src/roles/detect/window-evaluator.ts';
import { scenarioSchema } from '../../scenarios/scenario-schema.ts';
import { scenarioStartMs, scenarioWindows } from '../../scenarios/scenario-windows.ts';
import { FakeTables } from './fake-tables.ts';
import { keptOutbox } from './kept-outbox.ts';

const windowMs = 10_000;
const minute = 6;
/** Two hours of history, and twenty minutes that are evaluated. Fourteen minutes make the history a baseline. */
const past = 120 * minute;
const end = past + 20 * minute;
/** Of so many stages a window the newest 46 minutes are read. */
const large = 10_869;
const historyFrom = new Date(scenarioStartMs + (past - 46 * minute) * windowMs).toISOString();
const sentence = `known since ${historyFrom.slice(0, 10)} ${historyFrom.slice(11, 16)} UTC only: the history before was not read`;

const config = configSchema.parse({ windows: { grace: '2s' } });

/** Normal traffic, and a fault from a window on. */
function trafficOf(fault: object, faultFrom = past + 8) {
  const forward = { median_ms: 50, sigma: 0.3 };
  return scenarioWindows(
    scenarioSchema.parse({
      title: '',
      seed: 12,
      windows: end,
      series: [{ model: 'a', requests: 300, stages: { forward } }],
      faults: [{ stage: 'forward', ...fault, windows: [faultFrom, end] }],
      expect: [],
    }),
    windowMs,
  ).flat();
}

/** A process that takes over without a snapshot. */
function memberOn(tables: FakeTables) {
  const emitted: AnomalyEvent[] = [];
  const metrics = createMetrics();
  const evaluator = new WindowEvaluator({
    config,
    groupId: 'g',
    client: tables.client,
    outbox: keptOutbox(tables, (event) => {
      emitted.push(event);
    }),
    log: createLog({ level: 'silent' }),
    metrics,
    nowMs: () => tables.watermarkMs + 1_000,
  });
  const evaluate = async (to: number) => {
    tables.watermarkMs = scenarioStartMs + to * windowMs + 2_000;
    await evaluator.step();
  };
  return { emitted, evaluator, evaluate, metrics };
}

function tablesOf(windows: ReturnType<typeof trafficOf>, windowSize: number): FakeTables {
  const tables = new FakeTables(windows);
  tables.windowSize = windowSize;
  tables.watermarkMs = scenarioStartMs + past * windowMs;
  return tables;
}

const outline = ({ kind, severity, summary, evidence }: AnomalyEvent) => {
  return { kind, severity, history: evidence.history_from, says: summary.includes(sentence) };
};

/** What a process emits that takes over without a snapshot. */
async function emittedOf(tables: FakeTables, to = past + 8 + 2 * minute) {
  const { emitted, evaluator, evaluate } = memberOn(tables);
  await evaluator.start();
  await evaluate(to);
  return emitted.map(outline);
}

const known = { history: undefined, says: false };
const short = { history: historyFrom, says: true };
const slower = { factor: 3 };

describe('a detector that was rebuilt from a part of the history', () => {
  it.each([
    ['everything three times as slow', slower, 'tail_shift', 'warning'],
    ['3 % twenty times as slow', { factor: 20, share: 0.03 }, 'tail_shift', 'warning'],
    [
      'an hourly job of 30 %, five times as slow',
      { factor: 5, share: 0.3 },
      'tail_shift',
      'warning',
    ],
    ['a third eight times as slow', { factor: 8, share: 0.33 }, 'tail_shift', 'warning'],
    ['everything ten times as slow', { factor: 10 }, 'tail_shift', 'critical'],
    ['most ten times as slow', { factor: 10, share: 0.7 }, 'tail_shift', 'critical'],
    ['4 % that time out', { share: 0.04, timeout_ms: 60 }, 'error_rate', 'warning'],
    ['a tenth that times out', { share: 0.1, timeout_ms: 60 }, 'error_rate', 'critical'],
    ['everything that times out', { timeout_ms: 60 }, 'error_rate', 'critical'],
  ] as const)('pages %s', async (_, fault, kind, severity) => {
    const windows = trafficOf(fault);
    const ofKind = async (windowSize: number) => {
      const emitted = await emittedOf(tablesOf(windows, windowSize));
      return emitted.filter((event) => event.kind === kind);
    };
    expect((await ofKind(1)).at(-1)).toEqual({ kind, severity: 'critical', ...known });
    const part = await ofKind(large);
    expect(part.at(-1)).toEqual({ kind, severity, ...short });
    expect(part.every(({ says }) => says)).toBe(true);
  });

  it('stays careful with an anomaly that it opened so, as its baseline is frozen', async () => {
    const emitted = await emittedOf(tablesOf(trafficOf(slower), large), end);
    expect(emitted).toEqual([{ kind: 'tail_shift', severity: 'warning', ...short }]);
  });

  it('is as ever once a baseline is known, and says until when it is not', async () => {
    const enough = past + 14 * minute;
    const { emitted, evaluator, evaluate, metrics } = memberOn(
      tablesOf(trafficOf(slower, enough + 1), large),
    );
    const historySeconds = async () => (await metrics.detectorHistorySeconds.get()).values[0];
    await evaluator.start();
    await evaluate(enough);
    const until = new Date(scenarioStartMs + enough * windowMs).toISOString();
    expect(evaluator.notes()).toEqual([
      expect.stringContaining(`until ${until.slice(0, 10)} ${until.slice(11, 16)} UTC`),
    ]);
    expect(await historySeconds()).toMatchObject({ value: Date.parse(historyFrom) / 1000 });
    await evaluate(enough + 1);
    expect(evaluator.notes()).toEqual([]);
    expect(await historySeconds()).toMatchObject({ value: 0 });
    await evaluate(end);
    expect(emitted.map(outline)).toEqual([{ kind: 'tail_shift', severity: 'critical', ...known }]);
  });

  it('has a successor that is as careful, from its snapshot', async () => {
    const tables = tablesOf(trafficOf(slower), large);
    const first = memberOn(tables);
    await first.evaluator.start();
    await first.evaluate(past + 4);
    await first.evaluator.flush();
    expect(tables.snapshots).toHaveLength(1);
    tables.readFromMs.length = 0;
    expect(await emittedOf(tables)).toEqual([
      { kind: 'tail_shift', severity: 'warning', ...short },
    ]);
    expect(Math.min(...tables.readFromMs)).toBe(scenarioStartMs + (past + 4) * windowMs);
  });

  it('is as ever where nothing older is stored, whatever the estimate leaves out', async () => {
    const young = trafficOf(slower).filter(({ windowStartMs }) => {
      return windowStartMs >= scenarioStartMs + (past - 25 * minute) * windowMs;
    });
    expect(await emittedOf(tablesOf(young, large))).toEqual([
      { kind: 'tail_shift', severity: 'critical', ...known },
    ]);
  });
});
